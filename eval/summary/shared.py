"""Questions that runs have in common: those that all answered and that have a score in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.measures import ADVERSARIAL, Measure
from eval.summary.summarise import OVERALL

NOT_ASKED, FAILED, NO_SCORE = "not asked", "failed", "without this score"
ANOTHER = "another question under the same id"


@dataclass(frozen=True, slots=True)
class Shared:
    """The questions included in a measure, in the first run's order, and the ids of excluded ones.

    `scores`: shape (runs, questions). `why`: by run label, the number of left-out questions by
    reason.
    """

    ids: tuple[str, ...]
    types: NDArray[np.str_]
    conversations: NDArray[np.str_]
    scores: NDArray[np.float64]
    left_out: tuple[str, ...]
    why: Mapping[str, Mapping[str, int]]

    def of(self, type_: str) -> NDArray[np.bool_]:
        """Return a mask of the questions of `type_`; overall is every type but adversarial."""
        mask = self.types != ADVERSARIAL if type_ == OVERALL else self.types == type_
        return np.asarray(mask, dtype=np.bool_)


def share(runs: Sequence[Run], measure: Measure) -> Shared:
    """Divide the questions of all runs into those that count for `measure` and those left out.

    A question is left out if some runs lack the score, or if it failed in all that asked it. A
    question without the score in any run appears in neither: the score does not apply.
    """
    asked = {id_: record for run in reversed(runs) for id_, record in run.records.items()}
    order = dict.fromkeys(id_ for run in runs for id_ in run.records)
    counted: list[tuple[Record, list[float]]] = []
    left_out: list[str] = []
    why: dict[str, Counter[str]] = {run.label: Counter() for run in runs}
    for id_ in order:
        record = asked[id_]
        if not _in_types(record, measure):
            continue
        states = [_state(run, record, measure) for run in runs]
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


def _in_types(record: Record, measure: Measure) -> bool:
    type_ = record["type"]
    return type_ in measure.types or (OVERALL in measure.types and type_ != ADVERSARIAL)


def _state(run: Run, asked: Record, measure: Measure) -> float | str:
    """Return the run's score of the question, or the reason why there is none."""
    record = run.records.get(asked["id"])
    if record is None:
        return NOT_ASKED
    if record["question"] != asked["question"]:
        return ANOTHER
    if record["status"] != "ok":
        return FAILED
    found = measure.score(run, record["id"])
    return NO_SCORE if found is None else found


def same_data(run: Run, other: Run) -> bool:
    """Return whether two runs read the same data files, even if their names differ."""
    first, second = ({file["sha256"] for file in one.manifest["data"]} for one in (run, other))
    return first == second


def data_files(run: Run) -> str:
    """Name the data files of a run with the first 12 digits of their hashes."""
    return ", ".join(f"{file['name']} {file['sha256'][:12]}" for file in run.manifest["data"])
