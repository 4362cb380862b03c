"""The version, what a RUN stands for, and where the user's data are stored."""

import os
import sys
from importlib import metadata
from pathlib import Path

import pytest

import memsys
from memsys.core import errors
from memsys.core.errors import InputError, as_started, complain
from memsys.core.places import RUNS, cache_folder, find_run


def test_it_is_that_of_the_installed_package_if_there_is_one(monkeypatch):
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", lambda name: f"1.2 of {name}")
    assert memsys.__version__ == "1.2 of memsys"
    monkeypatch.setattr(metadata, "version", missing)
    assert memsys.__version__ == "0+unknown"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs, of which the second was changed last, and an empty folder."""
    monkeypatch.chdir(tmp_path)
    for second, name in ((10, "2026-01-01_bm25"), (30, "2026-01-02_bm25"), (20, "2026-01-03_mem0")):
        (RUNS / name).mkdir(parents=True)
        (RUNS / name / "manifest.json").touch()
        os.utime(RUNS / name / "manifest.json", (second, second))
        (RUNS / name / "records.jsonl").write_text("{}")
    (RUNS / "2026-01-04_empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("results/runs/2026-01-01_bm25", "2026-01-01_bm25"),
        ("2026-01-01_bm25", "2026-01-01_bm25"),
        ("2026-01-03", "2026-01-03_mem0"),
        ("mem0", "2026-01-03_mem0"),
        ("last", "2026-01-02_bm25"),
    ],
)
def test_a_run_is_named_by_folder_id_part_or_last(name, expected, capsys):
    assert find_run(name) == RUNS / expected
    guessed = name in {"2026-01-03", "mem0", "last"}
    assert capsys.readouterr().err == (f"{name}: {RUNS / expected}\n" if guessed else "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm25", r"2 runs have this in their id \(2026-01-01_bm25, 2026-01-02_bm25\)"),
        ("nowhere", "nowhere: no such run; name a run folder, or an id under results/runs"),
        *((name, "no such run") for name in ("", " ", "empty", "a\0b")),
        ("x" * 5000, "no usable name of a run"),
    ],
)
def test_other_names_are_refused(name, message):
    with pytest.raises(InputError, match=message):
        find_run(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run `python -m eval fetch locomo`", "run `memsys fetch locomo`"),
        ("python -m eval cache import A", "memsys cache import A"),
        ("python -m eval serve, or", "memsys serve, or"),
        ("usage: python -m eval.run ... -m eval.NAME", "usage: memsys run ... -m eval.NAME"),
        ("`memsys COMMAND` or `python -m eval COMMAND`",) * 2,
    ],
)
@pytest.mark.parametrize("start", [["/bin/memsys", "run"], ["python", "/bin/memsys"], ["python"]])
def test_commands_are_shown_as_the_user_started_one(text, shown, start, monkeypatch, capsys):
    monkeypatch.setattr(sys, "orig_argv", start)
    assert as_started(text) == (text if start == ["python"] else shown)
    complain(text)
    assert capsys.readouterr().err == f"error: {as_started(text)}\n"


@pytest.mark.parametrize("wheel", [True, False])
def test_extras_are_installed_as_the_package_was(wheel, tmp_path, monkeypatch):
    monkeypatch.setattr(errors, "_SHIPPED", tmp_path / ("" if wheel else "absent"))
    shown = "pip install 'memsys[mcp]'" if wheel else "pip install -e '.[mcp]'"
    for text in ("pip install 'memsys[mcp]'", "pip install -e '.[mcp]'"):
        assert as_started(f"not installed; {text}.") == f"not installed; {shown}."
    pinned = as_started("pip install -e '.[joblib]' -c requirements.lock")
    assert ("requirements.lock" in pinned) is not wheel


@pytest.mark.parametrize("content", [None, ""])
def test_last_has_records_unless_it_is_to_be_resumed(content, runs, monkeypatch):
    records = RUNS / "2026-01-02_bm25" / "records.jsonl"
    records.unlink() if content is None else records.write_text(content)
    assert find_run("last") == RUNS / "2026-01-03_mem0"
    assert find_run("last", empty=True) == RUNS / "2026-01-02_bm25"
    (runs / "last").mkdir()
    assert find_run("last") == Path("last")  # a folder
    monkeypatch.chdir(runs / "last")
    with pytest.raises(InputError, match="last: no such run"):
        find_run("last")


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, "/home/ada/.local/share/memsys"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/memsys"),
        ("linux", {"XDG_DATA_HOME": "data"}, "/home/ada/.local/share/memsys"),
        ("linux", {"MEMSYS_CACHE": "/fast"}, "/fast"),
        ("linux", {"MEMSYS_CACHE": ""}, "/home/ada/.local/share/memsys"),
        ("darwin", {}, "/home/ada/Library/Application Support/memsys"),
        ("win32", {}, "/home/ada/AppData/Local/memsys"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/memsys"),
    ],
)
def test_answers_are_stored_by_the_conventions_of_the_platform(
    monkeypatch, platform, variables, folder
):
    for name in ("MEMSYS_CACHE", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ada", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder() == Path(folder)
