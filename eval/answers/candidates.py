"""The column of each field but the answer and the verdicts: candidates by name, chosen by contents.

Each function returns a column and the share of its values that fit, or None if no column fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.answers.column_names import is_key, named, rank_of
from eval.answers.contents import Contents

AMOUNTS = ("context_tokens", "search_seconds", "answer_seconds", "total_seconds")
Choice = tuple[str, float | None]  # the share is None where there is nothing to compare
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


def question_column(contents: Contents, free: Sequence[str]) -> Choice | None:
    """Return the column whose values are the data set's questions, else one of that name."""
    shares = {column: contents.questions(column) for column in free}
    by_name = (column for column in named("question", free) if contents.texts(column) > 0)
    column = _best(contents, "question", shares) or next(by_name, None)
    return None if column is None else (column, shares[column] if contents.index else None)


def id_column(contents: Contents, free: Sequence[str], question: str | None) -> Choice | None:
    """Return the column of ids of questions; one of that name if there is no `question`."""
    shares = {one: contents.ids(one, question) for one in free if not is_key(one)}
    by_name = named("id", shares)
    column = _best(contents, "id", shares)
    if column is None and question is None:
        column = next(iter(by_name), None)
    if column is None and contents.index is None:
        paths = (c for c in by_name if contents.share(c, lambda value: "/" in str(value)))
        column = next(paths, None)
    return None if column is None else (column, shares[column] if contents.index else None)


def conversation_column(contents: Contents, free: Sequence[str]) -> Choice | None:
    """Return the column of conversations: ids of the data set, or labels of rows whose questions
    are of one conversation each.
    """
    index, by_name = contents.index, named("conversation", free)
    keys = [column for column in free if is_key(column)]
    if index is None:
        return next(((column, None) for column in [*keys, *by_name]), None)
    shares: dict[str, float] = {}
    fitting: dict[str, float | None] = {}
    for column in dict.fromkeys([*by_name, *keys, *free]):
        listed = column in by_name or column in keys
        ids = contents.share(column, lambda one: str(one).strip() in index.conversations)
        agreeing = contents.agreement(column, lambda question: question.conversation)
        if ids >= _MOST and (agreeing is None or agreeing >= _MOST):
            shares[column], fitting[column] = 1 + ids, ids  # before all labels
        elif agreeing is None:
            if column in by_name or (column in keys and _are_labels(contents, column)):
                shares[column], fitting[column] = _MOST, None
        elif agreeing >= (_LISTED if listed else _ALL) and _are_labels(contents, column):
            shares[column] = fitting[column] = agreeing
    best = _best(contents, "conversation", shares)
    return None if best is None else (best, fitting[best])


def _are_labels(contents: Contents, column: str) -> bool:
    """Return whether the values could be labels of the data set's conversations."""
    index, distinct = contents.index, contents.distinct(column)
    if index is None or len(index.conversations) == len(index.by_id):
        return False
    filled = len(contents.filled(column))
    listed = is_key(column) or bool(named("conversation", [column]))
    return distinct <= _LABELS * len(index.conversations) and (listed or 2 * distinct <= filled)


def index_column(contents: Contents, free: Sequence[str], conversation: str) -> Choice | None:
    """Return the column of positions in `conversation`, by name, unless its values contradict."""
    for column in named("index", free):
        fitting = contents.positions(column, conversation)
        if fitting is None or fitting >= _MOST:
            return column, fitting
    return None


def gold_column(contents: Contents, free: Sequence[str]) -> Choice | None:
    """Return the column whose values are the gold answers, else one of that name."""
    shares = {column: contents.gold(column) for column in free if not is_key(column)}
    known = {column: share for column, share in shares.items() if share is not None}
    by_name = (column for column in named("gold", free) if contents.texts(column) >= _MOST)
    column = _best(contents, "gold", known) or next(by_name, None)
    return None if column is None else (column, shares.get(column))


def category_column(contents: Contents, free: Sequence[str]) -> Choice | None:
    """Return the column of categories by name, else one whose values go with the official ones."""
    shares: dict[str, float] = {}
    known: dict[str, float | None] = {}
    by_name = named("category", free)
    for column in free:
        filled = len(contents.filled(column))
        if not filled or contents.texts(column) < _MOST:
            continue
        agreeing = contents.agreement(column, lambda question: question.category)
        if column in by_name:
            shares[column], known[column] = _MOST if agreeing is None else agreeing, agreeing
            continue
        distinct = contents.distinct(column)
        few = 2 <= distinct <= _CATEGORIES and (5 * distinct <= filled or is_key(column))
        if agreeing is not None and agreeing >= _ALL and few:
            shares[column] = known[column] = agreeing
    best = next((c for c in by_name if c in shares), None) or _best(contents, "category", shares)
    return None if best is None else (best, known[best])


def amount_columns(contents: Contents, free: Sequence[str], field: str) -> dict[str, float]:
    """Return the columns of numbers that are added up as `field`, by name, with the share of
    numbers; none if no column fits.
    """
    for column in named(field, free):
        sparse = len(contents.filled(column)) * 2 < contents.rows
        if contents.amounts(column) >= _MOST or (sparse and rank_of(field, column) == 0):
            return {column: contents.amounts(column)}
    for pair in _TWO_SEARCHES if field == "search_seconds" else ():
        if set(pair) <= set(free):
            return {column: contents.amounts(column) for column in pair}
    return {}


def _best(contents: Contents, field: str, shares: Mapping[str, float]) -> str | None:
    """Return the column with the highest share, at least _MOST; of equal ones, the first that
    `field` may be read from by name.
    """
    fitting = {column: share for column, share in shares.items() if share >= _MOST}

    def key(column: str) -> tuple[float, int]:
        filled = round(contents.fullness(column), 2)
        return round(fitting[column], 2) * filled, -rank_of(field, column)

    return max(fitting, key=key, default=None)
