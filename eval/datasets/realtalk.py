"""REALTALK (Lee et al., 2025, arXiv 2502.13270): chats of real people over 21 days, a file each.

Sessions are those of the file's keys: in five published chats the number in a turn's id is another.
Evidence is written by hand: besides ids there are lists in one text ("D5:12;D5:16"), ranges
("D12:3-D12:5"), slips ("D5:3.", "D17;39") and ids of no turn. Lists, ranges and slips are read
where they name turns, and all are counted by reason in `Dataset.repairs`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from eval.datasets.checks import (
    NO_TURN,
    Given,
    Ids,
    Line,
    Location,
    Row,
    Text,
    check_distinct,
    key_of,
    parse,
    time_by,
)
from eval.datasets.files import json_files, load_sources, public_file, read_json
from eval.datasets.selection import REALTALK, Filters, Part, SplitName, in_split
from eval.datasets.sessions import TurnRow, conversation_of, read_sessions
from eval.datasets.types import TYPES, Dataset, Question, SourceFile
from memsys.core.declared import PathText
from memsys.core.errors import InputError
from memsys.core.types import Turn

REALTALK_TYPES = {id_: TYPES[id_] for id_ in (1, 2, 3)}  # its "commonsense" is LoCoMo's open_domain
_NAME = re.compile(r"Chat_([0-9]{1,9})(?:_.*)?\.json")
_OTHER = re.compile(r"qa$|name$|events_session_")  # fields that are no sessions
_ID = r"D[0-9]{1,9}:[0-9]{1,9}"
_RANGE = re.compile(rf"({_ID})-({_ID})")
# Texts that are meant as one id or as a list of ids, and how these are written.
_SLIPS = (
    (re.compile(r"D([0-9]+);([0-9]+)"), r"D\1:\2"),  # D17;39
    (re.compile(rf"({_ID}):({_ID})"), r"\1;\2"),  # D13:45:D20:19
    (re.compile(r"D ([0-9]+:[0-9]+)"), r"D\1"),  # D 2:18
    (re.compile(rf"({_ID})\."), r"\1"),  # D5:3.
    (re.compile(rf"({_ID})\. ({_ID})"), r"\1;\2"),  # D13:4. D14:4
)


_Time = Annotated[
    datetime,
    time_by(lambda value: datetime.strptime(value, "%d.%m.%Y, %H:%M:%S"), '"29.12.2023, 22:42:04"'),
]


class _Turn(TurnRow):
    text: Text = Field(validation_alias="clean_text")
    date_time: _Time

    def turn(self, captions: bool) -> Turn:
        """See TurnRow."""
        return replace(super().turn(captions), time=self.date_time)


class _Question(Row):
    question: Text
    answer: Given
    evidence: Ids = ()
    category: Annotated[int, key_of({id_: id_ for id_ in REALTALK_TYPES})]


class _Names(Row):
    speaker_1: Line | None = None
    speaker_2: Line | None = None


class _Chat(Row):
    name: _Names
    qa: list[_Question]


@dataclass(frozen=True, kw_only=True)
class RealTalk(Filters):
    """The chats of a folder's Chat_N*.json in order of N, or of one such file; `Chat_N` is the id.

    Each turn has a time of its own. A question is asked at the time of the chat's last turn.

    name: the data set's name in tables. path: None looks for the folder realtalk in the data
    folder, then in $MEMSYS_SHARED; a relative path is looked up in the current folder, then in the
    project's. captions: include the captions of shared images. conversations: only these, by id.
    types: only these question types, by name. limit: at most this many questions of each chat,
    applied after `types`. split: only the chats of a split, `dev` or `held_out`
    (eval.datasets.selection).
    """

    path: PathText | None = None
    captions: bool = True
    split: SplitName | None = None

    def load(self) -> Dataset:
        """Read, check and filter the files; chats with no question left are omitted.

        Evidence that names no turn is an InputError; in the published files, identified by their
        sha256, it is dropped, and counted in the last line of `Dataset.repairs`. Raises InputError
        naming file, chat and field; also if a filter names something unknown or no question is
        left.
        """
        self.check(REALTALK_TYPES.values())
        chats, files = _read(self.path)
        of_split = in_split(self.split, [*chats], REALTALK, "its ten chats: use its folder")
        counts: Counter[str] = Counter()
        parts = (self._part(*chats[id_], counts) for id_ in self.wanted(of_split))
        dataset = self.collect(parts, files, REALTALK_TYPES)
        if not any(counts.values()):
            return dataset
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in counts.most_common())
        return replace(dataset, repairs=(*dataset.repairs, f"evidence: {reasons}"))

    def _part(self, where: Location, raw: dict[str, Any], counts: Counter[str]) -> Part:
        fields = {name: value for name, value in raw.items() if not _OTHER.match(name)}
        sessions = read_sessions(fields, where, list[_Turn], _Time, captions=self.captions)
        chat = parse(_Chat, raw, where)
        turns = [turn for session in sessions for turn in session.turns]
        places = {turn.id: place for place, turn in enumerate(turns)}
        questions = [
            Question(
                id=f"{where.sample}/{index}",
                conversation=where.sample,
                category=row.category,
                type=REALTALK_TYPES[row.category],
                text=row.question,
                gold=row.answer,
                evidence=_cited(row.evidence, places, where, f"qa[{index}].evidence", counts),
                asked_at=turns[-1].time,
            )
            for index, row in enumerate(chat.qa)
        ]
        named = chat.name.speaker_1, chat.name.speaker_2
        return Part(conversation_of(where.sample, named, sessions), questions, where.repairs)


def _read(path: str | None) -> tuple[dict[str, tuple[Location, dict[str, Any]]], list[SourceFile]]:
    """Return location and JSON of the chats at `path` by id, in order of their number, and their
    files; None for the published folder.
    """
    published = {file.sha256 for file in load_sources()["realtalk"].files()}
    numbered: list[tuple[int, Path]] = []
    for file in json_files(path or public_file("realtalk", "REALTALK")):
        match = _NAME.fullmatch(file.name)
        if match is None:
            raise InputError(f"{file.name}: is no chat; name it Chat_1.json, or Chat_1_....json")
        numbered.append((int(match[1]), file))
    chats: dict[str, tuple[Location, dict[str, Any]]] = {}
    names: dict[str, Location] = {}
    files: list[SourceFile] = []
    for number, file in sorted(numbered):
        raw, source = read_json(file)
        files.append(source)
        where = Location(file.name, f"Chat_{number}", source.sha256 in published, unit="chat")
        check_distinct(names, where, "number")
        chats[where.sample] = where, parse(dict[str, Any], raw, where)
    return chats, files


def _cited(
    evidence: Sequence[str],
    places: Mapping[str, int],
    where: Location,
    field: str,
    counts: Counter[str],
) -> tuple[str, ...]:
    """Return the turns of a chat that `evidence` names, without repetition, and add to `counts`.
    `places`: of all turns, in order.
    """
    cited: dict[str, None] = {}
    for raw in evidence:
        text, named = raw, list[str]()
        for slip, meant in _SLIPS:
            if slip.fullmatch(text):
                text = slip.sub(meant, text)
        counts["slips read"] += text != raw
        parts = [part for part in re.split(r"[;,\s]+", text) if part]
        counts["lists read"] += len(parts) > 1 and text == raw
        for part in parts or [""]:
            span = _RANGE.fullmatch(part)
            ends = span.groups() if span else (part, part)
            first, last = (places.get(id_, -1) for id_ in ends)
            if 0 <= first <= last:
                counts["ranges read"] += span is not None
                named += islice(places, first, last + 1) if span else [part]
                continue
            if not where.lenient:
                raise where.error(field, NO_TURN.format(part))
            if re.fullmatch(_ID, part):
                reason = "no such turn"
            elif part:
                reason = "no id"
            else:
                reason = "empty"
            counts[f"dropped ({reason})"] += 1
            where.repaired(field, f"{raw!r:.60}: {part!r:.60} dropped: {reason}")
        if named and named != [raw]:
            where.repaired(field, f"{raw!r:.60} read as {', '.join(named)}")
        cited |= dict.fromkeys(named)
    if not cited:
        counts["questions without a turn"] += 1
    return tuple(cited)
