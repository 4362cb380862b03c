"""Finding conversation files and opening them as samples."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.datasets.layout import Place, as_object, text
from eval.datasets.types import SourceFile
from memsys.errors import InputError

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "data"


@dataclass(frozen=True, slots=True)
class Sample:
    """One conversation with its questions, as plain JSON values."""

    id: str
    place: Place
    raw: dict[str, Any]


def shared_folder() -> Path:
    """Folder of data kept outside the project: $MEMSYS_SHARED, or ../shared beside the project."""
    return PROJECT / os.environ.get("MEMSYS_SHARED", "../shared")


def json_files(path: str) -> list[Path]:
    """The file at `path`, or a folder's *.json files in name order.

    A relative path is looked for in the current folder, then in the project's.
    Raises InputError where nothing is there, or a folder holds no *.json.
    """
    given = Path(str(path)).expanduser()  # a name of digits alone is read as a number
    found = next((p for p in (Path.cwd() / given, PROJECT / given) if p.exists()), None)
    if found is None:
        raise InputError(f"{path}: no such file or folder; correct dataset.path")
    if not found.is_dir():
        return [found]
    files = sorted(p for p in found.glob("*.json") if p.is_file())
    if not files:
        raise InputError(f"{path}: no *.json in this folder; put one there or correct dataset.path")
    return files


def read_samples(path: Path) -> tuple[list[Sample], SourceFile]:
    """Samples of one JSON file: a list of samples, or a single one.

    Raises InputError as read_json does, where the file is of another shape, or a sample has no id.
    """
    value, source = read_json(path)
    if isinstance(value, dict) and "conversation" in value:
        value = [value]
    if not isinstance(value, list) or not value:
        raise InputError(
            f"{path.name}: must be a list of samples, each an object with sample_id, conversation "
            "and qa (see data/README.md)"
        )
    return [_sample(path.name, index, raw) for index, raw in enumerate(value)], source


def read_json(path: Path) -> tuple[Any, SourceFile]:
    """What a JSON file says, and which file it is.

    Raises InputError where the file cannot be read, is not UTF-8 JSON, or says a key twice.
    """
    try:
        data = path.read_bytes()
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique_keys)
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name}: not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path.name}: not JSON ({where}: {error.msg}); correct it") from error
    except _TwiceError as error:
        raise InputError(
            f"{path.name}: key {error} stands twice in one object; rename one"
        ) from None
    return value, SourceFile(path.name, len(data), hashlib.sha256(data).hexdigest())


def _sample(file: str, index: int, raw: Any) -> Sample:
    place = Place(file, f"#{index + 1}")
    item = as_object(raw, place, "sample")
    sample_id = text(item, "sample_id", place, "sample_id")
    return Sample(sample_id, Place(file, sample_id), item)


class _TwiceError(Exception):
    """A key stands twice in one JSON object: the first value would be lost without a word."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _TwiceError(repr(key))
        found[key] = value
    return found
