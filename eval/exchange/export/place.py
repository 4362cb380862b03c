"""Folders of an export: all of its files appear, or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from eval.records.files import writing
from memsys.core.errors import InputError


@contextmanager
def placing(out: Path, optional: Sequence[str] = (), *, force: bool) -> Iterator[Path]:
    """Yield a new folder to write, whose files then move to the folder `out`.

    Raises InputError if `out` cannot be written, or has a file of the same name, or one of the
    patterns `optional`, files that an export may lack. `force`: replace the former and remove the
    latter, since it belongs to an earlier export. Other files in `out` remain.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: is a file; name a folder")
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield made
        _move(made, out, optional, force=force)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _move(made: Path, out: Path, optional: Sequence[str], *, force: bool) -> None:
    names = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
    earlier = {path.relative_to(out) for pattern in optional for path in out.glob(pattern)}
    for name in sorted(earlier.union(names)):
        if (out / name).is_dir():
            raise InputError(f"{out / name}: is a folder; name another folder by --out")
        if (out / name).exists() and not force:
            raise InputError(f"{out / name}: exists; name another folder by --out, or use --force")
    for part in {out, *((out / name).parent for name in names)}:
        if part.is_symlink():  # out of a folder that somebody else may have made
            raise InputError(f"{part}: is a link; name the folder itself by --out")
    with writing(out):
        for name in earlier.difference(names):
            (out / name).unlink()
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
        for name in names:
            (made / name).replace(out / name)
