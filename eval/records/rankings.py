"""What was ranked and selected for the questions of a run: rankings of turns and of sessions, and
large selections, such as a whole conversation, which are stored once with their context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from eval.records.files import CONTEXTS, MEMORIES, RANKINGS, Row, read_lines
from eval.records.schema import (
    CONTEXT_LINE,
    MEMORY_LINE,
    RANKING_LINE,
    Manifest,
    MemoryLine,
    RankingLine,
    Record,
    Retrieved,
)
from memsys.core.errors import InputError
from memsys.core.turns import are_documents
from memsys.core.types import Candidate, Conversation, Retrieval

RULE = (
    "a memory is replaced by its turns in their order, a turn by its session; a turn or session "
    "that occurs again counts at its first place"
)
DIGITS = 6  # of the scores of memories
SESSION = "session"  # unit of a ranking of whole sessions


@dataclass(frozen=True, slots=True)
class UnitRanking:
    """A ranking in one unit: distinct `ids`, best first, of the `size` units in the store (None:
    unknown). `complete`: nothing follows, since the ranking contains the whole store. `tokens`:
    o200k tokens of all memories up to the one that contributed each id; None if unknown. `depth`:
    number of memories recorded.
    """

    ids: tuple[str, ...]
    size: int | None
    complete: bool
    tokens: tuple[int, ...] | None
    depth: int = 0

    @property
    def known(self) -> int:
        """Number of ranks to which the ranking is known, where it is not complete."""
        return max(self.depth, len(self.ids))


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ranking of one question. `memories`: ids and scores, best first, of at most the recorded
    depth. `selected`: the order means nothing, since the strategy only selects. `turns` is None
    where sessions were ranked, `sessions` where turns belong to none.
    """

    question: str
    store: str
    selected: bool
    memories: tuple[tuple[str, float], ...]
    turns: UnitRanking | None
    sessions: UnitRanking | None


class Selection(NamedTuple):
    """The fields `retrieved` and `titles` of a record."""

    retrieved: list[Retrieved]
    titles: list[str]

    @classmethod
    def stored(cls, row: Row) -> Selection | None:
        """Return the selection in a line of contexts.jsonl, if it has one."""
        if "retrieved" not in row:
            return None
        return cls([cast(Retrieved, tuple(memory)) for memory in row["retrieved"]], row["titles"])


def selection_of(retrieval: Retrieval) -> Selection:
    """Return what a record says about the memories of `retrieval`."""
    rows: list[Retrieved] = [
        (
            candidate.memory.id,
            list(candidate.memory.turns),
            round(candidate.score, DIGITS),
            candidate.origin,
        )
        for candidate in retrieval.candidates
    ]
    return Selection(rows, [candidate.memory.title for candidate in retrieval.candidates])


@dataclass(frozen=True)
class Selections:
    """The selections in contexts.jsonl of the run in `folder`, read at the first use."""

    folder: Path = field(repr=False)

    @cached_property
    def by_context(self) -> dict[str, Selection]:
        """Selections by the sha256 of their context. Raises InputError on a damaged line."""
        rows = read_lines(self.folder / CONTEXTS, torn=True, schema=CONTEXT_LINE)
        pairs = ((row["sha256"], Selection.stored(row)) for row in rows)
        return {digest: selection for digest, selection in pairs if selection is not None}

    def of(self, row: Mapping[str, Any]) -> Selection:
        """Return the selection that a record or ranking leaves out; raises InputError if
        contexts.jsonl lacks it.
        """
        selection = self.by_context.get(row["context_sha256"])
        if selection is None:
            raise InputError(
                f"{self.folder / CONTEXTS}: lacks the memories that were retrieved for "
                f"{row['id']:.60}; restore the file from a copy, or run it again from the start"
            )
        return selection

    def filled(self, row: Row) -> Row:
        """Return the record `row` with the fields that it leaves out, if it does."""
        return row if "retrieved" in row else {**row, **self.of(row)._asdict()}

    def reduced(self, row: Record) -> Row:
        """Return the record `row` without the fields that contexts.jsonl has, if it does."""
        selection = self.by_context.get(row.get("context_sha256") or "")
        if selection is None or selection != (row["retrieved"], row.get("titles")):
            return cast(Row, row)
        return {name: value for name, value in row.items() if name not in Selection._fields}


@lru_cache(maxsize=65_536)
def session_of(turn: str) -> str:
    """Return the session of a turn id, which is the session's id, a colon and a number."""
    return turn.rpartition(":")[0]


def load_rankings(folder: Path, manifest: Manifest) -> dict[str, Ranked]:
    """Return the rankings of the run in `folder` by question id; {} where none are recorded.

    The last line of a question counts. Raises InputError naming the line and field that are
    invalid, or a memory that memories.jsonl lacks.
    """
    used = manifest.get("retrieval")
    path = folder / RANKINGS
    if used is None or not path.exists():
        return {}
    torn = manifest["status"] != "complete"
    memories, selections = load_memories(folder, manifest), Selections(folder)
    rankings: dict[str, Ranked] = {}
    equal: dict[tuple[str, str, str], Ranked] = {}  # by context, store and owner
    for line in read_lines(path, torn=torn, schema=RANKING_LINE, typed=True):
        id_ = line["id"]
        if "ranking" in line:
            rankings[id_] = as_ranked(cast(RankingLine, line), memories, manifest, path)
            continue
        same = line["context_sha256"], line["store"], _owner(id_)
        if same not in equal:
            whole = {**line, "ranking": [(row[0], row[2]) for row in selections.of(line).retrieved]}
            equal[same] = as_ranked(cast(RankingLine, whole), memories, manifest, path)
        rankings[id_] = replace(equal[same], question=id_)
    return rankings


