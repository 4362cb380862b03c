"""LongMemEval (Wu et al., 2025, "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive
Memory") and any file of its layout: an instance is one history of chats and one question of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from eval.datasets.answer_key import read_key
from eval.datasets.checks import Location, as_list, as_object, check_distinct, check_names, text
from eval.datasets.files import SHIPPED_DATA, json_files, public_file, read_json
from eval.datasets.neutral_ids import neutral
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset, Question, SourceFile
from memsys.core.declared import Count, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation, Session, Turn

# The file's `question_type` with _ for -, by ids that no LoCoMo type has. 5 is adversarial as in
# LoCoMo: a question_id that ends in _abs, whatever its question_type.
LONGMEMEVAL_TYPES: dict[int, str] = {
    11: "single_session_user",
    12: "single_session_assistant",
    13: "single_session_preference",
    14: "multi_session",
    15: "temporal_reasoning",
    16: "knowledge_update",
    ADVERSARIAL: TYPES[ADVERSARIAL],
}
_ABSTAIN = "_abs"
_ERRORS = SHIPPED_DATA / "overlays" / "longmemeval.json"
_SAMPLE = "oracle_sample97.json"
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \([A-Za-z]{3}\))? (\d{2}):(\d{2})")
_HISTORY = ("haystack_sessions", "haystack_session_ids", "haystack_dates")
ROLES = ("user", "assistant")


@dataclass(frozen=True, kw_only=True)
class LongMemEval:
    """Histories and their questions in one file, or in a folder's *.json in name order.

    name: the data set's name in tables. path: None looks for longmemeval_oracle.json in the data
    folder, then in $MEMSYS_SHARED/longmemeval; a relative path is looked up in the current folder,
    then in the project's. conversations: only these question ids. types: only these question types,
    by name. limit: at most this many questions, applied after both. session_ids: neutral (s1, s2,
    ... in order of time) or published, whose form gives away the sessions with the answer.
    key, key_file: as of LoCoMo; the known errors are those of the overlay longmemeval.json.
    """

    name: Name
    path: str | None = None
    conversations: Sequence[str] | None = None
    types: Sequence[str] | None = None
    limit: Count | None = None
    session_ids: Literal["neutral", "published"] = "neutral"
    key: str = "original"
    key_file: str | None = None

    def load(self) -> Dataset:
        """Read, check and filter the files. Raises InputError naming file, question id and field;
        also if a filter names something unknown or no question is left.
        """
        check_fields(self, "dataset")
        check_names("types", self.types, LONGMEMEVAL_TYPES.values())
        instances: dict[str, tuple[Conversation, Question, list[str]]] = {}
        ids: dict[str, Location] = {}
        files: list[SourceFile] = []
        for path in json_files(self.path or public_file("longmemeval", "LongMemEval", _SAMPLE)):
            value, source = read_json(path)
            files.append(source)
            if not isinstance(value, list) or not value:
                raise InputError(f"{path.name}: must be a list of LongMemEval instances")
            for index, raw in enumerate(value):
                instance = _instance(path.name, index, raw)
                id_ = instance[0].id
                check_distinct(ids, Location(path.name, id_), "question_id")
                instances[id_] = instance
        check_names("conversations", self.conversations, instances)
        key = read_key(self.key, self.key_file, files, list(instances), _ERRORS)
        names = instances if self.conversations is None else set(self.conversations)
        types = LONGMEMEVAL_TYPES.values() if self.types is None else self.types
        selected = [
            one
            for one in instances.values()
            if one[1].type in types and one[1].conversation in names
        ][: self.limit]
        if not selected:
            raise InputError(
                f"{', '.join(file.name for file in files)}: no question is left; widen "
                "dataset.conversations and dataset.types"
            )
        conversations = [conversation for conversation, _, _ in selected]
        questions = [
            one for _, asked, _ in selected for one in key.apply(asked.conversation, [asked])
        ]
        published: dict[str, Mapping[str, str]] = {}
        if self.session_ids == "neutral":
            for n, pair in enumerate(zip(conversations, questions, strict=True)):
                conversations[n], questions[n], published[pair[0].id] = neutral(*pair)
        return Dataset(
            self.name,
            tuple(conversations),
            tuple(questions),
            tuple(files),
            tuple(line for _, _, repairs in selected for line in repairs),
            key.describe(questions),
            types=LONGMEMEVAL_TYPES,
            published_sessions=published,
        )


def _instance(file: str, index: int, raw: Any) -> tuple[Conversation, Question, list[str]]:
    where = Location(file, f"#{index + 1}")
    item = as_object(raw, where, "instance")
    id_ = text(item, "question_id", where, "question_id")
    where = Location(file, id_)
    sessions, evidence = _chats(item, where)
    category = _category(item, where)
    abstain = id_.endswith(_ABSTAIN)
    asked_at = _date(item.get("question_date"), where, "question_date")
    question = Question(
        id=f"{id_}/0",
        conversation=id_,
        category=ADVERSARIAL if abstain else category,
        type=LONGMEMEVAL_TYPES[ADVERSARIAL if abstain else category],
        text=text(item, "question", where, "question"),
        gold=None if abstain else _answer(item.get("answer"), where),
        evidence=tuple(evidence),
        evidence_sessions=_evidence_sessions(item, {one.id for one in sessions}, where),
        asked_at=asked_at,
    )
    ordered = tuple(sorted(sessions, key=lambda session: session.time))
    return Conversation(id_, ROLES, ordered), question, where.repairs


def _category(item: dict[str, Any], where: Location) -> int:
    given = text(item, "question_type", where, "question_type")
    names = {name.replace("_", "-"): id_ for id_, name in LONGMEMEVAL_TYPES.items() if id_ > 5}
    if given not in names:
        known = ", ".join(names)
        raise where.error("question_type", f"{given!r:.60} is no type; it is one of {known}")
    return names[given]


def _answer(value: Any, where: Location) -> str:
    """Return the gold answer as text; some of the published ones are numbers."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        state = "missing" if value is None else "is no text or number"
    elif str(value).strip():
        return str(value)
    else:
        state = "empty"
    raise where.error("answer", f"{state}; only questions that end in {_ABSTAIN} may omit it")


