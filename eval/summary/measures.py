"""Measures of a comparison: a score, the question types on which runs are compared, and the
questions that runs have in common: those that all answered and that have a score in each.

A score is one of the records, or a measure of the rankings (eval.metrics.retrieval.registry).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.datasets.types import TYPES, types_in
from eval.metrics.harm import SHOWN, USED
from eval.metrics.registry import columns
from eval.metrics.retrieval.registry import EXAMPLES, parse
from eval.metrics.retrieval.registry import Measure as RankingMeasure
from eval.records.answer_key_views import left_out
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary import quantities, retrieval
from eval.summary.quantities import Quantity
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, check_choice

ABSTAINED, F1, JUDGE, RECALL = "abstained", "f1", "judge", "evidence_recall"
ADVERSARIAL = TYPES[5]
NOT_ASKED, FAILED, NO_SCORE = "not asked", "failed", "without this score"
ANOTHER = "another question under the same id"
UNANSWERED = ("recall@10", "ndcg@10")  # what runs without answers are compared by, of their unit


@dataclass(frozen=True, slots=True)
class Measure:
    """A score by its `key` in a record (or `abstained`) and the question types to compare.
    `ranking`: the measure of that name, where the score is computed from the rankings; `quantity`:
    the tokens, dollars or milliseconds that `key` names, which are no score.
    """

    key: str
    types: tuple[str, ...]
    ranking: RankingMeasure | None = None
    quantity: Quantity | None = None

    def score(self, run: Run, question: str) -> float | None:
        """Return the score of a question of `run`, None as `value` does.

        Raises InputError where the run's rankings do not determine it.
        """
        if self.ranking is not None:
            return retrieval.value(run, question, self.ranking)
        record = run.records[question]
        if self.quantity is not None:
            return self.quantity.of(run, record) if is_counted(record) else None
        return value(record, self.key)


def is_counted(record: Record) -> bool:
    """Return whether a question did not fail and is not excluded by the answer key."""
    return record["status"] == "ok" and not left_out(record)


def value(record: Record, key: str) -> float | None:
    """Return a question's score; None if it failed, has none or is excluded by the answer key."""
    if not is_counted(record):
        return None
    score = record["abstained"] if key == ABSTAINED else record["scores"].get(key)
    return None if score is None else float(score)


def lower_is_better(key: str, type_: str) -> bool:
    """Return True for harm, for what a question takes, and for abstention on questions with an
    answer: false refusals.
    """
    refusal = key == ABSTAINED and type_ != ADVERSARIAL
    return refusal or key in (SHOWN, USED) or quantities.find(key) is not None


def types_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the question types of the runs' data set, then overall: all but adversarial."""
    records = [record for run in runs for record in run.records.values()]
    return (*types_in(records).values(), OVERALL)


def chosen_types(runs: Sequence[Run], type_: str | None) -> tuple[str, ...]:
    """Return `type_` alone, or all types of the runs without it. Raises InputError on a type that
    their data set lacks.
    """
    types = types_of(runs)
    if not type_:
        return types
    check_choice("--type", type_, types)
    return (type_,)


