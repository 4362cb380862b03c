"""Lists of objects in a file or folder of answers, wherever in it they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.answers.documents import CSV, JSON, LINES, Document, read_document
from eval.answers.places import ELEMENT, Place, Spot, fields
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import is_there, shown

_ORDER = (JSON, LINES, CSV)
_SAMPLE = 2_000
_CUT = 2_000  # characters of a value in a sample
BY_ROWS = "write a list of objects, one a row (pandas: to_json with orient='records')"
_KINDS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a file, unparsed.

    `place`: position in the file. `group`: key of the enclosing object of lists, or the file's stem
    in a folder; None if neither. `around`: such keys around the group, the outermost first.
    `inherited`: names of the fields that are those of an enclosing object.
    """

    place: str
    fields: Mapping[str, Any]
    group: str | None = None
    around: tuple[str, ...] = ()
    inherited: frozenset[str] = field(default=frozenset(), compare=False)


class RowList:
    """The rows at one place: `path` is where the list is, `count` the number of rows.

    `name`: the file's, for messages; empty if the places of rows contain it.
    """

    def __init__(self, place: Place, name: str) -> None:
        self.path, self.count = place.path.removesuffix(ELEMENT), len(place.objects)
        self._place, self._name = place, name

    @cached_property
    def _sampled(self) -> Mapping[int, Item]:
        """Up to 2,000 rows spread over the list, by position."""
        spread = range(0, self.count, -(-self.count // _SAMPLE))
        return {position: _item(self._place.objects[position]) for position in spread}

    @cached_property
    def sample(self) -> Sequence[Item]:
        """Up to 2,000 rows spread over the list; long texts are cut."""
        return [replace(row, fields=_cut(row.fields)) for row in self._sampled.values()]

    def items(self) -> Iterator[Item]:
        """Yield the rows in file order.

        Raises InputError naming the place of what is no object.
        """
        other = self._place.other_element()
        if other is not None:
            place = ": ".join(part for part in (self._name, str(other)) if part)
            raise InputError(f"{place}: must be an object {{...}} with question and answer")
        for position, row in enumerate(self._place.objects):
            yield self._sampled.get(position) or _item(row)


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
    if not is_there(path):
        raise InputError(f"{shown(path)}: no such file or folder; correct the path")
    in_folder = path.is_dir()
    paths, passed = _files(path) if in_folder else ([path], [])
    documents = [read_document(one) for one in paths]
    without = [one for one in documents if in_folder and not _lists([one], in_folder)]
    found = _lists(documents, in_folder)
    if not found:
        raise InputError(
            f"{shown(path.name)}: contains no answers, that is, no list of objects; {BY_ROWS}"
        )
    if wanted is not None:
        names = ", ".join(repr(one.path) for one in found)
        found = [one for one in found if _plain(one.path) == _plain(wanted)]
        if not found:
            raise InputError(
                f"{shown(path.name)}: no list of objects at {wanted!r:.80}; --rows may be {names}"
            )
    sources = tuple(document.source for document in documents)
    return Found(found, sources, (*passed, *(shown(one.source.name) for one in without)))


def _lists(documents: Sequence[Document], in_folder: bool) -> list[RowList]:
    """Return the lists of objects: JSON documents go before JSON lines, and these before CSV."""
    spots: dict[str, list[Spot]] = {}
    for document in sorted(documents, key=lambda one: _ORDER.index(one.kind)):
        name = shown(document.source.name)
        group = _stem(name) if in_folder else None
        for place, value in document.values:
            prefix = ": ".join(part for part in (name if in_folder else "", place) if part)
            spots.setdefault(document.kind, []).append(Spot(value, prefix, group))
    name = "" if in_folder else shown(documents[0].source.name)
    roots = [
        Place("" if kind == JSON else kind + ELEMENT, at_root, rows=kind != JSON)
        for kind, at_root in spots.items()
    ]
    return [RowList(place, name) for root in roots for place in root.lists()]


def _item(row: Spot) -> Item:
    outside, inner = row.inherited(), fields(row.value)
    groups = row.groups()
    return Item(
        str(row),
        {**outside, **inner},
        groups[-1] if groups else None,
        groups[:-1],
        frozenset(outside.keys() - inner.keys()),
    )


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of answers in `folder`, 2 before 10, and the names of the others."""
    inside = sorted(
        (one for one in folder.iterdir() if not one.name.startswith(".")),
        key=lambda one: [
            (len(part), part) if part.isdigit() else (0, part)
            for part in re.split("([0-9]+)", one.name)
        ],
    )
    answers = [one for one in inside if _ending(one.name) in _KINDS and one.is_file()]
    if not answers:
        raise InputError(
            f"{shown(folder)}: no file of answers in this folder ({', '.join(_KINDS)}); "
            "name the file, or the folder that contains it"
        )
    return answers, [one.name for one in inside if one not in answers]


def _ending(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix


def _stem(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem


def _plain(path: str) -> str:
    return re.sub(r"\[[0-9*]*\]", "", path).removeprefix("$").strip(".")


def _cut(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with long texts cut, without nested values that are long."""
    short = {}
    for key, value in row.items():
        if isinstance(value, str):
            short[key] = value if len(value) <= _CUT else value[:_CUT]
        elif not isinstance(value, dict | list) or len(str(value)) <= _CUT:
            short[key] = value
    return short
