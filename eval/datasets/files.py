"""Data files: where they are, what they contain, and which published files are known."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from pydantic import ValidationError

from eval.datasets.checks import Location, adapter, check_distinct, parse, problem_in
from eval.datasets.types import Dataset, SourceFile, source_file
from memsys.core.errors import InputError
from memsys.core.files import MOST, decode, is_there, read_bytes, shown, unpack
from memsys.core.json_text import parse_json
from memsys.core.places import HOME, SHIPPED
from memsys.core.yaml_text import load_yaml

DATA = HOME / "data"  # of the user
SHIPPED_DATA = SHIPPED / "data"
SOURCES = SHIPPED_DATA / "sources.yaml"
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_MEMORIES = "openai_memories"  # of LoCoMo's conversations
T = TypeVar("T")


class NotHereError(InputError):
    """A published file that is not on this machine."""


@dataclass(frozen=True, slots=True)
class Pin:
    """Size in bytes and sha256 in hex of a published file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A published file: name, address, size in bytes, sha256 in hex, licence, project page; or a
    folder of such files, whose address is followed by their names.

    Size and sha256 are None if the project has never verified the file; a download is then not
    checked. `parts`: of a folder, its files by name.
    """

    file: str
    url: str
    bytes: int | None
    sha256: str | None
    licence: str
    home: str
    parts: Mapping[str, Pin] = field(default_factory=dict)

    def files(self) -> list[PublicFile]:
        """Return the files of a folder, or the file itself."""
        url = self.url.rstrip("/")
        return [
            replace(self, file=f"{self.file}/{name}", url=f"{url}/{name}", **asdict(pin), parts={})
            for name, pin in self.parts.items()
        ] or [self]


def load_sources(path: Path = SOURCES) -> dict[str, PublicFile]:
    """Return the published files of data/sources.yaml by name, in file order.

    Raises InputError if the file cannot be read or a field is missing or wrong.
    """
    return validate(dict[str, PublicFile], load_yaml(path), str(path), "correct it")


def shared_folder() -> Path:
    """Return the folder of data outside the project: $MEMSYS_SHARED, by default ../shared.

    A relative path starts at the clone, or at the working folder where memsys is a wheel.
    """
    return HOME / os.environ.get("MEMSYS_SHARED", "../shared")


def public_file(name: str, title: str, *samples: str, setting: str = "dataset.path") -> str:
    """Return the path of the published file or folder `name`: in the user's data/, or in `name`/ of
    the shared folder. A folder has all its files.

    `samples`: names of files in the shared folder to use instead. `title`: the data set's name in
    the NotHereError if nothing is there, and `setting` what may name another place.
    """
    source, shared = load_sources()[name], shared_folder() / name
    file = source.file
    if source.parts:
        for folder in (DATA / file, shared):
            if all((folder / part).is_file() for part in source.parts):
                return str(folder)
    for path in (DATA / file, shared / file, *(shared / sample for sample in samples)):
        if path.is_file():
            return str(path)
    raise NotHereError(
        f"{title} is not here: run `python -m eval fetch {name}`, put the file at data/{file}, "
        f"or set {setting}=..."
    )


def find_file(name: str | Path) -> Path | None:
    """Return the path of `name`, relative to the working folder, else to the shipped files; None
    if it is in neither.

    Raises InputError if it cannot be a path, such as one that is too long.
    """
    given = Path(str(name))  # a name of digits arrives as a number
    with suppress(RuntimeError):  # ~ of an unknown user
        given = given.expanduser()
    return next((path for path in (Path.cwd() / given, SHIPPED / given) if is_there(path)), None)


Kind = Literal["folder", "file", "file or folder"]


def find_path(name: str, remedy: str, setting: str = "", *, kind: Kind = "folder") -> Path:
    """Return the path of `name`, which is of this `kind`, as find_file does; InputError with
    `remedy` if there is none, after the `setting` that named it.
    """
    path = find_file(name)
    is_kind = {"folder": Path.is_dir, "file": Path.is_file, "file or folder": Path.exists}[kind]
    if path is None or not is_kind(path):
        place = f"{setting}: " if setting else ""
        raise InputError(f"{place}{shown(name)}: no such {kind}; {remedy}")
    return path


def check_there(path: Path, remedy: str) -> None:
    """Raise InputError with `remedy` if nothing is at `path`."""
    if not is_there(path):
        raise InputError(f"{shown(path)}: no such file or folder; {remedy}")


def json_files(path: str, setting: str = "dataset.path") -> list[Path]:
    """Return the file at `path`, or a folder's *.json files in name order, without hidden ones.

    A relative path is looked up in the working folder, then in the shipped files. Raises
    InputError, which names the `setting`, if nothing is there or a folder contains no *.json.
    """
    source = find_path(path, f"correct {setting}", kind="file or folder")
    if not source.is_dir():
        return [source]
    files = sorted(p for p in source.glob("[!.]*.json") if p.is_file())  # macOS adds ._a.json
    if not files:
        raise InputError(f"{path}: no *.json in this folder; put one there or correct {setting}")
    return files


def read_rows(
    paths: Iterable[Path], what: str
) -> tuple[list[tuple[SourceFile, int, Any]], list[SourceFile]]:
    """Return the elements of the lists in the JSON files at `paths`, each with its file and its
    index there, and the files. Anything else stands for a list of itself.

    Raises InputError, which says `what` they are, if a list is empty.
    """
    rows: list[tuple[SourceFile, int, Any]] = []
    files: list[SourceFile] = []
    for path in paths:
        value, source = read_json(path)
        if value == []:
            raise InputError(f"{path.name}: must be a list of {what}")
        listed = value if isinstance(value, list) else [value]
        rows += [(source, index, row) for index, row in enumerate(listed)]
        files.append(source)
    return rows, files


def read_named(
    paths: Iterable[Path], what: str, id_: str, kind: Any, *, published: str | None = None
) -> tuple[dict[str, tuple[Location, dict[str, Any]]], list[SourceFile]]:
    """Return the objects that read_rows reads, with their places, by their field `id_`, a text of
    the type `kind`; and the files. Those of the file with the sha256 `published` are read leniently
    (see Location).

    Raises InputError as read_rows does, and if an id is missing or used twice, up to case and
    blanks.
    """
    objects: dict[str, tuple[Location, dict[str, Any]]] = {}
    names: dict[str, Location] = {}
    rows, files = read_rows(paths, what)
    for file, index, raw in rows:
        place = Location(file.name, f"#{index + 1}")
        fields = parse(dict[str, Any], raw, place)
        name = parse(kind, fields.get(id_), place, id_)
        where = Location(file.name, name, lenient=file.sha256 == published)
        check_distinct(names, where, id_)
        objects[name] = where, fields
    return objects, files


def read_json(path: Path) -> tuple[Any, SourceFile]:
    """Return the value of a JSON file and the file's name, size and sha256.

    Raises InputError if the file cannot be read, is not UTF-8 JSON, or repeats a key in an object.
    """
    text, source = read_text(path)
    return json_value(text, path.name), source


def json_value(text: str, where: object, *, nan: bool = False, remedy: str = "correct it") -> Any:
    """Return the JSON value of `text`; InputError, with `where`, if it is no JSON.

    `nan`: accept NaN, which pandas writes for an empty cell.
    """
    try:
        return parse_json(text, unique=True, nan=nan)
    except ValueError as error:
        problem = str(error)
        if isinstance(error, json.JSONDecodeError):
            line = f"line {error.lineno}, " if "\n" in text else ""
            problem = f"not JSON ({line}column {error.colno}: {error.msg})"
        raise InputError(f"{where}: {problem}; {remedy}") from None


def json_lines(text: str, name: str, *, nan: bool = False) -> Iterator[tuple[Location, Any]]:
    """Yield place and JSON value of each line of `text` that is not blank; InputError, with the
    file's `name`, for a line that is not JSON. `nan`: as of json_value.
    """
    for number, match in enumerate(_LINE.finditer(text), 1):  # splitlines would split inside texts
        if match[0].strip():
            where = Location(name, str(number), unit="line")
            yield where, json_value(match[0].removesuffix("\n"), where.at(""), nan=nan)


def read_text(path: Path, most: int = MOST) -> tuple[str, SourceFile]:
    """Return the text of a UTF-8 file, gzipped or not, and the file's name, size and sha256.

    Raises InputError if it cannot be read or has more than `most` bytes, unpacked.
    """
    data = read_bytes(path, most)
    content = decode(unpack(data, path, most), path)
    return content, source_file(path.name, data)


def validate(schema: type[T], value: Any, where: str, remedy: str) -> T:
    """Return `value`, plain JSON, as an instance of the dataclass `schema`.

    Raises InputError that starts with `where`, names the first wrong field, and ends with `remedy`.
    """
    try:
        return cast(T, adapter(cast(Any, schema)).validate_python(value))
    except ValidationError as error:
        place, problem = problem_in(error)
        place = place.lstrip(".") or "the whole"
        raise InputError(f"{where}: {place}: {problem}; {remedy}") from error


def read_memories(path: str | None, dataset: Dataset) -> tuple[dict[str, str], list[SourceFile]]:
    """Return the text of each conversation's file in the folder `path`, and the files.

    A file is ID.txt, by the conversation's id, or, of LoCoMo, N.txt, by its place in the data set's
    files from 0. None: OpenAI's memories of LoCoMo (`memsys fetch openai_memories`), which the Mem0
    paper compares with. Raises InputError if a file is missing or cannot be read, or if those
    memories are not of this data set.
    """
    if path is None:
        hashes = {file.sha256 for file in dataset.files}
        if load_sources()["locomo"].sha256 not in hashes:
            raise InputError(
                f"strategy.path: null stands for memories of LoCoMo, and dataset={dataset.name} is "
                "another; name a folder of memories of its conversations"
            )
        path = public_file(_MEMORIES, "strategy=given: OpenAI's memories", setting="strategy.path")
    folder = find_path(path, "correct it", "strategy.path")
    texts, files = {}, []
    for conversation in dataset.conversations:
        names = [f"{conversation.id}.txt"]
        if conversation.id in dataset.order:  # known of LoCoMo, but for a pooled store
            names.append(f"{dataset.order.index(conversation.id)}.txt")
        file_path = next((folder / name for name in names if (folder / name).is_file()), None)
        if file_path is None:
            raise InputError(
                f"strategy.path: {folder}: no memories of {conversation.id}: put "
                f"{' or '.join(names)} there"
            )
        text, file = read_text(file_path)
        if not text.strip():
            raise InputError(f"{file_path}: is empty; write a memory a paragraph")
        texts[conversation.id] = text
        files.append(file)
    return texts, files
