"""Known wrong citations of a data set: which turns are evidence instead.

An overlay in data/evidence has ids only, no text of the data set; data/README.md describes it. Only
errors of type WRONG_CITATION are in it: where the gold answer is wrong as well, other evidence
belongs to another answer, and so to the answer key.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from eval.datasets.answer_key import KEYS
from eval.datasets.files import SHIPPED_DATA, one_per_line, read_json, validate
from eval.datasets.key_errors import belongs
from eval.datasets.types import EvidenceKey, Question, SourceFile
from memsys.core.errors import InputError, check_choice

FOLDER = SHIPPED_DATA / "evidence"
_REBUILD = "build it by data/evidence/build.py"


@dataclass(frozen=True, slots=True)
class Citation:
    """A wrong citation: question id, the turns cited, as they are loaded, and the right ones."""

    id: str
    cited: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceOverlay:
    """The wrong citations of the `data` files; `source`, `commit` and `licence` of the audit."""

    source: str
    commit: str
    licence: str
    data: tuple[SourceFile, ...]
    entries: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """An evidence key, ready to be applied to the questions of one conversation after another."""

    used: EvidenceKey
    entries: Sequence[Citation]

    def apply(
        self, conversation: str, questions: Sequence[Question], turns: Collection[str]
    ) -> list[Question]:
        """Return all `questions` of a conversation with these `turns` under this key.

        Raises InputError naming the entry whose question, citation or turn the data set lacks.
        """
        wrong = {one.id: one for one in self.entries if _conversation(one) == conversation}
        by_id = {question.id: question for question in questions}
        for one in wrong.values():
            if one.id not in by_id:
                raise self._mismatch(one, "the data set has no such question")
            if set(by_id[one.id].evidence) != set(one.cited):
                raise self._mismatch(one, "the data set cites other turns")
            if unknown := set(one.evidence) - set(turns):
                raise self._mismatch(one, f"{min(unknown)} is no turn")
        return [self._changed(question, wrong.get(question.id)) for question in questions]

    def _changed(self, question: Question, wrong: Citation | None) -> Question:
        if wrong is None or set(wrong.evidence) == set(question.evidence):
            return question
        evidence = wrong.evidence if self.used.name == "corrected" else ()
        return replace(question, evidence=evidence, evidence_original=question.evidence)

    def _mismatch(self, one: Citation, problem: str) -> InputError:
        return InputError(f"{self.used.overlay.name}: entry {one.id}: {problem}; {_REBUILD}")


def read_evidence(name: str, files: Sequence[SourceFile]) -> EvidenceReader | None:
    """Return the evidence key `name` for the data of `files`; None for the original one.

    Raises InputError if no overlay in data/evidence belongs to the files, by sha256.
    """
    check_choice("dataset.evidence", name, KEYS)
    if name == "original":
        return None
    for path in sorted(FOLDER.glob("*.json")):
        overlay, file = read_overlay(path)
        if belongs(overlay.data, files):
            return EvidenceReader(EvidenceKey(name, file), overlay.entries)
    raise InputError(
        f"dataset.evidence={name}: no wrong citations are known in "
        f"{', '.join(file.name for file in files)}; use dataset.evidence=original"
    )


def read_overlay(path: Path) -> tuple[EvidenceOverlay, SourceFile]:
    """Return the overlay at `path` and its file; raise InputError if it is not valid."""
    value, file = read_json(path)
    overlay = validate(EvidenceOverlay, value, str(path), _REBUILD)
    if len({one.id for one in overlay.entries}) < len(overlay.entries):
        raise InputError(f"{path}: an id occurs twice; {_REBUILD}")
    return overlay, file


def write_overlay(path: Path, overlay: EvidenceOverlay) -> None:
    """Write `overlay` to `path`: one line per entry, for readable diffs."""
    head = asdict(overlay)
    text = one_per_line(head, "entries", head.pop("entries"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _conversation(one: Citation) -> str:
    return one.id.rpartition("/")[0]
