"""LoCoMo (Maharana et al., 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents")
and any file of its layout, which data/README.md describes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from eval.datasets.answer_key import read_key
from eval.datasets.checks import (
    Location,
    TurnIds,
    as_list,
    as_object,
    check_distinct,
    check_names,
    is_visible,
    text,
    turn_ids,
)
from eval.datasets.evidence_key import read_evidence
from eval.datasets.files import RawSample, json_files, load_sources, public_file, read_samples
from eval.datasets.pooled import check_pool, pool
from eval.datasets.sessions import read_conversation
from eval.datasets.splits import in_split
from eval.datasets.subset import open_subset
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question, SourceFile
from memsys.core.declared import Count, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation

_WORD = re.compile(r"(?!(?:an?|the|and)\b)\b\w", re.IGNORECASE)  # that F1 counts


@dataclass(frozen=True, kw_only=True)
class LoCoMo:
    """Conversations and questions of one file, or of a folder's *.json in name order.

    name: the data set's name in tables. path: None looks for locomo10.json in the data folder, then
    in $MEMSYS_SHARED/locomo; a relative path is looked up in the current folder, then in the
    project's. captions: include the captions of shared images. conversations: only these sample
    ids. types: only these question types, by name. limit: at most this many questions of each
    conversation, applied after `types`. key: the answer key, original, corrected or excluded
    (questions whose answer is known to be wrong get no gold answer). key_file: the list of errors,
    or the overlay; None for the overlay in data/overlays. subset: only the questions of a subset,
    `lite` or the path of a file of the same form (docs/locomo-lite.md); the other filters apply to
    it. split: only the conversations of a split, `dev` or `held_out` (eval.datasets.splits).
    evidence: the evidence key, original, corrected or excluded (questions whose citation is
    known to be wrong get no evidence). pooled: put `conversations` into one store, also those
    without a question left; owner_filter: search only the asking conversation's memories in it.
    """

    # Checked by load(): Hydra would bury the message of an InputError in its own.
    name: Name
    path: str | None = None
    captions: bool = True
    conversations: Sequence[str] | None = None
    types: Sequence[str] | None = None
    limit: Count | None = None
    key: str = "original"
    key_file: str | None = None
    subset: str | None = None
    split: Literal["dev", "held_out"] | None = None
    evidence: str = "original"
    pooled: bool = False
    owner_filter: bool = False

    def load(self) -> Dataset:
        """Read, check and filter the files; conversations with no question left are omitted.

        Evidence that names no turn is an InputError; in the published file, identified by its
        sha256, it is dropped and reported in `Dataset.repairs`. Raises InputError naming file,
        sample and field; also if a filter names something unknown, no question is left, or the
        answer key's errors belong to other data.
        """
        check_fields(self, "dataset")
        check_pool(self.pooled, self.owner_filter)
        check_names("types", self.types, TYPES.values())
        samples, files = read_locomo(self.path)
        ids = list(samples)
        of_split = in_split(self.split, ids)
        check_names("conversations", self.conversations, of_split)
        subset = None if self.subset is None else open_subset(self.subset, files, ids)
        key = read_key(self.key, self.key_file, files, ids)
        evidence = read_evidence(self.evidence, files)
        conversations: list[Conversation] = []
        questions: list[Question] = []
        repairs: list[str] = []
        wanted = set(of_split if self.conversations is None else self.conversations)
        for id_, sample in samples.items():
            if id_ not in wanted:
                continue
            where = sample.where
            conversation = read_conversation(sample.raw, where, captions=self.captions)
            turns = [turn.id for session in conversation.sessions for turn in session.turns]
            asked = key.apply(id_, _questions(sample.raw, TurnIds(turns), where))
            if evidence is not None:
                asked = evidence.apply(id_, asked, turns)
            if subset is not None:
                asked = subset.select(id_, asked)
            asked = [q for q in asked if self.types is None or q.type in self.types][: self.limit]
            if asked or self.pooled:
                conversations.append(conversation)
                questions.extend(asked)
                repairs.extend(where.repairs)
        if not questions:
            raise InputError(
                f"{', '.join(file.name for file in files)}: no question is left; widen "
                "dataset.conversations and dataset.types, or add to qa"
            )
        dataset = Dataset(
            self.name,
            tuple(conversations),
            tuple(questions),
            tuple(files),
            tuple(repairs),
            key.describe(questions),
            subset=None if subset is None else subset.used,
            evidence=None if evidence is None else evidence.used,
        )
        return pool(dataset) if self.pooled else dataset


def read_locomo(
    path: str | None, setting: str = "dataset.path"
) -> tuple[dict[str, RawSample], list[SourceFile]]:
    """Return the samples at `path` by id, and their files; None for the published file.

    `setting`: what gave the path. The published file, identified by its sha256, is read leniently
    (see Location). Raises InputError if a file is missing or wrong, or an id is used twice,
    up to case and blanks.
    """
    samples: dict[str, RawSample] = {}
    names: dict[str, Location] = {}
    files: list[SourceFile] = []
    published = load_sources()["locomo"].sha256
    for file in json_files(path or public_file("locomo", "LoCoMo"), setting):
        in_file, source = read_samples(file)
        files.append(source)
        for sample in in_file:
            where = replace(sample.where, lenient=source.sha256 == published)
            check_distinct(names, where, "sample_id")
            samples[where.sample] = replace(sample, where=where)
    return samples, files


def _questions(raw: dict[str, Any], turns: TurnIds, where: Location) -> list[Question]:
    questions: list[Question] = []
    for index, row in enumerate(as_list(raw.get("qa"), where, "qa")):
        field = f"qa[{index}]"
        item = as_object(row, where, field)
        category = _category(item.get("category"), where, f"{field}.category")
        evidence = turn_ids(item.get("evidence"), turns, where, f"{field}.evidence")
        gold = _answer(item, "answer", where, field)
        if category == ADVERSARIAL and gold is not None:
            # Two published items have one: it denies the premise, where the type asks to abstain.
            where.repaired(f"{field}.answer", f"{gold!r:.60} ignored: type 5 requires to abstain")
            gold = None
        elif category != ADVERSARIAL and gold is None:
            raise where.error(f"{field}.answer", "missing or empty; only category 5 may omit it")
        elif gold is not None and not _WORD.search(gold):
            where.repaired(f"{field}.answer", f"{gold!r:.60} has no word, so F1 is always 0")
        questions.append(
            Question(
                id=f"{where.sample}/{index}",
                conversation=where.sample,
                category=category,
                type=TYPES[category],
                text=text(item, "question", where, f"{field}.question"),
                gold=gold,
                evidence=evidence,
                adversarial=_answer(item, "adversarial_answer", where, field),
            )
        )
    return questions


def _category(value: Any, where: Location, field: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value in TYPES:
        return value
    known = ", ".join(f"{number} {name}" for number, name in TYPES.items())
    state = "missing" if value is None else f"{value!r:.60} is no category"
    raise where.error(field, f"{state}; it is one of {known}")


def _answer(item: dict[str, Any], key: str, where: Location, field: str) -> str | None:
    """Return an answer as text (numbers, such as years, included), or None if there is none."""
    value = item.get(key)
    if value is None or (isinstance(value, str) and not is_visible(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise where.error(f"{field}.{key}", f"{value!r:.60} must be a text or a number")
    return str(value)