def load_memories(folder: Path, manifest: Manifest) -> dict[tuple[str, str], MemoryLine]:
    """Return the memories in the rankings of the run in `folder` by store and id.

    Raises InputError naming the line and field that are invalid.
    """
    torn = manifest["status"] != "complete"
    rows = read_lines(folder / MEMORIES, torn=torn, schema=MEMORY_LINE, typed=True)
    return {(row["store"], row["id"]): cast(MemoryLine, row) for row in rows}


def as_ranked(
    line: RankingLine,
    memories: Mapping[tuple[str, str], MemoryLine],
    manifest: Manifest,
    path: Path = Path(RANKINGS),
) -> Ranked:
    """Return the ranking in a line of the file at `path`; `memories` by store and id.

    Raises InputError if one of its memories is missing.
    """
    used = manifest["retrieval"]
    assert used is not None  # noqa: S101 - for the type checker
    store = line["store"]
    try:
        rows = [memories[store, id_] for id_, _ in line["ranking"]]
    except KeyError as error:
        raise InputError(
            f"{path}: {line['id']}: {MEMORIES} lacks the memory {error.args[0][1]!r:.60}; run it "
            "again whole"
        ) from None
    depth, stores = used["depth"], manifest["stores"]
    owner = _owner(line["id"])  # its memories are all that the owner filter shows
    sizes = stores.get(owner) or stores.get(store, {})
    ended = not line["selected"] and line.get("complete", depth is None or len(rows) < depth)
    token_counts = [row["tokens"] for row in rows]
    tokens = None if None in token_counts else list(accumulate(cast(list[int], token_counts)))
    ids = [row["id"] for row in rows]
    if used["unit"] == SESSION:
        ranked, sessions = None, ids
    else:
        turns = [turn for row in rows for turn in row["turns"]]
        if tokens is not None:
            each = map(repeat, tokens, [len(row["turns"]) for row in rows])
            tokens = list(chain.from_iterable(each))
        ranked = _unit(turns, sizes.get("turns"), tokens, len(rows), ended=ended)
        sessions = list(map(session_of, turns))
    ranked_sessions = None
    if sizes.get("sessions") and all(sessions):
        ranked_sessions = _unit(sessions, sizes["sessions"], tokens, len(rows), ended=ended)
    ranking = tuple(zip(ids, [score for _, score in line["ranking"]], strict=True))
    return Ranked(line["id"], store, line["selected"], ranking, ranked, ranked_sessions)


def _owner(question: str) -> str:
    return question.rpartition("/")[0]


def _unit(
    ids: Sequence[str], size: int | None, tokens: Sequence[int] | None, depth: int, *, ended: bool
) -> UnitRanking:
    """Return the ranking of `ids` of `depth` memories; `tokens`: of all memories up to that of each
    id, None if unknown.
    """
    distinct, spent = tuple(dict.fromkeys(ids)), None
    if tokens is not None:
        first = dict(zip(reversed(ids), reversed(tokens), strict=True))
        spent = tuple(map(first.__getitem__, distinct))
    return UnitRanking(distinct, size, ended or len(distinct) == size, spent, depth)


def ranking_line(
    question: str, store: str, retrieval: Retrieval, context: str | None = None
) -> RankingLine:
    """Return the line of rankings.jsonl for a retrieval, with a ranking or a selection. `context`:
    sha256 of the context in contexts.jsonl that has the selection.
    """
    whole = retrieval.ranked_all
    if context is not None:
        line: RankingLine = {"id": question, "store": store, "selected": True, "complete": whole}
        return {**line, "context_sha256": context}
    ranking = retrieval.candidates if retrieval.ranking is None else retrieval.ranking
    # numpy rounds 8 times as fast as round().
    scores = np.array([candidate.score for candidate in ranking]).round(DIGITS).tolist()
    return {
        "id": question,
        "store": store,
        "selected": retrieval.ranking is None,
        "complete": whole,
        "ranking": [
            (candidate.memory.id, score) for candidate, score in zip(ranking, scores, strict=True)
        ],
    }


def ranked_turns(ranking: Sequence[Candidate], *, complete: bool) -> UnitRanking:
    """Return the turns of a recorded ranking, by RULE; `complete`: nothing follows."""
    turns = [turn for candidate in ranking for turn in candidate.memory.turns]
    return _unit(turns, None, None, len(ranking), ended=complete)


def manifest_fields(
    depth: int | None, conversations: Sequence[Conversation], *, by_owner: bool = False
) -> dict[str, Any]:
    """Return the manifest's fields on rankings of turns; `depth` as in conf/config.yaml. A store of
    documents has no number of sessions. `by_owner`: also the sizes of what each owner may see.
    """
    parts = {conversation.id: list(conversation.sessions) for conversation in conversations}
    if by_owner:
        for session in [session for c in conversations for session in c.sessions]:
            parts.setdefault(session.owner, []).append(session)
    sizes = {}
    for name, sessions in parts.items():
        sizes[name] = {"turns": sum(len(session.turns) for session in sessions)}
        if not are_documents(sessions):
            sizes[name]["sessions"] = len(sessions)
    used = None if depth is None else {"depth": depth, "unit": "turn", "rule": RULE}
    return {"retrieval": used, "stores": sizes}
