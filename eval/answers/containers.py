"""Files of answers and rankings as JSON, JSON lines or CSV, and the lists of objects in a file or
folder of answers, wherever in it they are.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.answers.places import ELEMENT, KEY, Place, Spot, fields, places
from eval.datasets.files import check_there, json_lines, json_value
from eval.datasets.types import SourceFile, source_file
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS, decode, read_bytes, shown, unpack
from memsys.core.json_text import parse_json

JSON, LINES, CSV = "json", "lines", "csv"
_DELIMITERS = ",;\t"  # spreadsheets of many countries write semicolons
_FIELD_CHARACTERS = 1 << 27  # a context of a whole conversation is longer than csv's own limit
_TABLE_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file of answers. `kind`: "json", "lines" or "csv".

    `source`: name, size and sha256 of the file on disk. `values`: place and value of the JSON
    document, or of each line that is not blank.
    """

    source: SourceFile
    kind: str
    values: list[tuple[str, Any]]


def read_document(path: Path) -> Document:
    """Return the content of the file at `path`, gzipped or not.

    Raises InputError naming the file and the place of an error if it cannot be read or is in no
    known format.
    """
    name = shown(path.name)
    raw = read_bytes(path, ANSWERS)
    source = source_file(path.name, raw)
    data = unpack(raw, Path(path.name), ANSWERS)
    try:
        text = decode(data, Path(path.name))
    except InputError:
        if b"\x00" not in data:
            raise
        raise InputError(f"{name}: unknown format (binary); export it as JSON or CSV") from None
    del raw, data  # else three copies are in memory while the text is parsed
    begin = text.lstrip()
    if not begin:
        raise InputError(f"{name}: is empty")
    if begin[0] == "{" and _is_lines(begin):
        lines = list(json_lines(text, name, nan=True))
        for where, value in lines:
            if not isinstance(value, dict):
                raise where.error("", "must be an object {...} with question and answer")
        return Document(source, LINES, [(f"line {where.sample}", value) for where, value in lines])
    if begin[0] in "{[":
        return Document(source, JSON, [("", json_value(text, name, nan=True))])
    first = re.split("[\r\n]", begin, maxsplit=1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first or "\x00" in first:
        raise InputError(
            f"{name}: unknown format; it must be JSON, JSON lines of one object a "
            "question, or CSV with a header (see docs/importing.md)"
        )
    return Document(source, CSV, list(_table(text, delimiter, name)))


def first_object(text: str) -> dict[str, Any] | None:
    """Return the object that the first line of `text` contains; None if that is no whole object,
    and an empty one if it is beyond a limit, which reading names.
    """
    try:
        value = parse_json(text.partition("\n")[0], nan=True)
    except json.JSONDecodeError:
        return None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else None


def _table(text: str, delimiter: str, name: str) -> Iterator[tuple[str, dict[str, str]]]:
    csv.field_size_limit(_FIELD_CHARACTERS)
    begin = text.lstrip()
    skipped = len(_TABLE_LINE.findall(text[: len(text) - len(begin)]))
    lines = (line[0] for line in _TABLE_LINE.finditer(begin))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = [cell.strip() for cell in next(reader)]
        doubles = sorted({column for column in header if header.count(column) > 1})
        if doubles:
            raise InputError(f"{name}: column {doubles[0]!r} occurs twice; rename or remove one")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            place = f"line {reader.line_num + skipped}"
            if len(cells) != len(header):
                raise InputError(
                    f"{name}: {place}: {len(cells)} fields where the header has {len(header)}; put "
                    "texts with commas or line breaks in double quotes"
                )
            yield place, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        place = f"line {reader.line_num + skipped}"
        raise InputError(f"{name}: {place}: not CSV ({error})") from error


def _is_lines(text: str) -> bool:
    """Return whether the first line is an object, and more follow or it is a row by itself."""
    first = first_object(text)
    if first is None or text.partition("\n")[2].strip():
        return first is not None
    return not _has_rows(first) and any(isinstance(value, str) for value in first.values())


def _has_rows(value: Any) -> bool:
    """Return whether there is a list of objects in `value`."""
    if isinstance(value, dict):
        return any(_has_rows(member) for member in value.values())
    if isinstance(value, list):
        return any(isinstance(element, dict) or _has_rows(element) for element in value)
    return False


_SAMPLE = 2_000
_CUT = 2_000  # characters of a value in a sample
BY_ROWS = "write a list of objects, one a row (pandas: to_json with orient='records')"
_KINDS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a file, unparsed.

    `place`: position in the file. `fields`: also those of enclosing objects, whose names are in
    `inherited`, and as `@key` and `@key2` the keys of enclosing objects of lists and the file's
    stem in a folder, the nearest first.
    """

    place: str
    fields: Mapping[str, Any]
    inherited: frozenset[str]


class RowList:
    """The rows at one place of the file or folder `name`: `path` is where the list is."""

    def __init__(self, place: Place, name: str) -> None:
        self.path = place.path.removesuffix(ELEMENT)
        self._place, self._name = place, name

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._place.objects)

    @cached_property
    def sample(self) -> Sequence[Item]:
        """Up to 2,000 rows spread over the list: long texts cut, long nested values left out."""
        return list(map(_cut, self._spread))

    @cached_property
    def _spread(self) -> Sequence[Item]:
        """The rows of the sample, whole: all rows of most lists."""
        return list(map(_item, self._place.objects[:: -(-self.count // _SAMPLE)]))

    def items(self) -> Iterator[Item]:
        """Yield the rows in file order.

        Raises InputError naming the place of what is no object.
        """
        for spot in self._place.within:
            for number, member in enumerate(spot.value):
                if not isinstance(member, dict):
                    where = f"{self._name}: {spot.element(number)}"
                    raise InputError(f"{where}: must be an object {{...}} with question and answer")
        whole = len(self._spread) == self.count
        yield from self._spread if whole else map(_item, self._place.objects)


@dataclass(frozen=True, slots=True)
class Found:
    """The lists of objects in a file or folder, in file order, and the files that were read.

    `passed_over`: names of the other files in the folder, and of those without a list.
    """

    lists: list[RowList]
    sources: tuple[SourceFile, ...]
    passed_over: tuple[str, ...] = ()


def row_lists(path: Path, wanted: str | None = None) -> Found:
    """Return the lists of objects in the file or folder at `path`, only that at `wanted` if set.

    Raises InputError naming the file and the place in it if it cannot be read, contains no list of
    objects, or none at `wanted`.
    """
    check_there(path, "correct the path")
    in_folder, name = path.is_dir(), shown(path.name)
    paths, passed = _files(path) if in_folder else ([path], [])
    documents = [read_document(file) for file in paths]
    without = [doc.source.name for doc in documents if in_folder and not _places([doc], "")]
    lists = [RowList(place, name) for place in _places(documents, name * in_folder)]
    if not lists:
        raise InputError(f"{name}: contains no answers, that is, no list of objects; {BY_ROWS}")
    if wanted is not None:
        paths_of = ", ".join(repr(rows.path) for rows in lists)
        lists = [rows for rows in lists if _plain(rows.path) == _plain(wanted)]
        if not lists:
            raise InputError(
                f"{name}: no list of objects at {wanted!r:.80}; --rows may be {paths_of}"
            )
    sources = tuple(document.source for document in documents)
    return Found(lists, sources, (*passed, *map(shown, without)))


def _places(documents: Sequence[Document], folder: str) -> list[Place]:
    """Return the places of rows: JSON documents go before JSON lines, and these before CSV.

    `folder`: the folder that contains the documents, or "".
    """
    row_places: list[Place] = []
    for kind in (JSON, LINES, CSV):
        spots = []
        for document in documents:
            name = shown(document.source.name) if folder else ""
            groups = (Path(name.removesuffix(".gz")).stem,) if folder else ()
            for place, value in document.values if document.kind == kind else ():
                spots.append(Spot(value, ": ".join(filter(None, (name, place))), groups))
        root = "" if kind == JSON else kind + ELEMENT
        row_places += places(root, spots, rows=kind != JSON)[0]
    return row_places


def _item(row: Spot) -> Item:
    outside, inner = row.inherited(), fields(row.value)
    keys = {f"{KEY}{n}" if n > 1 else KEY: key for n, key in enumerate(row.groups, 1)}
    return Item(str(row), {**outside, **inner, **keys}, frozenset(outside.keys() - inner.keys()))


def _cut(row: Item) -> Item:
    """Return `row` with long texts cut, and without long nested values."""
    cut = {
        key: value[:_CUT] if isinstance(value, str) else value
        for key, value in row.fields.items()
        if not isinstance(value, dict | list) or len(str(value)) <= _CUT
    }
    return row if cut == row.fields else replace(row, fields=cut)


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of answers in `folder`, 2 before 10, and the names of the others."""
    inside = sorted(
        (path for path in folder.iterdir() if not path.name.startswith(".")),
        key=lambda path: [
            (len(part), part) if part.isdigit() else (0, part)
            for part in re.split("([0-9]+)", path.name)
        ],
    )
    answers = [
        path
        for path in inside
        if path.name.lower().removesuffix(".gz").endswith(_KINDS) and path.is_file()
    ]
    if not answers:
        raise InputError(
            f"{shown(folder)}: no file of answers in this folder ({', '.join(_KINDS)}); "
            "name the file, or the folder that contains it"
        )
    return answers, [path.name for path in inside if path not in answers]


def _plain(path: str) -> str:
    return re.sub(r"\[[0-9*]*\]", "", path).removeprefix("$").strip(".")
