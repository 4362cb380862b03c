"""Which questions count: those that every run answered and that have a score in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.measures import ADVERSARIAL, Measure, value
from eval.summary.summarise import OVERALL

NOT_ASKED, FAILED, NO_SCORE = "not asked", "failed", "without this score"
ANOTHER = "another question under the same id"


@dataclass(frozen=True, slots=True)
class Shared:
    """Questions that count for a measure, in the first run's order, and those that do not.

    `scores`: shape (runs, questions). `why`: for each run by label, how many of the left-out
    questions lack what in it.
    """

    ids: tuple[str, ...]
    types: NDArray[np.str_]
    conversations: NDArray[np.str_]
    scores: NDArray[np.float64]
    left_out: tuple[str, ...]
    why: Mapping[str, Mapping[str, int]]

    def of(self, type_: str) -> NDArray[np.bool_]:
        """Which questions are of `type_`; overall is every type but adversarial."""
        own = self.types != ADVERSARIAL if type_ == OVERALL else self.types == type_
        return np.asarray(own, dtype=np.bool_)


def share(runs: Sequence[Run], measure: Measure) -> Shared:
    """Sort the questions of all runs for `measure`.

    Left out is a question that has the score in some runs only, or that failed in all that asked
    it. One that has no such score in any run is not spoken of: the score does not apply.
    """
    asked = {id_: record for run in reversed(runs) for id_, record in run.records.items()}
    order = dict.fromkeys(id_ for run in runs for id_ in run.records)
    counted: list[tuple[Record, list[float]]] = []
    left_out: list[str] = []
    why: dict[str, Counter[str]] = {run.label: Counter() for run in runs}
    for id_ in order:
        record = asked[id_]
        if not _meant(record, measure):
            continue
        states = [_state(run, record, measure.key) for run in runs]
        scores = [state for state in states if isinstance(state, float)]
        if len(scores) == len(runs):
            counted.append((record, scores))
        elif scores or FAILED in states:
            left_out.append(id_)
            for run, state in zip(runs, states, strict=True):
                if isinstance(state, str):
                    why[run.label][state] += 1
    return Shared(
        tuple(record["id"] for record, _ in counted),
        np.array([record["type"] for record, _ in counted], dtype=np.str_),
        np.array([record["conversation"] for record, _ in counted], dtype=np.str_),
        np.array([scores for _, scores in counted], dtype=np.float64).reshape(-1, len(runs)).T,
        tuple(left_out),
        {label: dict(counts) for label, counts in why.items() if counts},
    )


def _meant(record: Record, measure: Measure) -> bool:
    own = record["type"]
    return own in measure.types or (OVERALL in measure.types and own != ADVERSARIAL)


def _state(run: Run, asked: Record, key: str) -> float | str:
    """The run's score of the question, or why there is none."""
    record = run.records.get(asked["id"])
    if record is None:
        return NOT_ASKED
    if record["question"] != asked["question"]:
        return ANOTHER
    if record["status"] != "ok":
        return FAILED
    found = value(record, key)
    return NO_SCORE if found is None else found
