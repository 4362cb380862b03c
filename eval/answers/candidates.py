"""The fields of an answer, and how their columns are found: names give candidates, and contents
choose among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from eval.answers.answer_columns import Columns, answer_columns, verdict_columns
from eval.answers.column_names import is_key, named, rank_of
from eval.answers.contents import Contents
from eval.metrics.registry import reported

_MOST = 0.5  # share of values from which contents give a column its meaning
_ALL = 0.95
_LISTED = 0.9  # share from which a label under a listed name goes with a conversation
_LABELS = 4  # labels for each conversation, at most, such as one for each of its sessions
_CATEGORIES = 30
# Mem0 searches the memories of both speakers, one after the other.
_TWO_SEARCHES = (
    ("speaker_1_memory_time", "speaker_2_memory_time"),
    ("speaker1_memory_time", "speaker2_memory_time"),
)
_category_of, _conversation_of = attrgetter("category"), attrgetter("conversation")


@dataclass(frozen=True, slots=True)
class Draft:
    """The columns of the fields that have been looked for.

    `contents`: with the questions that the columns name, once these have been looked for.
    """

    contents: Contents
    columns: Columns

    def first(self, field: str) -> str | None:
        """Return the first column of a field, None if it has none."""
        return next(iter(self.columns.get(field, ())), None)

    @property
    def free(self) -> list[str]:
        """Columns without a meaning."""
        used = {column for several in self.columns.values() for column in several}
        return [column for column in self.contents.columns if column not in used]

    @property
    def own(self) -> list[str]:
        """Those of the rows, not of what encloses them, such as the mean of a file."""
        return [column for column in self.free if column not in self.contents.inherited]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an answer.

    `find`: returns its columns, none if no column fits; several answers are rivals. `share`:
    returns the share of a column's values that fit, None where there is nothing to compare.
    """

    name: str
    find: Callable[[Draft], Columns]
    share: Callable[[Draft, str], float | None]


def _question(draft: Draft) -> Columns:
    """Return the column whose values are the data set's questions, else one of that name."""
    contents, free = draft.contents, draft.free
    by_name = (column for column in named("question", free) if contents.texts(column) > 0)
    best = _best(contents, "question", {column: contents.questions(column) for column in free})
    return _one("question", best or next(by_name, None))


def _id(draft: Draft) -> Columns:
    """Return the column of ids of questions; one of that name if there is no column of questions,
    or if its values are paths and there is no data set.
    """
    contents, question = draft.contents, draft.first("question")
    shares = {one: contents.ids(one, question) for one in draft.free if not is_key(one)}
    by_name = named("id", shares)
    best = _best(contents, "id", shares)
    if best is None and question is not None:
        paths = contents.index is None
        by_name = [c for c in by_name if paths and contents.share(c, lambda one: "/" in str(one))]
    return _one("id", best or next(iter(by_name), None))


def _conversation(draft: Draft) -> Columns:
    """Return the column of conversations: ids of the data set, or labels of rows whose questions
    are of one conversation each.
    """
    contents, free = draft.contents, draft.free
    by_name, keys = named("conversation", free), [column for column in free if is_key(column)]
    if contents.index is None:
        return _one("conversation", next(iter([*keys, *by_name]), None))
    shares: dict[str, float | None] = {}
    for column in dict.fromkeys([*by_name, *keys, *free]):
        share = _in_conversation(draft, column)
        if _conversation_ids(contents, column) is not None:
            shares[column] = 1 + (share or 0.0)  # before all labels
        elif share is None:
            if column in by_name or (column in keys and _are_labels(contents, column)):
                shares[column] = _MOST
        elif share >= (_LISTED if column in (*by_name, *keys) else _ALL) and _are_labels(
            contents, column
        ):
            shares[column] = share
    return _one("conversation", _best(contents, "conversation", shares))


def _in_conversation(draft: Draft, column: str) -> float | None:
    contents = draft.contents
    if contents.index is None:
        return None
    ids = _conversation_ids(contents, column)
    return contents.agreement(column, _conversation_of) if ids is None else ids


def _conversation_ids(contents: Contents, column: str) -> float | None:
    """Return the share of values that are ids of conversations; None if they are something else."""
    conversations = contents.index.conversations if contents.index else {}
    ids = contents.share(column, lambda one: str(one).strip() in conversations)
    if ids < _MOST:
        return None
    agreeing = contents.agreement(column, _conversation_of)
    return ids if agreeing is None or agreeing >= _MOST else None


