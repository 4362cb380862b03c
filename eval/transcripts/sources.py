"""The files of an export: JSON or JSON lines, gzipped or not, in a folder or a zip archive."""

import codecs
import json
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.answers.containers import first_object
from eval.datasets.files import check_there, json_value
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS, check_regular, read_bytes, shown, unpack
from memsys.core.json_text import parse_json

_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")


class HalfWrittenError(InputError):
    """The last of JSON lines ends too early, as in a log that a program is writing."""


@contextmanager
def files_at(path: Path) -> Iterator[list[tuple[str, Path]]]:
    """Give names and paths of the JSON files at `path`: a file, the files of a folder and of its
    folders in order of their names, or those of a zip archive, unpacked until the context ends.

    Raises InputError if nothing is there, or an archive is damaged or unpacks to too much.
    """
    check_there(path, "correct the path")
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.name.lower().endswith(_ENDINGS))
        yield [(shown(one.relative_to(path)), one) for one in files if one.is_file()]
        return
    check_regular(path)
    if not zipfile.is_zipfile(path):
        yield [(shown(path.name), path)]
        return
    with TemporaryDirectory(prefix="transcripts-") as folder:
        try:
            yield _unpacked(path, Path(folder))
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
            raise InputError(f"{shown(path)}: damaged or encrypted archive ({error})") from error


def json_values(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """Yield place and value of each object of a JSON file: of each line, of each element of the
    list that the file is, or of the one object.

    Raises InputError naming line and column if the file is not JSON in UTF-8; HalfWrittenError,
    after the values of all other lines, if the last line is not whole.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        text = decoder.decode(unpack(read_bytes(path, ANSWERS), path, ANSWERS))
    except UnicodeDecodeError:
        raise InputError(f"{name}: not UTF-8; save it as UTF-8") from None
    if decoder.getstate()[0]:  # half a character at the end, which a program is writing
        text += "\ufffd"
    begin = text.lstrip()
    if begin.startswith("{") and first_object(begin) is not None:
        yield from _lines(text, name)
    elif begin:
        value = json_value(text, name, nan=True)
        if isinstance(value, list):
            yield from ((f"conversation {number}", one) for number, one in enumerate(value, 1))
        elif isinstance(value, dict):
            yield "conversation 1", value


def _unpacked(path: Path, folder: Path) -> list[tuple[str, Path]]:
    """Return the JSON files of the archive `path`, unpacked in `folder` under names of our own."""
    found: list[tuple[str, Path]] = []
    with zipfile.ZipFile(path) as archive:
        for number, member in enumerate(sorted(archive.infolist(), key=lambda one: one.filename)):
            name = member.filename
            if member.is_dir() or not name.lower().endswith(_ENDINGS):
                continue
            if member.file_size > ANSWERS:
                problem = f"{shown(name)} unpacks to {member.file_size:,} bytes"
                raise InputError(f"{shown(path.name)}: {problem}; at most {ANSWERS:,} are read")
            target = folder / f"{number}{Path(name).suffix}"
            with archive.open(member) as packed, target.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
            found.append((shown(name), target))
    return found


def _lines(text: str, name: str) -> Iterator[tuple[str, Any]]:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield f"line {number}", parse_json(line, nan=True)
            except ValueError as error:
                half = number == len(lines) and isinstance(error, json.JSONDecodeError)
                problem = f"{name}: line {number}: not JSON ({error}); correct or remove it"
                raise (HalfWrittenError if half else InputError)(problem) from None
