"""Lists of objects in a file or folder of answers, wherever in it they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.answers.documents import CSV, JSON, LINES, Document
from eval.answers.fields import Remembered
from eval.answers.streaming import Limits
from eval.answers.tree import Node, lists, note
from eval.answers.tree import Path as Keys
from eval.answers.walk import Here, Item, Walk
from eval.datasets.types import SourceFile
from memsys.core.errors import InputError
from memsys.core.files import is_there, shown

__all__ = ["Found", "Item", "RowList", "row_lists"]
_SAMPLE = 2_000
LIMITS = Limits()
_CUT = 2_000  # characters of a value in a sample
BY_ROWS = "write a list of objects, one a row (pandas: to_json with orient='records')"
_KINDS = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Found:
    """The lists of objects in a file or folder, in file order, and the files that were read.

    `passed_over`: names of the other files in the folder, and of those without a list.
    """

    lists: list[RowList]
    sources: tuple[SourceFile, ...]
    passed_over: tuple[str, ...] = ()


class RowList:
    """A list of objects. `path`: where it is. `count`: number of rows."""

    def __init__(self, path: str, count: int, files: Files, node: Node) -> None:
        self.path, self.count = path, count
        self._files, self._node = files, node

    @cached_property
    def sample(self) -> Sequence[Item]:
        """Up to 2,000 rows spread over the list; long texts are cut."""
        return self._files.samples[self._node]

    def items(self, columns: Collection[str] | None = None) -> Iterator[Item]:
        """Yield the rows in file order, with those `columns` or all.

        Raises InputError naming the place of what is no object.
        """
        for _, item in self._files.rows([self._node], columns):
            yield item


class Files:
    """The documents of a file or folder, and the tree of the lists in them."""

    def __init__(self, documents: Sequence[Document], named: bool) -> None:
        self._documents, self._named = documents, named
        self._roots = {kind: Node() for kind in (JSON, LINES, CSV)}
        self._kept: dict[Document, dict[Keys, Remembered]] = {}
        self.without = [one.name for one in documents if not self._note(one)]
        for root in self._roots.values():
            root.settle()

    def lists(self) -> list[RowList]:
        """Return the lists of objects."""
        return [
            RowList(path, node.objects, self, node)
            for kind, root in self._roots.items()
            for path, node in lists(root, "" if kind == JSON else kind)
        ]

    @cached_property
    def samples(self) -> dict[Node, list[Item]]:
        """Rows of each list, spread over it."""
        found: dict[Node, list[Item]] = {one._node: [] for one in self.lists()}
        seen = dict.fromkeys(found, 0)

        def wanted(node: Node) -> bool:
            seen[node] += 1
            return (seen[node] - 1) % -(-node.objects // _SAMPLE) == 0

        for node, item in self.rows(found, None, wanted):
            found[node].append(replace(item, fields=_cut(item.fields)))
        return found

    def rows(
        self,
        targets: Collection[Node],
        columns: Collection[str] | None,
        wanted: Callable[[Node], bool] | None = None,
    ) -> Iterator[tuple[Node, Item]]:
        """Yield list and row for each row of the lists `targets`, or each `wanted` one."""
        for document in self._documents:
            root, kept = self._roots[document.kind], self._kept[document]
            name = "" if self._named else document.name
            walk = Walk(root, targets, kept, columns, wanted, name)
            here = Here(document.name, groups=(_stem(document.name),)) if self._named else Here()
            if document.kind == JSON:
                for _, value in document.values(checked=True):
                    yield from walk.rows(root, value, here)
            elif root.element:
                for place, value in document.values(checked=True):
                    prefix = ": ".join(part for part in (here.prefix, place) if part)
                    yield from walk.rows(root.element, value, replace(here, prefix=prefix))

    def _note(self, document: Document) -> bool:
        """Add the document to the tree; return whether it contains a list of objects."""
        kept, tree = self._kept.setdefault(document, {}), Node()
        if document.kind == JSON:
            for _, value in document.values():
                note(tree, value, (), kept)
        else:
            tree.element = Node()
            for _, value in document.values():
                note(tree.element, value, (), kept)
        self._roots[document.kind].merge(tree)
        tree.settle()
        return any(True for _ in lists(tree, ""))


def row_lists(path: Path, wanted: str | None = None, *, limits: Limits = LIMITS) -> Found:
    """Return the lists of objects in the file or folder at `path`, only that at `wanted` if set.

    Raises InputError naming the file and the place in it if it cannot be read, contains no list of
    objects, or none at `wanted`.
    """
    if not is_there(path):
        raise InputError(f"{shown(path)}: no such file or folder; correct the path")
    paths, passed = _files(path) if path.is_dir() else ([path], [])
    left, documents = limits.small, []
    for one in paths:
        document = Document(one, limits)
        left -= document.size
        if left < 0:
            document.forget()
        documents.append(document)
    files = Files(documents, path.is_dir())
    found = files.lists()
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
    return Found(found, sources, (*passed, *(files.without if path.is_dir() else ())))


def _files(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of answers in `folder`, 2 before 10, and the names of the others."""
    inside = sorted(
        (one for one in folder.iterdir() if not one.name.startswith(".")),
        key=lambda one: [
            (len(part), part) if part.isdigit() else (0, part)
            for part in re.split("([0-9]+)", one.name)
        ],
    )
    answers = [one for one in inside if _kind(one.name) in _KINDS and one.is_file()]
    if not answers:
        raise InputError(
            f"{shown(folder)}: no file of answers in this folder ({', '.join(_KINDS)}); "
            "name the file, or the folder that contains it"
        )
    return answers, [one.name for one in inside if one not in answers]


def _kind(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix


def _stem(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem


def _plain(path: str) -> str:
    return re.sub(r"\[[0-9*]*\]", "", path).removeprefix("$").strip(".")


def _cut(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with long texts cut, without nested values that are long."""
    short = {}
    for key, value in fields.items():
        if isinstance(value, str):
            short[key] = value if len(value) <= _CUT else value[:_CUT]
        elif not isinstance(value, dict | list) or len(str(value)) <= _CUT:
            short[key] = value
    return short
