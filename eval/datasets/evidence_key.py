"""Known wrong citations of a data set: which turns are evidence instead.

An overlay in data/evidence has ids only, no text of the data set; data/README.md describes it. Only
errors of type WRONG_CITATION are in it: where the gold answer is wrong as well, other evidence
belongs to another answer, and so to the answer key.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from eval.datasets.answer_key import KEYS
from eval.datasets.files import SHIPPED_DATA
from eval.datasets.overlays import Entries, Overlay, find_overlay, read_overlay
from eval.datasets.types import EvidenceKey, Question, SourceFile
from memsys.core.errors import InputError, check_choice

FOLDER = SHIPPED_DATA / "evidence"


@dataclass(frozen=True, slots=True)
class Citation:
    """A wrong citation: question id, the turns cited, as they are loaded, and the right ones."""

    id: str
    cited: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceOverlay(Overlay):
    """Known wrong citations."""

    built_by: ClassVar[str] = "data/evidence/build.py"
    entries: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """An evidence key, ready to be applied to the questions of one conversation after another."""

    used: EvidenceKey
    wrong: Entries[Citation]

    def apply(
        self, conversation: str, questions: Sequence[Question], turns: Collection[str]
    ) -> list[Question]:
        """Return all `questions` of a conversation with these `turns` under this key.

        Raises InputError naming the entry whose question, citation or turn the data set lacks.
        """
        known = set(turns)
        for wrong, question in self.wrong.matched(conversation, questions):
            if set(question.evidence) != set(wrong.cited):
                raise self.wrong.mismatch(wrong.id, "the data set cites other turns")
            if unknown := set(wrong.evidence) - known:
                raise self.wrong.mismatch(wrong.id, f"{min(unknown)} is no turn")
        return [self._changed(question) for question in questions]

    def _changed(self, question: Question) -> Question:
        wrong = self.wrong.by_id.get(question.id)
        if wrong is None or set(wrong.evidence) == set(question.evidence):
            return question
        evidence = wrong.evidence if self.used.name == "corrected" else ()
        return replace(question, evidence=evidence, evidence_original=question.evidence)


def read_evidence(name: str, files: Sequence[SourceFile]) -> EvidenceReader | None:
    """Return the evidence key `name` for the data of `files`; None for the original one.

    Raises InputError if no overlay in data/evidence belongs to the files, by sha256.
    """
    check_choice("dataset.evidence", name, KEYS)
    if name == "original":
        return None
    path = find_overlay(EvidenceOverlay, FOLDER, files)
    if path is None:
        raise InputError(
            f"dataset.evidence={name}: no wrong citations are known in "
            f"{', '.join(file.name for file in files)}; use dataset.evidence=original"
        )
    overlay, file = read_overlay(EvidenceOverlay, path)
    entries = Entries(path.name, {entry.id: entry for entry in overlay.entries})
    return EvidenceReader(EvidenceKey(name, file), entries)
