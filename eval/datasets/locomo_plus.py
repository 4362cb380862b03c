"""LoCoMo-Plus (Li et al., 2026, arXiv 2602.10715): later remarks that an earlier one bears on,
stitched into LoCoMo's conversations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, Literal

from eval.datasets.checks import Location, as_object, check_names, text
from eval.datasets.files import json_files, public_file, read_json
from eval.datasets.locomo import read_locomo
from eval.datasets.sessions import read_conversation
from eval.datasets.types import Dataset, Question, SourceFile
from memsys.core.declared import Count, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.numbers import ONES
from memsys.core.types import Conversation, Session, Turn

# The file's `relation_type`, by ids that no other data set has.
LOCOMO_PLUS_TYPES: dict[int, str] = {17: "causal", 18: "state", 19: "goal", 20: "value"}
STITCHES = ("all", "one")
_ASKED_AFTER = timedelta(days=7)  # after the conversation's last session
_LINE = re.compile(r"([AB]):\s*(\S.*)")
_DAYS = {"week": 7, "month": 30, "year": 365}
_NUMBERS = {"a": 1, "an": 1, **{word: number for number, word in enumerate(ONES[1:13], 1)}}
_GAP = re.compile(rf"\b([0-9]{{1,4}}|{'|'.join(_NUMBERS)})\s*({'|'.join(_DAYS)})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Sample:
    """A sample: an earlier dialogue (the cue) and a later remark that it bears on (the trigger).

    Both are pairs of a speaker, A or B, and a text. `days`: time from the cue to the trigger.
    """

    index: int
    where: Location
    category: int
    cue: tuple[tuple[str, str], ...]
    trigger: tuple[tuple[str, str], ...]
    days: int


@dataclass(frozen=True, kw_only=True)
class LoCoMoPlus:
    """The samples of one file, or of a folder's *.json in name order, in LoCoMo's conversations.

    Sample i, counted from 0, belongs to the conversation i modulo their number. Its cue is a
    session of that conversation, its trigger the question, the turns of the cue the evidence. A
    question is asked 7 days after the last session of LoCoMo; the cue's time is the sample's gap
    before that. There are no gold answers.

    name: the data set's name in tables. stitch: `all`, every cue of a conversation is part of it;
    `one`, as published: a conversation a sample. path: None looks for locomo_plus.json in the data
    folder, then in $MEMSYS_SHARED/locomo_plus; a relative path is looked up in the current folder,
    then in the project's. locomo: the same for the conversations, None for locomo10.json. captions:
    include the captions of shared images. conversations: only samples that belong to these, by
    LoCoMo's sample id. types: only these question types, by name. limit: at most this many
    questions of each conversation of LoCoMo, applied after `types`. Cues of questions that are
    filtered out remain in the conversation (stitch=all).
    """

    name: Name
    stitch: Literal["all", "one"] = "all"
    path: str | None = None
    locomo: str | None = None
    captions: bool = True
    conversations: Sequence[str] | None = None
    types: Sequence[str] | None = None
    limit: Count | None = None

    def load(self) -> Dataset:
        """Read, check and filter the files; conversations with no question left are omitted.

        Raises InputError naming file, index of the sample (from 0) and field; also if a filter
        names something unknown or no question is left.
        """
        check_fields(self, "dataset")
        check_names("types", self.types, LOCOMO_PLUS_TYPES.values())
        raw, locomo_files = read_locomo(self.locomo, "dataset.locomo")
        check_names("conversations", self.conversations, raw)
        samples, files = _read(self.path or public_file("locomo_plus", "LoCoMo-Plus"))
        ids = list(raw)
        of_conversation: dict[str, list[_Sample]] = defaultdict(list)
        for sample in samples:
            of_conversation[ids[sample.index % len(ids)]].append(sample)
        conversations: list[Conversation] = []
        questions: list[Question] = []
        repairs: list[str] = []
        types = LOCOMO_PLUS_TYPES.values() if self.types is None else self.types
        for id_ in ids:
            found = of_conversation[id_]
            asked = [one for one in found if LOCOMO_PLUS_TYPES[one.category] in types][: self.limit]
            if not asked or (self.conversations is not None and id_ not in self.conversations):
                continue
            where = raw[id_].where
            plain = read_conversation(raw[id_].raw, where, captions=self.captions)
            if len(plain.speakers) < 2:
                raise where.error("conversation.speaker_b", "missing; a cue needs two speakers")
            together = [(found, asked)] if self.stitch == "all" else [([s], [s]) for s in asked]
            for cues, asking in together:
                name = id_ if self.stitch == "all" else f"{id_}+{asking[0].index}"
                stitched, asked_at = _stitch(name, plain, cues)
                conversations.append(stitched)
                questions += [_question(stitched, sample, asked_at) for sample in asking]
            repairs += where.repairs
            repairs += [line for one in asked for line in one.where.repairs]
        if not questions:
            raise InputError(
                f"{', '.join(file.name for file in files)}: no question is left; widen "
                "dataset.conversations and dataset.types"
            )
        return Dataset(
            self.name,
            tuple(conversations),
            tuple(questions),
            (*files, *locomo_files),
            tuple(repairs),
            types=LOCOMO_PLUS_TYPES,
        )


def _stitch(
    name: str, plain: Conversation, samples: Sequence[_Sample]
) -> tuple[Conversation, datetime]:
    """Return `plain` with the cues of `samples`, in order of time, and the time of asking.

    Sessions of `plain` remain in their order, also where their dates are not in order.
    """
    latest = list(accumulate((session.time for session in plain.sessions), max))
    asked_at = latest[-1] + _ASKED_AFTER
    timed = list(zip(latest, plain.sessions, strict=True))
    for sample in samples:
        try:
            time = asked_at - timedelta(days=sample.days)
        except OverflowError:
            raise sample.where.error("time_gap", "goes back to before the year 1") from None
        turns = tuple(
            Turn(f"C{sample.index}:{number}", speaker, said)
            for number, (speaker, said) in enumerate(_named(sample.cue, plain), 1)
        )
        timed.append((time, Session(f"cue_{sample.index}", time, turns)))
    sessions = tuple(session for _, session in sorted(timed, key=lambda pair: pair[0]))
    return replace(plain, id=name, sessions=sessions), asked_at


def _question(conversation: Conversation, sample: _Sample, asked_at: datetime) -> Question:
    cue, said = (
        [f"{speaker}: {words}" for speaker, words in _named(dialogue, conversation)]
        for dialogue in (sample.cue, sample.trigger)
    )
    return Question(
        id=f"{conversation.id}/{sample.index}",
        conversation=conversation.id,
        category=sample.category,
        type=LOCOMO_PLUS_TYPES[sample.category],
        text=" ".join(said),
        gold=None,
        evidence=tuple(f"C{sample.index}:{number}" for number in range(1, len(sample.cue) + 1)),
        asked_at=asked_at,
        cue="\n".join(cue),
    )


def _named(
    dialogue: Sequence[tuple[str, str]], conversation: Conversation
) -> Iterator[tuple[str, str]]:
    """Yield `dialogue` with the conversation's first speaker for A and its second for B."""
    names = dict(zip("AB", conversation.speakers, strict=False))
    for letter, said in dialogue:
        yield names[letter], said


