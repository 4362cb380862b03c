"""Run folders that somebody else made: nothing is read or written through a link or a pipe."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.analyse.compare import __main__ as compare
from eval.analyse.cost import __main__ as cost
from eval.analyse.diagnose import __main__ as diagnose
from eval.analyse.retrieval import __main__ as retrieval
from eval.cards.card import __main__ as card
from eval.exchange.export import __main__ as export
from eval.exchange.track.finished import read
from eval.imports.rescore import __main__ as rescore
from eval.pages.browse import __main__ as browse
from eval.pages.report import __main__ as report
from eval.records.files import LineWriter, replacing, write_text
from eval.records.folder import begin, locked
from eval.records.manifest import load_manifest
from eval.run.failures import log
from memsys.core.errors import InputError
from tests.eval.exchange.export import ranked

MINE = "all my settings\n"
READERS = {
    "report": report.main,
    "cost": cost.main,
    "diagnose": diagnose.main,
    "rescore": rescore.main,
    "retrieval": retrieval.main,
    "card": card.main,
    "export": lambda one: export.main([*one, "--to", "csv"]),
    "browse": lambda one: browse.main([*one, "--out", f"{one[0]}-pages"]),
    "compare": lambda one: compare.main([*one, f"{one[0]}-sound"]),
}
UNRANKED = {"cost", "diagnose", "export", "compare"}
FILES = ("manifest.json", "records.jsonl", "rankings.jsonl", "memories.jsonl")
READ = [(one, name) for one in READERS for name in (FILES[:2] if one in UNRANKED else FILES)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ranked.write(tmp_path_factory.mktemp("sound") / "run", ranked.SAMPLE)


@pytest.fixture
def run(tmp_path: Path, sound: Path) -> Path:
    shutil.copytree(sound, tmp_path / "run-sound")
    return shutil.copytree(sound, tmp_path / "run")


def link(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(("command", "name"), READ)
def test_no_command_reads_a_pipe_or_a_link(run, capsys, command, name):
    (run / name).unlink()
    for kind in ("pipe", "link"):
        if kind == "pipe":
            os.mkfifo(run / name)
        else:
            link(run / name, Path("/dev/zero"))
        assert READERS[command]([str(run)]) == 2
        message = capsys.readouterr().err
        assert f"{run / name}: is a {kind}; name" in message
        assert message.count("\n") == 1


WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "report.html": ("report.html", lambda run: report.main([str(run)])),
    "report.md": ("report.md", lambda run: report.main([str(run)])),
    "rescored report.md": ("report.md", lambda run: rescore.main([str(run)])),
    "summary.csv": ("summary.csv", lambda run: rescore.main([str(run)])),
    "card.json": ("card.json", lambda run: card.main([str(run)])),
    "a lock": (".lock", lambda run: rescore.main([str(run)])),
    "an export": ("csv", lambda run: export.main([str(run), "--to", "csv"])),
    "a line": ("calls.jsonl", lambda run: LineWriter(run / "calls.jsonl")),
    "a log": ("log.txt", lambda run: log(run, "text")),
    "an unfinished file": ("report.html.part", lambda run: report.main([str(run)])),
}


@pytest.mark.parametrize(("name", "command"), WRITERS.values(), ids=WRITERS)
def test_nothing_is_written_through_a_link(run, tmp_path, capsys, name, command):
    mine = tmp_path / "mine"
    if name == "csv":
        mine.mkdir()
    else:
        mine.write_text(MINE)
    link(run / name, mine)
    try:
        code = command(run)
    except InputError as error:
        code, message = 2, str(error)
    else:
        message = capsys.readouterr().err
    assert not any(mine.iterdir()) if mine.is_dir() else mine.read_text() == MINE
    if name.endswith(".part"):
        assert code == 0
        assert (run / "report.html").read_bytes().startswith(b"<!doctype")
    else:
        assert code == 2
        assert f"{run / name}: is a link; name" in message


def test_a_run_folder_behind_a_link_is_read_and_a_file_is_replaced_in_one_step(run, tmp_path):
    link(tmp_path / "known", run)
    assert report.main([str(tmp_path / "known")]) == 0
    old = (run / "report.md").open()
    write_text(run / "report.md", MINE)
    assert (run / "report.md").read_text() == MINE
    assert old.read() != MINE
    old.close()
    assert not list(run.glob("*.part"))


def test_no_file_behind_a_link_is_uploaded_or_cut(run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text('{"id": "conv-1/0"}\nsecret')
    rescore.main([str(run)])
    link(run / "report.md", secret)
    with pytest.raises(InputError, match=r"report\.md: is a link"):
        read(run)
    link(run / "records.jsonl", secret)
    with pytest.raises(InputError, match=r"records\.jsonl: is a link"):
        begin(run, load_manifest(run), run.name)
    link(run / ".lock", tmp_path / "new")
    with pytest.raises(InputError, match=r"\.lock: is a link"), locked(run):
        pass
    assert secret.read_text() == '{"id": "conv-1/0"}\nsecret'
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_a_folder_is_not_replaced(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is a folder"), replacing(Path(name)):
        pass
    assert list(tmp_path.iterdir()) == []
