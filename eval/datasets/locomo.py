"""LoCoMo (Maharana et al., 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents")
and any file of its layout, which data/README.md describes.

An evidence key (data/evidence) names the turns that are evidence where the data set cites wrong
ones. It has ids only, no text. Only errors of type WRONG_CITATION are in it: where the gold answer
is wrong as well, other evidence belongs to another answer, and so to the answer key.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from eval.datasets.answer_key import KeyName, read_key
from eval.datasets.checks import (
    Answer,
    Ids,
    Line,
    Location,
    Row,
    Text,
    TurnIds,
    key_of,
    parse,
    rule,
)
from eval.datasets.files import SHIPPED_DATA, json_files, load_sources, public_file, read_named
from eval.datasets.overlays import Distinct, Entries, Overlay, find_overlay, read_overlay
from eval.datasets.pooled import POOLED, Poolable, pool
from eval.datasets.selection import LOCOMO, Filters, Part, SplitName, in_split
from eval.datasets.sessions import read_conversation
from eval.datasets.subset import open_subset
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, EvidenceKey, Question, SourceFile
from memsys.core.declared import PathText
from memsys.core.errors import InputError

_CATEGORIES = ", ".join(f"{number} {name}" for number, name in TYPES.items())
_Id = Annotated[
    Line,
    rule(
        lambda id_: id_ != POOLED, "{} is the name of the store of dataset.pooled=true; use another"
    ),
]
_WORD = re.compile(r"(?!(?:an?|the|and)\b)\b\w", re.IGNORECASE)  # that F1 counts


class _Question(Row):
    question: Text
    category: Annotated[int, key_of({id_: id_ for id_ in TYPES}, _CATEGORIES)]
    answer: Answer = None
    adversarial_answer: Answer = None
    evidence: Ids = ()


class _Questions(Row):
    qa: list[_Question]


@dataclass(frozen=True, kw_only=True)
class LoCoMo(Filters, Poolable):
    """Conversations and questions of one file, or of a folder's *.json in name order.

    name: the data set's name in tables. path: None looks for locomo10.json in the data folder, then
    in $MEMSYS_SHARED/locomo; a relative path is looked up in the current folder, then in the
    project's. captions: include the captions of shared images. conversations: only these sample
    ids. types: only these question types, by name. limit: at most this many questions of each
    conversation, applied after `types`. key: the answer key, original, corrected or excluded
    (questions whose answer is known to be wrong get no gold answer). key_file: the list of errors,
    or the overlay; None for the overlay in data/overlays. subset: only the questions of a subset,
    `lite` or the path of a file of the same form (docs/datasets.md); the other filters apply to
    it. split: only the conversations of a split, `dev` or `held_out` (eval.datasets.selection).
    evidence: the evidence key, original, corrected or excluded (questions whose citation is
    known to be wrong get no evidence). pooled: put `conversations` into one store, also those
    without a question left; owner_filter: search only the asking conversation's memories in it.
    """

    path: PathText | None = None
    captions: bool = True
    key: KeyName = "original"
    key_file: PathText | None = None
    subset: str | None = None
    split: SplitName | None = None
    evidence: KeyName = "original"

    def load(self) -> Dataset:
        """Read, check and filter the files; conversations with no question left are omitted.

        Evidence that names no turn is an InputError; in the published file, identified by its
        sha256, it is dropped and reported in `Dataset.repairs`. Raises InputError naming file,
        sample and field; also if a filter names something unknown, no question is left, or the
        answer key's errors belong to other data.
        """
        self.check(TYPES.values())
        self.check_pool()
        samples, files = read_locomo(self.path)
        ids = list(samples)
        of_split = in_split(self.split, ids, LOCOMO, "LoCoMo's ten conversations: use its file")
        used, subset = (None, None) if self.subset is None else open_subset(self.subset, files, ids)
        key = read_key(self.key, self.key_file, files, ids)
        evidence, wrong = read_evidence(self.evidence, files)

        def part(where: Location, raw: dict[str, Any]) -> Part:
            conversation = read_conversation(raw, where, captions=self.captions)
            turns = [turn.id for session in conversation.sessions for turn in session.turns]
            asked = key.apply(where.sample, _questions(raw, TurnIds(turns), where))
            if wrong is not None:
                asked = _cited(wrong, self.evidence == "corrected", where.sample, asked, turns)
            if subset is not None:
                subset_ids = {question.id for _, question in subset.matched(where.sample, asked)}
                asked = [question for question in asked if question.id in subset_ids]
            return Part(conversation, asked, where.repairs)

        parts = (part(*samples[id_]) for id_ in self.wanted(of_split))
        dataset = self.collect(parts, files, TYPES, keep_all=self.pooled)
        dataset = replace(
            dataset,
            key=key.describe(dataset.questions),
            subset=used,
            evidence=evidence,
            order=tuple(ids),
        )
        return pool(dataset) if self.pooled else dataset


def read_locomo(
    path: str | None, setting: str = "dataset.path"
) -> tuple[dict[str, tuple[Location, dict[str, Any]]], list[SourceFile]]:
    """Return place and JSON of the samples at `path` by id, and their files; None for the published
    file, which is read leniently. `setting`: what gave the path.

    Raises InputError as read_named does, and for a reserved id.
    """
    return read_named(
        json_files(path or public_file("locomo", "LoCoMo"), setting),
        "samples, each an object with sample_id, conversation and qa (see data/README.md)",
        "sample_id",
        _Id,
        published=load_sources()["locomo"].sha256,
    )


def _questions(raw: dict[str, Any], turns: TurnIds, where: Location) -> list[Question]:
    questions: list[Question] = []
    for index, row in enumerate(parse(_Questions, raw, where).qa):
        field = f"qa[{index}]"
        evidence = turns.cited(row.evidence, where, f"{field}.evidence")
        gold = row.answer
        if row.category == ADVERSARIAL and gold is not None:
            # Two published items have one: it denies the premise, where the type asks to abstain.
            where.repaired(f"{field}.answer", f"{gold!r:.60} ignored: type 5 requires to abstain")
            gold = None
        elif row.category != ADVERSARIAL and gold is None:
            raise where.error(f"{field}.answer", "missing or empty; only category 5 may omit it")
        elif gold is not None and not _WORD.search(gold):
            where.repaired(f"{field}.answer", f"{gold!r:.60} has no word, so F1 is always 0")
        questions.append(
            Question(
                id=f"{where.sample}/{index}",
                conversation=where.sample,
                category=row.category,
                type=TYPES[row.category],
                text=row.question,
                gold=gold,
                evidence=evidence,
                adversarial=row.adversarial_answer,
            )
        )
    return questions


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
    entries: Distinct[Citation]


def read_evidence(
    name: str, files: Sequence[SourceFile]
) -> tuple[EvidenceKey | None, Entries[Citation] | None]:
    """Return the evidence key `name` for the data of `files` and its wrong citations; None for the
    original one.

    Raises InputError if no overlay in data/evidence belongs to the files, by sha256.
    """
    if name == "original":
        return None, None
    path = find_overlay(EvidenceOverlay, FOLDER, files)
    if path is None:
        raise InputError(
            f"dataset.evidence={name}: no wrong citations are known in "
            f"{', '.join(file.name for file in files)}; use dataset.evidence=original"
        )
    overlay, file = read_overlay(EvidenceOverlay, path)
    entries = Entries(path.name, {entry.id: entry for entry in overlay.entries})
    return EvidenceKey(name, file), entries


def _cited(
    entries: Entries[Citation],
    corrected: bool,
    conversation: str,
    questions: Sequence[Question],
    turns: Sequence[str],
) -> list[Question]:
    """Return all `questions` of a conversation with these `turns`, the wrongly cited ones with
    their right evidence, or else with none.

    Raises InputError naming the entry whose question, citation or turn the data set lacks.
    """
    changed = {question.id: question for question in questions}
    for wrong, question in entries.matched(conversation, questions):
        right = set(wrong.evidence)
        same = set(question.evidence) == set(wrong.cited)
        entries.check(wrong.id, "the data set cites other turns", fits=same)
        unknown = min(right.difference(turns), default=None)
        entries.check(wrong.id, f"{unknown} is no turn", fits=unknown is None)
        if right != set(question.evidence):
            changed[question.id] = replace(
                question,
                evidence=wrong.evidence if corrected else (),
                evidence_original=question.evidence,
            )
    return [*changed.values()]
