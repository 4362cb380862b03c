"""LongMemEval (Wu et al., 2025, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
Memory") and any file of its layout: an instance is one history of chats and one question of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import StrictBool

from eval.datasets.answer_key import KeyName, read_key
from eval.datasets.checks import Answer, Location, Row, Text, key_of, parse, time_by
from eval.datasets.files import SHIPPED_DATA, json_files, public_file, read_named
from eval.datasets.pooled import Renaming
from eval.datasets.selection import Filters, Part
from eval.datasets.types import ADVERSARIAL, TABLES, Dataset, Question
from memsys.core.declared import PathText
from memsys.core.types import Conversation, Session, Turn

LONGMEMEVAL_TYPES: dict[int, str] = TABLES["longmemeval"]
_ABSTAIN = "_abs"
_ERRORS = SHIPPED_DATA / "overlays" / "longmemeval.json"
_SAMPLE = "oracle_sample97.json"
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \([A-Za-z]{3}\))? (\d{2}):(\d{2})")
ROLES = ("user", "assistant")


def _read(value: str) -> datetime:
    match = _DATE.fullmatch(value.strip())
    year, month, day, hour, minute = map(int, match.groups() if match else ())
    return datetime(year, month, day, hour, minute)


_Date = Annotated[datetime, time_by(_read, '"2023/05/20 (Sat) 02:21"')]  # naive
_CATEGORIES = {name.replace("_", "-"): id_ for id_, name in LONGMEMEVAL_TYPES.items() if id_ > 5}


class _Turn(Row):
    role: Literal["user", "assistant"]
    content: str
    has_answer: StrictBool | None = None


class _Instance(Row):
    question: Text
    question_type: Annotated[int, key_of(_CATEGORIES)]
    question_date: _Date
    answer: Answer = None
    haystack_session_ids: list[Text]
    haystack_dates: list[_Date]
    haystack_sessions: list[list[_Turn]]
    answer_session_ids: list[str]


@dataclass(frozen=True, kw_only=True)
class LongMemEval(Filters):
    """Histories and their questions in one file, or in a folder's *.json in name order.

    name: the data set's name in tables. path: None looks for longmemeval_oracle.json in the data
    folder, then in $MEMSYS_SHARED/longmemeval; a relative path is looked up in the current folder,
    then in the project's. conversations: only these question ids. types: only these question types,
    by name. limit: at most this many questions, applied after both. session_ids: neutral (s1, s2,
    ... in order of time) or published, whose form gives away the sessions with the answer.
    key, key_file: as of LoCoMo; the known errors are those of the overlay longmemeval.json.
    """

    path: PathText | None = None
    session_ids: Literal["neutral", "published"] = "neutral"
    key: KeyName = "original"
    key_file: PathText | None = None

    def load(self) -> Dataset:
        """Read, check and filter the files. Raises InputError naming file, question id and field;
        also if a filter names something unknown or no question is left.
        """
        self.check(LONGMEMEVAL_TYPES.values())
        paths = json_files(self.path or public_file("longmemeval", "LongMemEval", _SAMPLE))
        raw, files = read_named(paths, "LongMemEval instances", "question_id", Text)
        instances = {id_: _instance(*row) for id_, row in raw.items()}
        wanted = [instances[id_] for id_ in self.wanted(instances)]
        key = read_key(self.key, self.key_file, files, list(instances), _ERRORS)
        parts = [
            part._replace(questions=key.apply(part.conversation.id, part.questions))
            for part in wanted
            if self.select(part.questions)
        ][: self.limit]
        published: dict[str, Mapping[str, str]] = {}
        if self.session_ids == "neutral":
            for n, part in enumerate(parts):
                parts[n], published[part.conversation.id] = _neutral(part)
        dataset = self.collect(parts, files, LONGMEMEVAL_TYPES)
        return replace(dataset, key=key.describe(dataset.questions), published_sessions=published)


def _instance(where: Location, raw: dict[str, Any]) -> Part:
    id_ = where.sample
    item = parse(_Instance, raw, where)
    sessions, evidence = _chats(item, where)
    abstain = id_.endswith(_ABSTAIN)
    if item.answer is None and not abstain:
        problem = f"missing or empty; only questions that end in {_ABSTAIN} may omit it"
        raise where.error("answer", problem)
    for at, cited in enumerate(item.answer_session_ids):
        if cited not in sessions:
            raise where.error(
                f"answer_session_ids[{at}]", f"{cited!r:.60} is no session with turns"
            )
    category = ADVERSARIAL if abstain else item.question_type
    question = Question(
        id=f"{id_}/0",
        conversation=id_,
        category=category,
        type=LONGMEMEVAL_TYPES[category],
        text=item.question,
        gold=None if abstain else item.answer,
        evidence=tuple(evidence),
        evidence_sessions=tuple(dict.fromkeys(item.answer_session_ids)),
        asked_at=item.question_date,
    )
    ordered = tuple(sorted(sessions.values(), key=lambda session: session.time))
    return Part(Conversation(id_, ROLES, ordered), (question,), where.repairs)


def _chats(item: _Instance, where: Location) -> tuple[dict[str, Session], list[str]]:
    """Return an instance's sessions with turns by id, and its evidence, in file order.

    A turn's id is `<session id>:<n>`, n being its index in the file; blank turns are dropped but
    counted. A repeated session id gets the suffix `#2`, so that no two turns share an id.
    """
    ids, dates, histories = item.haystack_session_ids, item.haystack_dates, item.haystack_sessions
    if not len(ids) == len(dates) == len(histories):
        problem = (
            "haystack_sessions, haystack_session_ids and haystack_dates must have equal lengths"
        )
        raise where.error("haystack_sessions", problem)
    sessions: dict[str, Session] = {}
    evidence: list[str] = []
    for index, (given, time, rows) in enumerate(zip(ids, dates, histories, strict=True)):
        name, field, number = given, f"haystack_sessions[{index}]", 1
        while name in sessions:
            number += 1
            name = f"{given}#{number}"
        if name != given:
            where.repaired(field, f"session id {given} repeated; #{number} added")
        turns = []
        for n, row in enumerate(rows):
            if row.content.strip():
                turns.append(Turn(f"{name}:{n}", row.role, row.content))
                evidence += [turns[-1].id] if row.has_answer else []
            elif row.has_answer:
                raise where.error(f"{field}[{n}].content", "empty, but has_answer; add its text")
        if len(turns) < len(rows):
            where.repaired(field, f"{len(rows) - len(turns)} blank turns dropped")
        if turns:
            sessions[name] = Session(name, time, tuple(turns))
    if not sessions:
        raise where.error("haystack_sessions", "no turns; add a session with turns")
    return sessions, evidence


def _neutral(part: Part) -> tuple[Part, Mapping[str, str]]:
    """Return `part` with the sessions' ids replaced by s1, s2, ... in their order, and the new ids
    by the former ones. A turn's id is `<session id>:<n>` before and after, with the same n.
    """
    conversation = part.conversation
    names = {session.id: f"s{n}" for n, session in enumerate(conversation.sessions, 1)}

    def of_turn(id_: str) -> str:
        session, _, number = id_.rpartition(":")
        return f"{names[session]}:{number}"

    renaming = Renaming(names.__getitem__, of_turn)
    sessions = tuple(map(renaming.session, conversation.sessions))
    questions = tuple(map(renaming.question, part.questions))
    return Part(replace(conversation, sessions=sessions), questions, part.repairs), names
