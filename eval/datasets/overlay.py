"""Overlays: which answers of a data set's key are wrong, by ids and hashes, without any text.

The answers themselves may not be passed on with this project (data/README.md has the schema).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from eval.datasets.corrections import Correction, read_json
from eval.datasets.types import SourceFile
from memsys.errors import InputError

CITATION_ONLY = "WRONG_CITATION"  # the one type of error that leaves the answer as it is
# What of a corrected text is the gold: all of it, none (it tells that there is no answer), the
# data set's own answer (it tells that this stands), or these characters of it, from and to.
Gold = Literal["text", "none", "original"] | tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One error of an answer key; hashes are sha256 of the UTF-8 text, None where there is none."""

    id: str
    error_type: str
    golden_sha256: str | None
    correct_sha256: str | None
    gold: Gold = "text"

    @property
    def changes_score(self) -> bool:
        """False if only the evidence is wrong."""
        return self.error_type != CITATION_ONLY

    def cut(self, text: str | None, original: str | None) -> str | None:
        """The gold that the corrected `text` gives in place of `original`; None for no answer."""
        if self.gold == "original":
            return original
        if self.gold == "none" or text is None:
            return None
        if self.gold == "text":
            return text
        return "".join(text[start:end] for start, end in self.gold).strip()


@dataclass(frozen=True, slots=True)
class Overlay:
    """An overlay: where its errors are from, the `data` they are in, the `texts` they were read
    from, and the overlay's own file (None while it is being made).
    """

    source: str
    commit: str
    licence: str
    data: tuple[SourceFile, ...]
    texts: SourceFile
    entries: tuple[Entry, ...]
    file: SourceFile | None = None


def sha256(text: str | None) -> str | None:
    """Of a text in UTF-8, in hex; None for none."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def make_entries(
    found: Iterable[Correction], golds: Mapping[tuple[str, str | None], Gold] | None = None
) -> tuple[Entry, ...]:
    """Entries of these errors; `golds`, by id and hash of the corrected text, are kept."""
    kept = golds or {}
    return tuple(
        Entry(
            one.id,
            one.error_type,
            sha256(one.golden),
            sha256(one.correct),
            kept.get((one.id, sha256(one.correct)), "text"),
        )
        for one in found
    )


def is_overlay(value: Any) -> bool:
    """True if a JSON value is an overlay and not a list of errors."""
    return isinstance(value, dict) and "entries" in value


def read_overlay(path: Path) -> Overlay:
    """The overlay at `path`; raises InputError where it is not as data/README.md says."""
    value, file = read_json(path)
    if not is_overlay(value):
        raise InputError(f"{path}: no overlay; make one by python -m eval.studies.overlay")
    try:
        entries = tuple(_entry(row) for row in value["entries"])
        overlay = Overlay(
            source=str(value["source"]),
            commit=str(value["commit"]),
            licence=str(value["licence"]),
            data=tuple(SourceFile(**one) for one in value["data"]),
            texts=SourceFile(**value["texts"]),
            entries=entries,
            file=file,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path}: not a valid overlay ({error}); make it by python -m eval.studies.overlay"
        ) from error
    if len({entry.id for entry in entries}) < len(entries):
        raise InputError(f"{path}: an id occurs twice; make it by python -m eval.studies.overlay")
    return overlay


def _entry(row: Mapping[str, Any]) -> Entry:
    gold = row.get("gold", "text")
    if isinstance(gold, list):
        gold = tuple((int(start), int(end)) for start, end in gold)
        if not gold or any(not 0 <= start < end for start, end in gold):
            raise ValueError(f"gold of {row['id']}")
    elif gold not in ("text", "none", "original"):
        raise ValueError(f"gold of {row['id']}: {gold!r}")
    return Entry(row["id"], row["error_type"], row["golden_sha256"], row["correct_sha256"], gold)


def write_overlay(path: Path, overlay: Overlay) -> None:
    """Write `path`: one line an entry, so that a change can be read."""
    head = asdict(overlay)
    del head["entries"], head["file"]
    lines = [
        json.dumps({k: v for k, v in asdict(e).items() if v != "text"}) for e in overlay.entries
    ]
    top = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    text = top + ',\n "entries": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def belongs(overlay: Overlay, files: Sequence[SourceFile]) -> bool:
    """True if every file the overlay was made for is among these, to the byte."""
    return {one.sha256 for one in overlay.data} <= {file.sha256 for file in files}
