"""What each column of a file of answers means, by its name and by its contents.

Names give candidates (columns.yaml) and contents decide: a column means the question if its values
are the data set's questions, whatever its name, and never the answer if its values are the gold
answers and another column may be the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from eval.answers.column_names import (
    ANSWER_HINT,
    NAMES,
    OTHER_TEXT,
    is_key,
    named,
    rank_of,
    snake,
)
from eval.answers.containers import RowList
from eval.answers.contents import Contents, QuestionIndex
from eval.answers.layout import Layout, expand
from eval.answers.rivals import are_rivals
from eval.answers.verdict_columns import verdict_columns
from eval.datasets.types import Dataset
from eval.metrics.registry import reported
from memsys.text.files import shown

MOST = 0.5  # share of values from which contents give a column its meaning
_ALL = 0.95
_CLOSE_TO_BEST = 0.9  # share of the matched rows that another list of answers has as well
_CLOSE = 0.03  # overlap of words with the gold answer that an unlisted column of answers has
_AMOUNTS = ("context_tokens", "search_seconds", "answer_seconds", "total_seconds")
_FREE = {"answer", "error"}  # fields of which any value fits
_CATEGORIES = 30
_PATTERN = len(NAMES["answer"]) - 1  # of names such as gpt-4o_prediction
_CONTEXT = 3_000  # mean characters of a text that is too long for an answer
# Mem0 searches the memories of both speakers, one after the other.
_TWO_SEARCHES = (
    ("speaker_1_memory_time", "speaker_2_memory_time"),
    ("speaker1_memory_time", "speaker2_memory_time"),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A line of the table of columns.

    `meaning`: the field that is read from it, None if it is not read. `share`: of its values, those
    that fit the meaning, 0 to 1.
    """

    name: str
    meaning: str | None
    share: float | None
    example: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """How to read one list of rows: the columns of each field, and the table of all columns.

    `problem`: why it cannot be read, None if it can.
    """

    rows: RowList
    columns: Mapping[str, tuple[str, ...]]
    table: tuple[Column, ...]
    problem: str | None
    matched: float

    @property
    def layout(self) -> Layout:
        """The layout by which the file can be read again."""
        return Layout(None, self.rows.path, self.columns, whole=True)


def propose(
    lists: Sequence[RowList], dataset: Dataset | None, given: Layout | None = None
) -> Proposal:
    """Return how to read the one of `lists` that matches most questions and has an answer.

    `dataset`: None where names alone have to decide. `given`: columns that the user has named.
    """
    index = None if dataset is None else QuestionIndex(dataset)
    found = [_propose(one, index, given or Layout()) for one in lists]
    best = max(found, key=lambda one: (one.problem is None, one.matched, one.rows.count))
    rivals = [
        one.rows.path
        for one in found
        if one.problem is None
        and (one is best or _CLOSE_TO_BEST * best.matched <= one.matched)
        and (one is best or are_rivals(best.rows, best.columns, one.rows, one.columns))
    ]
    if best.problem is not None or len(rivals) < 2:
        return best
    names = shown(", ".join(rivals))
    problem = f"several lists answer the same questions: {names}; name one by --rows"
    return replace(best, problem=problem)


def _propose(rows: RowList, index: QuestionIndex | None, given: Layout) -> Proposal:
    contents = Contents(rows.sample, index)
    reading = _Reading(contents, given)
    reading.read()
    meanings = {one: field for field, columns in reading.columns.items() for one in columns}
    table = tuple(
        Column(
            name,
            meanings.get(name),
            reading.share(name, meanings.get(name)),
            contents.example(name),
        )
        for name in contents.columns
    )
    known = sum(map(bool, contents.known)) if index is not None else contents.rows
    texts = {*reading.columns.get("question", ()), *reading.columns.get("answer", ())}
    if len(texts) > 1 and texts <= contents.inherited:
        known = 0  # a list within a row, such as what was retrieved
    matched = rows.count * known / max(1, contents.rows)
    return Proposal(rows, reading.columns, table, reading.problem, matched)


