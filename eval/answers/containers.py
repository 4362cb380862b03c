"""Lists of objects in a file or folder of answers, wherever in it they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.answers.documents import CSV, JSON, LINES, Document, read_document
from eval.answers.places import ELEMENT, KEY, Place, Spot, fields, places
from eval.datasets.files import check_there
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import shown

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
        """Up to 2,000 rows spread over the list; long texts are cut."""
        rows = map(_item, self._place.objects[:: -(-self.count // _SAMPLE)])
        return [replace(row, fields=_cut(row.fields)) for row in rows]

    def items(self) -> Iterator[Item]:
        """Yield the rows in file order.

        Raises InputError naming the place of what is no object.
        """
        for spot in self._place.within:
            for number, member in enumerate(spot.value):
                if not isinstance(member, dict):
                    raise InputError(
                        f"{self._name}: {spot.element(number)}: must be an object {{...}} with "
                        "question and answer"
                    )
        yield from map(_item, self._place.objects)


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
    documents = [read_document(one) for one in paths]
    without = [one.source.name for one in documents if in_folder and not _places([one], "")]
    lists = [RowList(place, name) for place in _places(documents, name * in_folder)]
    if not lists:
        raise InputError(f"{name}: contains no answers, that is, no list of objects; {BY_ROWS}")
    if wanted is not None:
        paths_of = ", ".join(repr(one.path) for one in lists)
        lists = [one for one in lists if _plain(one.path) == _plain(wanted)]
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
    found: list[Place] = []
    for kind in (JSON, LINES, CSV):
        spots = []
        for document in documents:
            name = shown(document.source.name) if folder else ""
            groups = (Path(name.removesuffix(".gz")).stem,) if folder else ()
            for place, value in document.values if document.kind == kind else ():
                spots.append(Spot(value, ": ".join(filter(None, (name, place))), groups))
        root = "" if kind == JSON else kind + ELEMENT
        found += places(root, spots, rows=kind != JSON)[0]
    return found


def _item(row: Spot) -> Item:
    outside, inner = row.inherited(), fields(row.value)
    keys = {f"{KEY}{n}" if n > 1 else KEY: key for n, key in enumerate(row.groups, 1)}
    return Item(str(row), {**outside, **inner, **keys}, frozenset(outside.keys() - inner.keys()))


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of answers in `folder`, 2 before 10, and the names of the others."""
    inside = sorted(
        (one for one in folder.iterdir() if not one.name.startswith(".")),
        key=lambda one: [
            (len(part), part) if part.isdigit() else (0, part)
            for part in re.split("([0-9]+)", one.name)
        ],
    )
    answers = [
        one
        for one in inside
        if one.name.lower().removesuffix(".gz").endswith(_KINDS) and one.is_file()
    ]
    if not answers:
        raise InputError(
            f"{shown(folder)}: no file of answers in this folder ({', '.join(_KINDS)}); "
            "name the file, or the folder that contains it"
        )
    return answers, [one.name for one in inside if one not in answers]


def _plain(path: str) -> str:
    return re.sub(r"\[[0-9*]*\]", "", path).removeprefix("$").strip(".")


def _cut(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with long texts cut, without nested values that are long."""
    return {
        key: value[:_CUT] if isinstance(value, str) else value
        for key, value in row.items()
        if not isinstance(value, dict | list) or len(str(value)) <= _CUT
    }
