"""Where things are on this machine: shipped files, folders of runs, and the user's stored data."""

import os
import sys
from pathlib import Path

from memsys.core.errors import InputError

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_WHEEL = _PACKAGE / "shipped"  # setup.py copies the files there; a clone has no such folder
SHIPPED = _IN_WHEEL if _IN_WHEEL.is_dir() else _PACKAGE.parent  # folder of conf, data and results
CONF = SHIPPED / "conf"
# Where the user's own data/ is: the clone, or the working folder where memsys is a wheel.
HOME = Path() if SHIPPED == _IN_WHEEL else SHIPPED
RUNS = Path("results/runs")
LAST = "last"
MANIFEST, RECORDS = "manifest.json", "records.jsonl"  # of a run folder
CACHE_VARIABLE = "MEMSYS_CACHE"
_SHOWN = 3  # ids that an ambiguous name lists at most


def in_runs(folder: Path) -> bool:
    """Return whether `folder` is directly under results/runs: its name alone then finds it."""
    return folder.parent.resolve() == RUNS.resolve()


def find_run(name: str | Path, *, empty: bool = False) -> Path:
    """Return the run folder that `name` stands for: a folder, an id under results/runs, a part of
    an id that no other has, or `last`, the run with records (or also without, where `empty`: one to
    resume) that was begun or changed last.

    What a part of an id or `last` stands for is printed on stderr. Raises InputError if there is no
    such run, or several.
    """
    given = str(name)
    try:
        for folder in (Path(name), RUNS / name) if given.strip() else ():
            if folder.is_dir():
                return folder
        ids = sorted(path.name for path in RUNS.iterdir()) if RUNS.is_dir() else []
        runs = [RUNS / id_ for id_ in ids if (RUNS / id_ / MANIFEST).is_file()]
        if given == LAST and runs:
            full = [run for run in runs if (run / RECORDS).is_file()]
            full = [run for run in full if (run / RECORDS).stat().st_size]
            begun = runs if empty or not full else full
            return _report(given, max(begun, key=lambda run: (run / MANIFEST).stat().st_mtime_ns))
    except (OSError, ValueError) as error:  # such as a name that is too long
        raise InputError(f"{given:.80}: no usable name of a run ({error!s:.80})") from error
    matching = [run for run in runs if given.strip() and given in run.name]
    if len(matching) == 1:
        return _report(given, matching[0])
    if matching:
        shown = ", ".join(run.name for run in matching[:_SHOWN])
        more = ", ..." if len(matching) > _SHOWN else ""
        raise InputError(
            f"{given}: {len(matching)} runs have this in their id ({shown}{more}); name more of it"
        )
    raise InputError(
        f"{given}: no such run; name a run folder, or an id under {RUNS} or a part of it, or {LAST}"
    )


def cache_folder() -> Path:
    """Return the default folder of vectors and recorded answers: that of the variable MEMSYS_CACHE,
    else `memsys` in the folder where this system stores data of programs for the user.
    """
    if moved := os.environ.get(CACHE_VARIABLE):
        return Path(moved).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "memsys"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "memsys"
    given = os.environ.get("XDG_DATA_HOME", "")  # only absolute paths are valid
    return (Path(given) if Path(given).is_absolute() else home / ".local" / "share") / "memsys"


def _report(name: str, folder: Path) -> Path:
    sys.stderr.write(f"{name}: {folder}\n")
    return folder