class _Reading:
    """Assigns the columns of one list, field after field; each column means one field."""

    def __init__(self, contents: Contents, given: Layout) -> None:
        self.contents = contents
        self.columns: dict[str, tuple[str, ...]] = {}
        self.shares: dict[str, float] = {}
        self.problem: str | None = None
        self._given = given

    def share(self, column: str, field: str | None) -> float | None:
        """Return the share of values that fit the meaning `field`; None if that is not known."""
        if field in _FREE:
            return self.contents.fullness(column)
        return None if field is None else self.shares.get(column)

    def read(self) -> None:
        """Assign all fields, or say in `problem` why that is impossible."""
        self._take_given()
        one = {name: columns[0] for name, columns in self.columns.items()}
        if not self._given.whole:
            for field, assign in (
                ("question", self._question),
                ("id", self._id),
            ):
                if field not in one:
                    assign()
        self._identify()
        if not self._given.whole:
            for field, assign in (
                ("conversation", self._conversation),
                ("index", self._index),
                ("answer", self._answer),
                ("gold", self._gold),
                ("category", self._category),
                ("judge", self._judge),
            ):
                if field not in one:
                    assign()
            self._others()
        self._drop_id()
        self._check()

    def _take_given(self) -> None:
        present = self.contents.columns
        for field, patterns in self._given.columns.items():
            found = [expand(pattern, present) for pattern in patterns]
            missing = [p for p, columns in zip(patterns, found, strict=True) if not columns]
            several = list(dict.fromkeys(column for columns in found for column in columns))
            if missing and not self._given.whole:
                self.problem = f"no column {missing[0]!r:.60} for {field}; {self._present()}"
            elif field in ("answer", "question") and len(several) > 1:
                self.problem = self._ambiguous(field, several)
            elif not missing:
                self.columns[field] = tuple(several)

    def _present(self) -> str:
        return f"columns found: {shown(', '.join(self.contents.columns))}"

    def _ambiguous(self, field: str, columns: Sequence[str]) -> str:
        names = shown(", ".join(columns))
        return f"several columns may be the {field}: {names}; name one by --columns {field}=COLUMN"

    def _free(self) -> list[str]:
        """Return the columns without a meaning."""
        used = {column for columns in self.columns.values() for column in columns}
        return [column for column in self.contents.columns if column not in used]

    def _own(self) -> list[str]:
        """Return those of the rows, not of what encloses them, such as the mean of a file."""
        return [column for column in self._free() if column not in self.contents.inherited]

    def _assign(self, field: str, column: str | None, share: float | None = None) -> None:
        if column is not None:
            self.columns[field] = (column,)
            if share is not None:
                self.shares[column] = share

    def _best(self, field: str, shares: Mapping[str, float]) -> str | None:
        """Return the column with the highest share, at least MOST; of equal ones, the first that
        `field` may be read from by name.
        """
        fitting = {column: share for column, share in shares.items() if share >= MOST}
        return max(
            fitting,
            key=lambda c: (round(fitting[c], 2) * self._filled(c), -rank_of(field, c)),
            default=None,
        )

    def _filled(self, column: str) -> float:
        return round(self.contents.fullness(column), 2)

    def _question(self) -> None:
        contents = self.contents
        shares = {column: contents.questions(column) for column in self._free()}
        by_name = [one for one in named("question", self._free()) if contents.texts(one) > 0]
        column = self._best("question", shares) or next(iter(by_name), None)
        if column is not None:
            known = shares[column] if contents.index else None
            self._assign("question", column, known)

    def _id(self) -> None:
        contents = self.contents
        question = self.columns.get("question", (None,))[0]
        free = [column for column in self._free() if not is_key(column)]
        shares = {column: contents.ids(column, question) for column in free}
        column = self._best("id", shares)
        if column is None and "question" not in self.columns:
            column = next(iter(named("id", self._free())), None)
        if column is None and contents.index is None:
            by_name = named("id", self._free())
            column = next((c for c in by_name if contents.share(c, lambda v: "/" in str(v))), None)
        self._assign("id", column, shares.get(column or "") if contents.index else None)

    def _identify(self) -> None:
        question, id_ = (self.columns.get(name, (None,))[0] for name in ("question", "id"))
        self.contents.identify(question, id_)

    def _conversation(self) -> None:
        """Assign the column of conversations: ids of the data set, or labels of rows whose
        questions are of one conversation each.
        """
        contents, index = self.contents, self.contents.index
        by_name = named("conversation", self._free())
        keys = [one for one in self._free() if is_key(one)]
        candidates = [*by_name, *keys]
        if index is None:
            self._assign("conversation", next(iter([*keys, *by_name]), None))
            return
        shares: dict[str, float] = {}
        uncertain: set[str] = set()
        for column in dict.fromkeys([*candidates, *self._free()]):
            ids = contents.share(column, lambda one: str(one).strip() in index.conversations)
            agreeing = contents.agreement(column, lambda question: question.conversation)
            if ids >= MOST and (agreeing is None or agreeing >= MOST):
                shares[column] = 1 + ids
            elif agreeing is None:
                if column in candidates:
                    shares[column] = MOST
                    uncertain.add(column)
            elif agreeing >= (0.9 if column in candidates else _ALL) and self._groups(column):
                shares[column] = agreeing
        best = self._best("conversation", shares)
        if best is not None:
            share = None if best in uncertain else shares[best] - (shares[best] > 1)
            self._assign("conversation", best, share)

    def _groups(self, column: str) -> bool:
        """Return whether the values could be labels of the data set's conversations."""
        index, distinct = self.contents.index, self.contents.distinct(column)
        if index is None or len(index.conversations) == len(index.by_id):
            return False
        filled = len(self.contents.filled(column))
        listed = is_key(column) or bool(named("conversation", [column]))
        return distinct <= 4 * len(index.conversations) and (listed or 2 * distinct <= filled)

    def _index(self) -> None:
        contents = self.contents
        conversation = self.columns.get("conversation")
        for column in named("index", self._free()) if conversation else ():
            fitting = contents.positions(column, conversation[0]) if conversation else None
            if fitting is None or fitting >= MOST:
                self._assign("index", column, fitting)
                return

    def _answer(self) -> None:
        """Assign the column of answers.

        A column of gold answers is the answer only if no other column may be. An unlisted column is
        the answer if it is the only remaining text, or the only one whose words are close to the
        gold answers.
        """
        contents, free = self.contents, self._free()
        by_name = [
            column
            for column in named("answer", free)
            if contents.texts(column) >= MOST or len(contents.filled(column)) * 2 < contents.rows
        ]
        filled = [column for column in by_name if contents.filled(column)]
        right = [column for column in filled if (contents.gold(column) or 0.0) < _ALL]
        if right:
            first = [one for one in right if rank_of("answer", one) == rank_of("answer", right[0])]
            if len(first) > 1 and rank_of("answer", first[0]) == _PATTERN:
                self.problem = self._ambiguous("answer", first)
            else:
                self._assign("answer", right[0])
            return
        certain = [c for c in filled if not named("gold", [c])]
        if not certain:
            unlisted = self._texts()
            if len(unlisted) == 1:
                self._assign("answer", unlisted[0])
                return
            if len(unlisted) > 1 and not filled:
                self.problem = self._ambiguous("answer", unlisted)
                return
        self._assign("answer", next(iter([*certain, *filled, *by_name]), None))

    def _texts(self) -> list[str]:
        """Return the unlisted columns that may be the answer."""
        contents = self.contents
        found = []
        for column in self._free():
            if is_key(column) or named("gold", [column]) or named("category", [column]):
                continue
            filled = contents.filled(column)
            varied = contents.distinct(column) > max(1, len(filled) // 10)
            plain = all(isinstance(one, str) for one in filled)
            fits = plain and varied and contents.length(column) < _CONTEXT
            if fits and not contents.verdicts(column, fractions=True) >= MOST:
                fits = contents.amounts(column) < MOST
                if fits and (contents.gold(column) or 0.0) < _ALL:
                    found.append(column)
        narrower: list[Callable[[str], bool]] = [
            lambda column: not OTHER_TEXT.search(snake(column)),
            lambda column: contents.closeness(column) >= _CLOSE,
            lambda column: bool(ANSWER_HINT.search(snake(column))),
        ]
        for fits_better in narrower:
            if len(found) > 1:
                found = [column for column in found if fits_better(column)] or found
        return found

    def _gold(self) -> None:
        contents = self.contents
        shares = {c: contents.gold(c) for c in self._free() if not is_key(c)}
        known = {column: share for column, share in shares.items() if share is not None}
        column = self._best("gold", known)
        if column is None:
            by_name = [c for c in named("gold", self._free()) if contents.texts(c) >= MOST]
            column = next(iter(by_name), None)
        self._assign("gold", column, None if column is None else shares.get(column))

    def _category(self) -> None:
        contents = self.contents
        shares: dict[str, float] = {}
        known: dict[str, float | None] = {}
        for column in self._free():
            listed = bool(named("category", [column]))
            if not contents.filled(column) or contents.texts(column) < MOST:
                continue
            agreeing = contents.agreement(column, lambda question: question.category)
            distinct = contents.distinct(column)
            if listed:
                shares[column] = MOST if agreeing is None else agreeing
                known[column] = agreeing
            elif (
                agreeing is not None
                and agreeing >= _ALL
                and 2 <= distinct <= _CATEGORIES
                and (5 * distinct <= len(contents.filled(column)) or is_key(column))
            ):
                shares[column] = known[column] = agreeing
        by_name = named("category", shares)
        best = next(iter(by_name), None) or self._best("category", shares)
        self._assign("category", best, known.get(best or ""))

    def _judge(self) -> None:
        answer = self.columns.get("answer", (None,))[0]
        found = verdict_columns(self.contents, self._own(), answer)
        self.columns |= found
        for columns in found.values():
            for column in columns:
                self.shares[column] = self.contents.verdicts(column, fractions=True)

    def _others(self) -> None:
        """Assign numbers, errors and stored scores, which go by their names if their values fit."""
        contents = self.contents
        for field in (*_AMOUNTS, *reported()):
            if field in self.columns:
                continue
            pair = next((p for p in _TWO_SEARCHES if set(p) <= set(self._free())), None)
            for column in named(field, self._own()):
                sparse = len(contents.filled(column)) * 2 < contents.rows
                if contents.amounts(column) >= MOST or (sparse and rank_of(field, column) == 0):
                    self._assign(field, column, contents.amounts(column))
                    break
            else:
                if field == "search_seconds" and pair is not None:
                    self.columns[field] = pair
        if "error" not in self.columns:
            self._assign("error", next(iter(named("error", self._own())), None))

    def _drop_id(self) -> None:
        if {"conversation", "index"} <= self.columns.keys() and "id" not in self._given.columns:
            self.columns.pop("id", None)

    def _check(self) -> None:
        if self.problem is not None:
            return
        index = self.contents.index
        if index is not None and any(map(index.of_words, self.contents.columns)):
            self.problem = "its first line is a row, not a header; add the names of the columns"
        elif "answer" not in self.columns:
            self.problem = (
                f"no column for the answer; name it by --columns answer=COLUMN ({self._present()})"
            )
        elif not self.columns.keys() & {"question", "id", "index"}:
            self.problem = (
                "no column for the question; name it by --columns question=COLUMN, or give its "
                f"place in the conversation's qa list as qa_index ({self._present()})"
            )
