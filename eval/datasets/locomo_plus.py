"""LoCoMo-Plus (Li et al., 2026, arXiv 2602.10715): later remarks that an earlier one bears on,
stitched into LoCoMo's conversations.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator

from eval.datasets.checks import Location, Row, Text, key_of, parse
from eval.datasets.files import json_files, public_file, read_rows
from eval.datasets.locomo import read_locomo
from eval.datasets.pooled import timed
from eval.datasets.selection import Filters, Part
from eval.datasets.sessions import read_conversation
from eval.datasets.types import TABLES, Dataset, Question
from memsys.core.declared import PathText
from memsys.core.numbers import ONES
from memsys.core.types import Conversation, Session, Turn

LOCOMO_PLUS_TYPES: dict[int, str] = TABLES["locomo_plus"]
_ASKED_AFTER = timedelta(days=7)  # after the conversation's last session
_LINE = re.compile(r"([AB]):\s*(\S.*)")
# Days of a gap such as "two weeks later".
_DAYS = {"week": 7, "month": 30, "year": 365}
_NUMBERS = {"a": 1, "an": 1, **{word: number for number, word in enumerate(ONES[1:13], 1)}}
_GAP = re.compile(rf"\b([0-9]{{1,4}}|{'|'.join(_NUMBERS)})\s*({'|'.join(_DAYS)})", re.IGNORECASE)


def _dialogue(value: str) -> tuple[tuple[str, str], ...]:
    """Return speaker and text of each line, "A: ..." or "B: ..."; blank lines are ignored."""
    lines = [line.strip() for line in value.splitlines()]
    for number, line in enumerate(lines, 1):
        if line and not _LINE.fullmatch(line):
            problem = f'{line!r:.60} is no line of dialogue; write "A: ..." or "B: ..."'
            raise ValueError(f"line {number}: {problem}")
    return tuple((match[1], match[2]) for match in map(_LINE.fullmatch, lines) if match)


_Dialogue = Annotated[Text, AfterValidator(_dialogue)]


class _Row(Row):
    relation_type: Annotated[int, key_of({name: id_ for id_, name in LOCOMO_PLUS_TYPES.items()})]
    time_gap: Text
    cue_dialogue: _Dialogue
    trigger_query: _Dialogue


class _Sample(NamedTuple):
    """A sample and its place; `days`: time from the cue, an earlier dialogue, to the trigger, a
    later remark that the cue bears on.
    """

    number: int
    where: Location
    row: _Row
    days: int


@dataclass(frozen=True, kw_only=True)
class LoCoMoPlus(Filters):
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

    stitch: Literal["all", "one"] = "all"
    path: PathText | None = None
    locomo: PathText | None = None
    captions: bool = True

    def load(self) -> Dataset:
        """Read, check and filter the files; conversations with no question left are omitted.

        Raises InputError naming file, index of the sample (from 0) and field; also if a filter
        names something unknown or no question is left.
        """
        self.check(LOCOMO_PLUS_TYPES.values())
        raw, locomo_files = read_locomo(self.locomo, "dataset.locomo")
        paths = json_files(self.path or public_file("locomo_plus", "LoCoMo-Plus"))
        rows, files = read_rows(paths, "LoCoMo-Plus samples")
        ids = list(raw)
        of_conversation: dict[str, list[_Sample]] = defaultdict(list)
        for index, (file, _, row) in enumerate(rows):
            of_conversation[ids[index % len(ids)]].append(_sample(index, row, file.name))
        parts = (
            part
            for id_ in self.wanted(ids)
            for part in self._parts(*raw[id_], of_conversation[id_])
        )
        return self.collect(parts, (*files, *locomo_files), LOCOMO_PLUS_TYPES)

    def _parts(
        self, where: Location, raw: dict[str, Any], samples: Sequence[_Sample]
    ) -> Iterator[Part]:
        """Yield a conversation of LoCoMo with the cues of all its `samples` and the questions of
        those that the filters admit, or a conversation for each of these.
        """
        types = self.types or LOCOMO_PLUS_TYPES.values()
        of_types = (cue for cue in samples if LOCOMO_PLUS_TYPES[cue.row.relation_type] in types)
        asked = list(islice(of_types, self.limit))
        if not asked:
            return
        plain = read_conversation(raw, where, captions=self.captions)
        if len(plain.speakers) < 2:
            raise where.error("conversation.speaker_b", "missing; a cue needs two speakers")
        together = [(samples, asked)] if self.stitch == "all" else [([cue], [cue]) for cue in asked]
        repairs = [*where.repairs, *(line for cue in asked for line in cue.where.repairs)]
        for cues, asking in together:
            name = plain.id if self.stitch == "all" else f"{plain.id}+{asking[0].number}"
            # Sessions of `plain` remain in their order, also where their dates are not in order.
            sessions = list(timed(plain))
            asked_at = sessions[-1][0] + _ASKED_AFTER
            sessions += [_cue(sample, plain, asked_at) for sample in cues]
            ordered = tuple(session for _, session in sorted(sessions, key=lambda pair: pair[0]))
            questions = [_question(name, sample, plain, asked_at) for sample in asking]
            yield Part(replace(plain, id=name, sessions=ordered), questions, repairs)
            repairs = []  # said once


def _cue(
    sample: _Sample, conversation: Conversation, asked_at: datetime
) -> tuple[datetime, Session]:
    """Return the cue as a session of the conversation, and its time."""
    try:
        time = asked_at - timedelta(days=sample.days)
    except OverflowError:
        raise sample.where.error("time_gap", "goes back to before the year 1") from None
    lines = enumerate(_named(sample.row.cue_dialogue, conversation), 1)
    turns = tuple(Turn(f"C{sample.number}:{n}", speaker, text) for n, (speaker, text) in lines)
    return time, Session(f"cue_{sample.number}", time, turns)


def _question(
    id_: str, sample: _Sample, conversation: Conversation, asked_at: datetime
) -> Question:
    cue, trigger = (
        [": ".join(line) for line in _named(dialogue, conversation)]
        for dialogue in (sample.row.cue_dialogue, sample.row.trigger_query)
    )
    return Question(
        id=f"{id_}/{sample.number}",
        conversation=id_,
        category=sample.row.relation_type,
        type=LOCOMO_PLUS_TYPES[sample.row.relation_type],
        text=" ".join(trigger),
        gold=None,
        evidence=tuple(f"C{sample.number}:{number}" for number in range(1, len(cue) + 1)),
        asked_at=asked_at,
        cue="\n".join(cue),
    )


def _named(dialogue: Any, conversation: Conversation) -> Iterator[tuple[str, str]]:
    """Yield `dialogue` with the conversation's first speaker for A and its second for B."""
    names = dict(zip("AB", conversation.speakers, strict=False))
    for letter, text in dialogue:
        yield names[letter], text


def _sample(index: int, raw: Any, file: str) -> _Sample:
    where = Location(file, str(index))
    row = parse(_Row, raw, where)
    gap = _GAP.search(row.time_gap)
    if gap is None:
        where.repaired("time_gap", f"{row.time_gap!r:.60} has no number: counted as 0 days")
        return _Sample(index, where, row, 0)
    number = gap[1].lower()
    return _Sample(index, where, row, (_NUMBERS.get(number) or int(number)) * _DAYS[gap[2].lower()])
