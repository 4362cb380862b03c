"""The runs that are shipped: folders whose JSON lines are gzipped."""

from __future__ import annotations

import shutil
from pathlib import Path

from eval.records.manifest import load_manifest
from memsys.core.errors import InputError
from memsys.core.files import shown, unpacked_chunks
from memsys.core.places import MANIFEST, SHIPPED

DEMO = SHIPPED / "results" / "demo"
_GZIPPED = ".gz"


def shipped_runs() -> list[Path]:
    """Return the folders of the shipped runs, the one begun first first; InputError if there are
    none.
    """
    found = [path.parent for path in DEMO.glob(f"*/{MANIFEST}")]
    if not found:
        raise InputError(f"{shown(DEMO)}: holds no runs; install memsys again")
    return sorted(found, key=lambda folder: load_manifest(folder)["started"])


def unpack_runs(folders: list[Path], into: Path) -> list[Path]:
    """Copy run folders into a folder, with unpacked files, and return their new places."""
    made = []
    for folder in folders:
        made.append(into / folder.name)
        made[-1].mkdir()
        for path in folder.iterdir():
            target = made[-1] / path.name.removesuffix(_GZIPPED)
            if path.suffix != _GZIPPED:
                shutil.copyfile(path, target)
                continue
            with target.open("wb") as file:
                file.writelines(unpacked_chunks(path))
    return made
