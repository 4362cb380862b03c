"""The wheel: what it contains, and its commands in a folder without a clone."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.eval.conftest import cache

__all__ = ["cache"]  # a fixture
ROOT = Path(__file__).parents[1]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "conf", "data", "results")
FETCHED = "answer_key_errors.json"  # a name that the user's copy of a data set has
LEAST = (77, 0)  # of setuptools: pyproject.toml requires it

try:
    _FOUND = tuple(int(part) for part in version("setuptools").split(".")[:2])
except PackageNotFoundError:
    _FOUND = (0,)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_FOUND < LEAST, reason="pip install 'setuptools>=77'"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of this project; of git's files only the package's are taken."""
    place = tmp_path_factory.mktemp("wheel")
    leave = shutil.ignore_patterns("__pycache__", "runs")
    for name in (*SOURCES, "memsys", "baselines", "eval"):
        source, target = ROOT / name, place / "copy" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=leave)
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)
    (place / "copy" / "data" / FETCHED).write_text("[]")
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--quiet"]
    command += ["--wheel-dir", str(place), str(place / "copy")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (found,) = place.glob("memsys-*.whl")
    return found


def test_it_contains_the_files_that_commands_read_and_no_fetched_data(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("conf", "data/sample", "data/overlays", "data/evidence", "results/expected"):
        here = {path for path in (ROOT / folder).rglob("*.*") if "py" not in path.suffix}
        shipped = {f"memsys/shipped/{path.relative_to(ROOT).as_posix()}" for path in here}
        assert shipped
        assert shipped <= names, folder
    assert "memsys/shipped/data/sources.yaml" in names
    assert any(name.startswith("memsys/shipped/results/tables/") for name in names)
    assert not any(FETCHED in name or "locomo10" in name for name in names)
    tops = {name.partition("/")[0].partition("-")[0] for name in names}
    assert tops == {"memsys", "eval", "baselines"}


def test_its_commands_run_without_a_clone_beside_files_of_the_same_names(wheel, cache, tmp_path):
    site, program = tmp_path / "site", tmp_path / "memsys"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    (entries,) = site.glob("memsys-*.dist-info/entry_points.txt")
    module, name = re.search(r"^memsys = (.+):(.+)$", entries.read_text(), re.MULTILINE).groups()
    program.write_text(f"import sys\nfrom {module} import {name}\nsys.exit({name}())\n")
    ended = subprocess.run(
        [sys.executable, ROOT / ".ci" / "try-wheel", sys.executable, program],
        env=os.environ | {"PYTHONPATH": str(site), "MEMSYS_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "complete without a clone" in ended.stdout, ended.stdout
