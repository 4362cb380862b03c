"""Overlays: known errors of a data set by question id, without a text of the data set.

data/README.md describes the files in data/overlays (gold answers) and data/evidence (citations).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from eval.datasets.files import one_per_line, read_json, validate
from eval.datasets.types import Question, SourceFile
from memsys.core.errors import InputError


class _Entry(Protocol):
    @property
    def id(self) -> str: ...


E = TypeVar("E", bound=_Entry)
AnyOverlay = TypeVar("AnyOverlay", bound="Overlay")


@dataclass(frozen=True, slots=True)
class Overlay:
    """Known errors of the `data` files, an entry a question; `source`, `commit` and `licence` are
    those of the list of errors.
    """

    source: str
    commit: str
    licence: str
    data: tuple[SourceFile, ...]
    entries: tuple[Any, ...]

    def belongs(self, files: Sequence[SourceFile]) -> bool:
        """Return whether all files of the overlay are among `files`, by sha256; False if it names
        none.
        """
        hashes = {file.sha256 for file in files}
        return bool(self.data) and all(file.sha256 in hashes for file in self.data)


def read_overlay(kind: type[AnyOverlay], path: Path) -> tuple[AnyOverlay, SourceFile]:
    """Return the overlay at `path` and its file; raise InputError if it is not valid."""
    value, file = read_json(path)
    remedy = f"build it by {path.parent.name}/build.py"
    overlay = validate(kind, value, str(path), remedy)
    if len({entry.id for entry in overlay.entries}) < len(overlay.entries):
        raise InputError(f"{path}: an id occurs twice; {remedy}")
    return overlay, file


def find_overlay(kind: type[Overlay], folder: Path, files: Sequence[SourceFile]) -> Path | None:
    """Return the path of the overlay in `folder` that belongs to `files`; None if none does.

    Raises InputError if several do, or if one of the folder is not valid.
    """
    paths = sorted(folder.glob("*.json"))
    matching = [path for path in paths if read_overlay(kind, path)[0].belongs(files)]
    if len(matching) > 1:
        raise InputError(
            f"{folder}: {matching[0].name} and {matching[1].name} belong to the same data; leave "
            "one there"
        )
    return matching[0] if matching else None


def write_overlay(path: Path, overlay: Overlay) -> None:
    """Write `overlay` to `path`: one line per entry, for readable diffs."""
    head = asdict(overlay)
    rows = [{k: v for k, v in row.items() if v != "text"} for row in head.pop("entries")]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(one_per_line(head, "entries", rows), encoding="utf-8")


@dataclass(frozen=True)
class Entries(Generic[E]):
    """Entries by question id; `file`: the overlay or list of errors, as messages name it."""

    file: str
    by_id: Mapping[str, E]

    @cached_property
    def of_conversation(self) -> Mapping[str, Sequence[E]]:
        """The entries by conversation."""
        found: dict[str, list[E]] = defaultdict(list)
        for id_, entry in self.by_id.items():
            found[id_.rpartition("/")[0]].append(entry)
        return dict(found)

    def matched(
        self, conversation: str, questions: Sequence[Question]
    ) -> Iterator[tuple[E, Question]]:
        """Yield each entry of a conversation with its question; InputError if there is none."""
        by_id = {question.id: question for question in questions}
        for entry in self.of_conversation.get(conversation, ()):
            if entry.id not in by_id:
                raise self.mismatch(entry.id, "the data set has no such question")
            yield entry, by_id[entry.id]

    def mismatch(self, id_: str, problem: str) -> InputError:
        """Return the error for an entry that does not match the data set."""
        return InputError(
            f"{self.file}: entry {id_}: {problem}; correct the entry, or load the file it was made "
            "for"
        )
