"""The fields of an answer, and how their columns are looked for: names give candidates, and
contents choose among them.
"""

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from eval.answers.answer_columns import answer_columns, verdict_columns
from eval.answers.layout import AMOUNTS, is_key, named, rank_of
from eval.answers.sheet import MOST, Sheet
from eval.metrics.registry import reported

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
Columns = Mapping[str, tuple[str, ...]]  # by field


class Finder(NamedTuple):
    """`find` returns the columns of a field, none if no column fits; several answers are rivals.
    `share` returns the share of a column's values that fit, None where nothing can be compared.
    """

    find: Callable[[Sheet], Columns]
    share: Callable[[Sheet, str], float | None]


def _question(sheet: Sheet) -> Columns:
    """Return the column whose values are the data set's questions, else one of that name."""
    best = sheet.best("question", {column: sheet.questions(column) for column in sheet.free})
    by_name = (column for column in named("question", sheet.free) if sheet.texts(column) > 0)
    return _entry("question", best or next(by_name, None))


def _id(sheet: Sheet) -> Columns:
    """Return the column of ids of questions; one of that name if there is no column of questions,
    or if its values are paths and there is no data set.
    """
    shares = {column: sheet.ids(column) for column in sheet.free if not is_key(column)}
    by_name = (
        column
        for column in named("id", shares)
        if sheet.first("question") is None
        or (sheet.index is None and sheet.share(column, lambda id_: "/" in str(id_)))
    )
    return _entry("id", sheet.best("id", shares) or next(by_name, None))


def _conversation(sheet: Sheet) -> Columns:
    """Return the column of conversations: ids of the data set, or labels of rows whose questions
    are of one conversation each.
    """
    by_name, keys = named("conversation", sheet.free), [c for c in sheet.free if is_key(c)]
    if sheet.index is None:
        return _entry("conversation", next(iter([*keys, *by_name]), None))
    shares: dict[str, float | None] = {}
    for column in dict.fromkeys([*by_name, *keys, *sheet.free]):
        listed, share = column in (*by_name, *keys), _in_conversation(sheet, column)
        if _conversation_ids(sheet, column) is not None:
            shares[column] = 1 + (share or 0.0)  # before all labels
        elif column in by_name and share is None:
            shares[column] = MOST
        elif _are_labels(sheet, column, listed=listed):
            if share is None and column in keys:
                shares[column] = MOST
            elif share is not None and share >= (_LISTED if listed else _ALL):
                shares[column] = share
    return _entry("conversation", sheet.best("conversation", shares))


def _in_conversation(sheet: Sheet, column: str) -> float | None:
    ids = _conversation_ids(sheet, column)
    return sheet.agreement(column, _conversation_of) if ids is None else ids


def _conversation_ids(sheet: Sheet, column: str) -> float | None:
    """Return the share of values that are ids of conversations; None if they are something else."""
    conversations = sheet.index.conversations if sheet.index else {}
    ids = sheet.share(column, lambda value: str(value).strip() in conversations)
    if ids < MOST:
        return None
    agreeing = sheet.agreement(column, _conversation_of)
    return ids if agreeing is None or agreeing >= MOST else None


def _are_labels(sheet: Sheet, column: str, *, listed: bool) -> bool:
    """Return whether the values could be labels of the data set's conversations."""
    index, distinct = sheet.index, sheet.distinct(column)
    if index is None or len(index.conversations) == len(index.by_id):
        return False
    few = listed or 2 * distinct <= len(sheet.filled[column])
    return distinct <= _LABELS * len(index.conversations) and few


def _index(sheet: Sheet) -> Columns:
    """Return the column of positions in the conversation, by name, unless its values contradict."""
    if "conversation" not in sheet.fields:
        return {}
    shares = {column: sheet.positions(column) for column in named("index", sheet.free)}
    fitting = (c for c, share in shares.items() if share is None or share >= MOST)
    return _entry("index", next(fitting, None))


def _gold(sheet: Sheet) -> Columns:
    """Return the column whose values are the gold answers, else one of that name."""
    shares = {column: sheet.gold(column) for column in sheet.free if not is_key(column)}
    by_name = (column for column in named("gold", sheet.free) if sheet.texts(column) >= MOST)
    return _entry("gold", sheet.best("gold", shares) or next(by_name, None))


def _category(sheet: Sheet) -> Columns:
    """Return the column of categories by name, else one whose values go with the official ones."""
    texts = [column for column in sheet.free if sheet.texts(column) >= MOST]
    if by_name := named("category", texts):
        return _entry("category", by_name[0])
    shares = {}
    for column in texts:
        distinct = sheet.distinct(column)
        few = is_key(column) or 5 * distinct <= len(sheet.filled[column])
        share = sheet.agreement(column, _category_of)
        if few and 2 <= distinct <= _CATEGORIES and share and share >= _ALL:
            shares[column] = share
    return _entry("category", sheet.best("category", shares))


def _amount(field: str, sheet: Sheet) -> Columns:
    """Return the columns of numbers that are added up as `field`, by name."""
    for column in named(field, sheet.own):
        own_name = sheet.sparse(column) and rank_of(field, column) == 0
        if own_name or sheet.amounts(column) >= MOST:
            return _entry(field, column)
    pairs = _TWO_SEARCHES if field == "search_seconds" else ()
    return next(({field: pair} for pair in pairs if set(pair) <= set(sheet.own)), {})


def _entry(field: str, column: str | None) -> Columns:
    return {} if column is None else {field: (column,)}


FINDERS: Mapping[str, Finder] = {  # in this order: most need the question of each row
    "question": Finder(_question, Sheet.questions),
    "id": Finder(_id, Sheet.ids),
    "conversation": Finder(_conversation, _in_conversation),
    "index": Finder(_index, Sheet.positions),
    "answer": Finder(lambda sheet: {"answer": tuple(answer_columns(sheet))}, Sheet.fullness),
    "gold": Finder(_gold, Sheet.gold),
    "category": Finder(_category, lambda sheet, column: sheet.agreement(column, _category_of)),
    "judge": Finder(verdict_columns, Sheet.verdicts),
    **{name: Finder(partial(_amount, name), Sheet.amounts) for name in (*AMOUNTS, *reported())},
    "error": Finder(
        lambda sheet: _entry("error", next(iter(named("error", sheet.own)), None)), Sheet.fullness
    ),
}