def unanswered(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return what runs without answers are compared by: of sessions if a run ranked whole ones."""
    prefix = "session_" * (retrieval.unit_of(runs) == "session")
    return tuple(prefix + name for name in UNANSWERED)


def choose(runs: Sequence[Run], names: Sequence[str], type_: str | None) -> list[Measure]:
    """Return the measures for scores by `names` (of summaries, records or rankings) on `type_` (or
    all).

    Without names: the first run's F1, the judge's verdicts if all runs have some, and abstention,
    which replaces LoCoMo's phrase match on type 5; if a run has no answers, `unanswered`, and also
    if there are neither gold answers nor verdicts. Raises InputError if a run lacks a score, or the
    data set the type.
    """
    if not names and not all(run.has_answers for run in runs):
        names = unanswered(runs)
    elif not names and not any(map(has_key, runs)):
        names = (JUDGE,) if all(has_score(run, JUDGE) for run in runs) else unanswered(runs)
    types = chosen_types(runs, type_)
    if names:
        named = columns() | {F1: runs[0].own_f1}
        keys = dict.fromkeys(named.get(name, name) for name in names)
        return [_measure(runs, key, types) for key in keys]
    answers = [runs[0].own_f1]
    _check(runs, answers)
    if all(has_score(run, JUDGE) for run in runs):
        answers.append(JUDGE)
    if type_ == ADVERSARIAL:
        return [Measure(ABSTAINED, (type_,))]
    if type_:
        return [Measure(key, (type_,)) for key in answers]
    answered = tuple(name for name in types if name != ADVERSARIAL)
    return [
        *(Measure(key, answered) for key in answers),
        Measure(ABSTAINED, (ADVERSARIAL, OVERALL)),
    ]


def has_key(run: Run) -> bool:
    """Return whether the data set says of any question what is right."""
    records = run.records.values()
    return any(record["gold"] is not None or record["type"] == ADVERSARIAL for record in records)


def _measure(runs: Sequence[Run], key: str, types: tuple[str, ...]) -> Measure:
    if (quantity := quantities.find(key)) is not None:
        measure = Measure(key, types, quantity=quantity)
        for run in runs if not quantity.is_timed else ():
            if all(measure.score(run, id_) is None for id_ in run.records):
                raise InputError(f"{run.folder}: {key} is not known of any question")
        return measure
    if (ranking := _ranking(runs, key)) is None:
        _check(runs, [key])
    return Measure(key, types, ranking)


def _ranking(runs: Sequence[Run], key: str) -> RankingMeasure | None:
    """Return the measure of rankings that `key` names; None for a score that all records have.

    Raises InputError where no run has such a score, or the rankings do not determine it.
    """
    if all(has_score(run, key) for run in runs):
        return None
    try:
        measure = parse(key)
    except InputError:
        if "@" in key:
            raise
        return None
    retrieval.refuse_first_rank([measure])
    for run in runs:
        for problem in retrieval.unknown(run, [measure]).values():
            raise InputError(problem)
    return measure


def has_score(run: Run, key: str) -> bool:
    """Return whether any question that counts has the score."""
    return any(value(record, key) is not None for record in run.records.values())


def _check(runs: Sequence[Run], keys: Sequence[str]) -> None:
    for key in keys:
        for run in runs:
            if not has_score(run, key):
                names = {name for record in run.records.values() for name in record["scores"]}
                scores = [name for name in (*sorted(names), ABSTAINED) if has_score(run, name)]
                raise InputError(
                    f"{run.folder}: no record has the score {key!r}; it has "
                    f"{', '.join(scores) or 'none'}; rankings have {EXAMPLES}, and questions take "
                    f"{quantities.EXAMPLES}"
                )


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
        in_overall = OVERALL in measure.types and record["type"] != ADVERSARIAL
        if not in_overall and record["type"] not in measure.types:
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


def _state(run: Run, asked: Record, measure: Measure) -> float | str:
    """Return the run's score of the question, or the reason why there is none."""
    record = run.records.get(asked["id"])
    if record is None:
        return NOT_ASKED
    if record["question"] != asked["question"]:
        return ANOTHER
    if record["status"] != "ok":
        return FAILED
    score = measure.score(run, record["id"])
    return NO_SCORE if score is None else score


def same_data(run: Run, other: Run) -> bool:
    """Return whether two runs read the same data files, even if their names differ."""
    first, second = ({file["sha256"] for file in side.manifest["data"]} for side in (run, other))
    return first == second


def data_files(run: Run) -> str:
    """Name the data files of a run with the first 12 digits of their hashes."""
    return ", ".join(f"{file['name']} {file['sha256'][:12]}" for file in run.manifest["data"])