def _evidence_sessions(
    item: dict[str, Any], sessions: set[str], where: Location
) -> tuple[str, ...]:
    """Return the ids of the sessions with the answer; InputError for one without turns."""
    field = "answer_session_ids"
    ids = as_list(item.get(field), where, field)
    for index, id_ in enumerate(ids):
        if not isinstance(id_, str) or id_ not in sessions:
            raise where.error(f"{field}[{index}]", f"{id_!r:.60} is no session with turns")
    return tuple(dict.fromkeys(ids))


def _chats(item: dict[str, Any], where: Location) -> tuple[list[Session], list[str]]:
    """Return an instance's sessions with turns, and its evidence, in file order.

    A turn's id is `<session id>:<n>`, n being its index in the file; blank turns are dropped but
    counted. A repeated session id gets the suffix `#2`, so that no two turns share an id.
    """
    lists = {key: as_list(item.get(key), where, key) for key in _HISTORY}
    if len({len(one) for one in lists.values()}) > 1:
        counts = ", ".join(f"{len(one)} {key}" for key, one in lists.items())
        raise where.error("haystack_sessions", f"{counts}; the three lists must have equal lengths")
    sessions: list[Session] = []
    evidence: list[str] = []
    with_id: Counter[str] = Counter()
    for index, rows in enumerate(lists["haystack_sessions"]):
        id_field = f"haystack_session_ids[{index}]"
        name = text({"id": lists["haystack_session_ids"][index]}, "id", where, id_field)
        time = _date(lists["haystack_dates"][index], where, f"haystack_dates[{index}]")
        field = f"haystack_sessions[{index}]"
        given = name
        if earlier := with_id[given]:
            where.repaired(field, f"session id {given} repeated; #{earlier + 1} added")
            name = f"{given}#{earlier + 1}"
            if with_id[name]:
                raise where.error(id_field, f"{given!r:.60} repeats, and {name!r:.60} is used, too")
        turns, marked, blank = _turns(as_list(rows, where, field), where, field, name)
        evidence += marked
        if blank:
            where.repaired(field, f"{blank} blank turns dropped")
        if turns:
            sessions.append(Session(name, time, turns))
            with_id.update({given, name})
    if not sessions:
        raise where.error("haystack_sessions", "no turns; add a session with turns")
    return sessions, evidence


def _date(value: Any, where: Location, field: str) -> datetime:
    """Return the naive time of "2023/05/20 (Sat) 02:21"; raise InputError for another form."""
    match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    try:
        year, month, day, hour, minute = map(int, match.groups() if match else ())
        return datetime(year, month, day, hour, minute)
    except ValueError:
        state = "missing" if value is None else f"{value!r:.60} is no time"
        raise where.error(field, f'{state}; write it as "2023/05/20 (Sat) 02:21"') from None


def _turns(
    rows: list[Any], where: Location, field: str, session: str
) -> tuple[tuple[Turn, ...], list[str], int]:
    """Return the turns, the ids of those that contain the answer, and the number of blank ones."""
    turns: list[Turn] = []
    marked: list[str] = []
    for index, row in enumerate(rows):
        at = f"{field}[{index}]"
        item = as_object(row, where, at)
        role, content = item.get("role"), item.get("content")
        if role not in ROLES:
            raise where.error(f"{at}.role", f"{role!r:.60}; use {' or '.join(ROLES)}")
        if not isinstance(content, str):
            raise where.error(f"{at}.content", "missing or no text; must be a text")
        has_answer = item.get("has_answer")
        if has_answer not in (None, True, False):
            raise where.error(f"{at}.has_answer", f"{has_answer!r:.60}; must be true or false")
        if not content.strip():
            if has_answer:
                raise where.error(f"{at}.content", "empty, but has_answer; add its text")
            continue
        turns.append(Turn(id=f"{session}:{index}", speaker=role, text=content))
        if has_answer:
            marked.append(f"{session}:{index}")
    return tuple(turns), marked, len(rows) - len(turns)
