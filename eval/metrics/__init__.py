"""Metrics, each with formula and source. This module defines their base classes."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Scores = dict[str, float | None]
AppliesTo = Literal["gold", "answer", "retrieval", "sessions", "ranking", "plant"]


@dataclass(frozen=True, slots=True)
class Answered:
    """The data of an answered question that a metric receives.

    `category` is the question type's id, 5 where abstaining is right; `gold` is None where the
    question has no answer. `evidence` and `retrieved` are turn ids, `sessions` the ids of sessions
    that count as evidence. `ranked` is the recorded ranking of turn ids, `ranked_all` whether
    nothing follows, `ranked_to` the number of ranks that are known otherwise. `has_answer`: False
    where nobody answered. `retrieved`, `sessions` and `ranked` are None where they are unknown.
    `abstained`: whether the answer is a refusal. `plant`: the record's field, None without one.
    """

    category: int
    gold: str | None
    answer: str
    evidence: Collection[str] = ()
    retrieved: Collection[str] | None = None
    sessions: Collection[str] | None = None
    ranked: Sequence[str] | None = None
    ranked_all: bool = False
    ranked_to: int = 0
    has_answer: bool = True
    question: str = ""
    id: str = ""
    abstained: bool | None = None
    plant: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """A score of one answered question. Subclasses add their parameters and `score`.

    `name`: key in a record's `scores`. `column`: key in a cell of a summary (the name, if empty).
    `title`: heading in tables (the name with spaces, if empty). `applies_to`: "gold", questions
    with a gold answer; "answer", all questions; "retrieval", those whose retrieved turns are known;
    "sessions", those among them that name evidence sessions; "ranking", those with a recorded
    ranking; "plant", those about planted facts. Keys of sessions and plants are absent from the
    records of other questions.
    Where a metric does not apply, the score is None and `score` is not called. `order`: rank
    among the scores of a record. `in_tables`: shown in the tables of runs. `pinned`: compared by
    `memsys regress`. `reported_as`: column of the same score in result files of Mem0's scripts.
    """

    name: str
    title: str = ""
    column: str = ""
    applies_to: AppliesTo = "gold"
    order: int = 100
    in_tables: bool = True
    pinned: bool = False
    reported_as: str = ""

    def __post_init__(self) -> None:
        """Fill in title and column."""
        object.__setattr__(self, "title", self.title or self.name.replace("_", " "))
        object.__setattr__(self, "column", self.column or self.name)

    @property
    def everywhere(self) -> bool:
        """Whether all records have its key."""
        return self.applies_to not in ("sessions", "plant")

    @abstractmethod
    def score(self, answered: Answered) -> float | None:
        """Return the score, 0 to 1, or None where there is none, which is not 0."""

    def applies(self, answered: Answered) -> bool:
        """Return whether `answered` has what `applies_to` requires."""
        kind = self.applies_to
        if kind in ("gold", "answer"):
            return answered.has_answer and (kind == "answer" or answered.gold is not None)
        if kind == "ranking":
            return answered.ranked is not None
        field = answered.plant if kind == "plant" else answered.retrieved
        return field is not None


@dataclass(frozen=True, kw_only=True)
class Computed(Metric):
    """A metric that is a function of an answered question."""

    compute: Callable[[Answered], float | None]

    def score(self, answered: Answered) -> float | None:
        """See Metric."""
        return self.compute(answered)


def of_texts(compute: Callable[[str, str], float]) -> Callable[[Answered], float | None]:
    """Return `compute`, of an answer and the gold answer, as a function of an answered question."""
    return lambda answered: (
        None if answered.gold is None else compute(answered.answer, answered.gold)
    )


def in_common(answer: Sequence[str], wanted: Sequence[str]) -> int:
    """Return the number of tokens that two bags share: of each token, the smaller count."""
    distinct = set(wanted)  # the gold answer, which is short
    shared = distinct.intersection(answer)
    if not shared or len(distinct) == len(wanted) or len(set(answer)) == len(answer):
        return len(shared)
    have, want = (Counter(filter(shared.__contains__, tokens)) for tokens in (answer, wanted))
    return sum(min(have[token], want[token]) for token in shared)


def overlap_f1(common: int, answer_size: int, gold_size: int) -> float:
    """Return the F1, 0 to 1, of two bags or sets of tokens from their sizes; 0 if none is common.

    F1 = 2PR / (P + R), P = common / answer_size, R = common / gold_size (van Rijsbergen, 1979).
    """
    if common == 0:
        return 0.0
    precision, recall = common / answer_size, common / gold_size
    return 2 * precision * recall / (precision + recall)


def bag_f1(answer: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the F1, 0 to 1, of two bags of tokens."""
    return overlap_f1(in_common(answer, wanted), len(answer), len(wanted))