def _read(path: str) -> tuple[list[_Sample], list[SourceFile]]:
    """Return the samples at `path`, numbered over all files, and the files."""
    samples: list[_Sample] = []
    files: list[SourceFile] = []
    for file in json_files(path):
        value, source = read_json(file)
        files.append(source)
        if not isinstance(value, list) or not value:
            raise InputError(f"{file.name}: must be a list of LoCoMo-Plus samples")
        for raw in value:
            samples.append(_sample(len(samples), raw, file.name))
    return samples, files


def _sample(index: int, raw: Any, file: str) -> _Sample:
    where = Location(file, str(index))
    item = as_object(raw, where, "sample")
    given = text(item, "relation_type", where, "relation_type")
    types = {name: id_ for id_, name in LOCOMO_PLUS_TYPES.items()}
    if given not in types:
        known = ", ".join(types)
        raise where.error("relation_type", f"{given!r:.60} is no type; it is one of {known}")
    gap = text(item, "time_gap", where, "time_gap")
    found = _GAP.search(gap)
    if found is None:
        where.repaired("time_gap", f"{gap!r:.60} has no number: counted as 0 days")
    cue = _dialogue(item, "cue_dialogue", where)
    trigger = _dialogue(item, "trigger_query", where)
    return _Sample(index, where, types[given], cue, trigger, _days(found) if found else 0)


def _days(gap: re.Match[str]) -> int:
    """Return the days of a gap such as "two weeks later": 7 a week, 30 a month, 365 a year."""
    number, unit = gap[1].lower(), gap[2].lower()
    return (_NUMBERS.get(number) or int(number)) * _DAYS[unit]


def _dialogue(item: dict[str, Any], key: str, where: Location) -> tuple[tuple[str, str], ...]:
    """Return speaker and text of each line, "A: ..." or "B: ..."; blank lines are ignored."""
    said: list[tuple[str, str]] = []
    for number, line in enumerate(text(item, key, where, key).splitlines(), 1):
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            problem = f'{line.strip()!r:.60} is no line of dialogue; write "A: ..." or "B: ..."'
            raise where.error(f"{key}, line {number}", problem)
        said.append((match[1], match[2]))
    return tuple(said)