def _are_labels(contents: Contents, column: str) -> bool:
    """Return whether the values could be labels of the data set's conversations."""
    index, distinct = contents.index, contents.distinct(column)
    if index is None or len(index.conversations) == len(index.by_id):
        return False
    listed = is_key(column) or bool(named("conversation", [column]))
    few = listed or 2 * distinct <= len(contents.filled(column))
    return distinct <= _LABELS * len(index.conversations) and few


def _index(draft: Draft) -> Columns:
    """Return the column of positions in the conversation, by name, unless its values contradict."""
    if "conversation" not in draft.columns:
        return {}
    shares = {column: _position(draft, column) for column in named("index", draft.free)}
    fitting = (c for c, share in shares.items() if share is None or share >= _MOST)
    return _one("index", next(fitting, None))


def _position(draft: Draft, column: str) -> float | None:
    conversation = draft.first("conversation")
    return None if conversation is None else draft.contents.positions(column, conversation)


def _gold(draft: Draft) -> Columns:
    """Return the column whose values are the gold answers, else one of that name."""
    contents, free = draft.contents, draft.free
    shares = {column: contents.gold(column) for column in free if not is_key(column)}
    by_name = (column for column in named("gold", free) if contents.texts(column) >= _MOST)
    return _one("gold", _best(contents, "gold", shares) or next(by_name, None))


def _category(draft: Draft) -> Columns:
    """Return the column of categories by name, else one whose values go with the official ones."""
    contents, free = draft.contents, draft.free
    filled = [one for one in free if contents.filled(one) and contents.texts(one) >= _MOST]
    by_name = [column for column in named("category", free) if column in filled]
    if by_name:
        return _one("category", by_name[0])
    shares = {one: contents.agreement(one, _category_of) for one in filled}
    fitting = {
        column: share
        for column, share in shares.items()
        if share and share >= _ALL and _are_categories(contents, column)
    }
    return _one("category", _best(contents, "category", fitting))


def _are_categories(contents: Contents, column: str) -> bool:
    distinct = contents.distinct(column)
    few = is_key(column) or 5 * distinct <= len(contents.filled(column))
    return 2 <= distinct <= _CATEGORIES and few


def _amount(field: str, draft: Draft) -> Columns:
    """Return the columns of numbers that are added up as `field`, by name."""
    contents = draft.contents
    for column in named(field, draft.own):
        sparse = len(contents.filled(column)) * 2 < contents.rows
        if contents.amounts(column) >= _MOST or (sparse and rank_of(field, column) == 0):
            return _one(field, column)
    pairs = _TWO_SEARCHES if field == "search_seconds" else ()
    return next(({field: pair} for pair in pairs if set(pair) <= set(draft.own)), {})


def _error(draft: Draft) -> Columns:
    return _one("error", next(iter(named("error", draft.own)), None))


def _one(field: str, column: str | None) -> Columns:
    return {} if column is None else {field: (column,)}


def _best(contents: Contents, field: str, shares: Mapping[str, float | None]) -> str | None:
    """Return the column with the highest share, at least _MOST; of equal ones, the first that
    `field` may be read from by name.
    """
    fitting = {column: share for column, share in shares.items() if share and share >= _MOST}

    def key(column: str) -> tuple[float, int]:
        filled = round(contents.fullness(column), 2)
        return round(fitting[column], 2) * filled, -rank_of(field, column)

    return max(fitting, key=key, default=None)


def _judge_share(draft: Draft, column: str) -> float:
    return draft.contents.verdicts(column, fractions=True)


def _fullness(draft: Draft, column: str) -> float:
    return draft.contents.fullness(column)


_AMOUNTS = ("context_tokens", "search_seconds", "answer_seconds", "total_seconds")
IDENTIFYING = (
    Field("question", _question, lambda draft, column: draft.contents.questions(column)),
    Field("id", _id, lambda draft, column: draft.contents.ids(column, draft.first("question"))),
)
FURTHER = (  # need the question of each row
    Field("conversation", _conversation, _in_conversation),
    Field("index", _index, _position),
    Field("answer", lambda draft: answer_columns(draft.contents, draft.free), _fullness),
    Field("gold", _gold, lambda draft, column: draft.contents.gold(column)),
    Field("category", _category, lambda draft, c: draft.contents.agreement(c, _category_of)),
    Field(
        "judge",
        lambda draft: verdict_columns(draft.contents, draft.own, draft.first("answer")),
        _judge_share,
    ),
    *(
        Field(name, partial(_amount, name), lambda draft, column: draft.contents.amounts(column))
        for name in (*_AMOUNTS, *reported())
    ),
    Field("error", _error, _fullness),
)
SHARES = {field.name: field.share for field in (*IDENTIFYING, *FURTHER)}
SHARES["judge_runs"] = _judge_share
