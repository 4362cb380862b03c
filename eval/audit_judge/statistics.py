"""Verdicts of a judge on probes, and their statistics: wrong ones, effect of length, agreement, and
corrected shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean
from typing import Any

from pydantic_core import to_jsonable_python
from tqdm import tqdm

from eval.audit_judge.probes import KINDS, RIGHT, Probe
from eval.datasets.types import ADVERSARIAL, TYPES
from eval.judges.judge import Judge
from eval.metrics.stats.agreement import (
    CorrectedShare,
    PanelStatistics,
    Rate,
    corrected_share,
    fleiss_interval,
    majority,
    panel_statistics,
    rate,
)
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.sample import Sample
from eval.summary.summarise import OVERALL
from memsys.core.concurrency import run_jobs
from memsys.core.errors import InputError
from memsys.llm.base import LLMError

_PAIRS = (("gold", "gold_long"), ("wrong_specific", "wrong_long"))
WRONG = ("wrong_specific", "wrong_vague")
ENOUGH = 30  # probes of a question type from which its own rates are used
UNPROBED = Rate(0, 0, 0.0, (0.0, 1.0), None, 0.0)


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The verdicts on a probe by judge and run, or the error because of which there are none."""

    probe: Probe
    runs: Mapping[str, tuple[bool, ...]]
    error: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the majority of all verdicts passed the probe."""
        return majority([verdict for runs in self.runs.values() for verdict in runs])


def judge_probes(judge: Judge, probes: Sequence[Probe], workers: int = 1) -> list[ProbeOutcome]:
    """Return the outcome of each probe, in order, with a progress bar; `workers` at a time.

    An LLMError is the outcome of its probe; any other error ends the audit.
    """
    outcomes: dict[int, ProbeOutcome] = {}
    with tqdm(total=len(probes), desc=judge.name, unit="probe", disable=None) as bar:

        def ask(number: int, probe: Probe) -> None:
            outcomes[number] = _judge(judge, probe)
            bar.update()

        run_jobs([partial(ask, *numbered) for numbered in enumerate(probes)], workers)
    return [outcomes[number] for number in range(len(probes))]


def _judge(judge: Judge, probe: Probe) -> ProbeOutcome:
    try:
        judgement = judge.judge(probe.question, probe.gold, probe.answer)
    except LLMError as error:
        return ProbeOutcome(probe, {}, str(error))
    return ProbeOutcome(probe, judgement.runs)


@dataclass(frozen=True, slots=True)
class KindStatistics:
    """Probes of one kind: the number of errors, and the rate of wrong verdicts among the others.

    Wrong verdicts are false rejects of a right kind and false accepts of a wrong one; the rate is
    None without a verdict.
    """

    kind: str
    errors: int
    mistaken: Rate | None


@dataclass(frozen=True, slots=True)
class Audit:
    """All statistics of an audit.

    `false_rejects`: over the right kinds together. `lengths`: by bare kind, the rise of the share
    passed when the same answer is part of a long text, paired by question. `halves`: by wrong kind,
    the share passed of the half with fewer words and of the half with more. `self_agreement`:
    Fleiss' kappa over the runs of each judge with several runs. `panel`: None for a single judge.
    `conversations`: the number of these that the verdicts are on.
    """

    kinds: tuple[KindStatistics, ...]
    false_rejects: Rate | None
    lengths: dict[str, Interval]
    halves: dict[str, tuple[float, float]]
    self_agreement: dict[str, Interval]
    panel: PanelStatistics | None
    conversations: int


def audit(outcomes: Sequence[ProbeOutcome], seed: int = 0) -> Audit:
    """Return the statistics of `outcomes`; errors are counted and excluded from all rates."""
    judged = [outcome for outcome in outcomes if outcome.error is None]
    kinds = []
    for kind in KINDS:
        if asked := _pick(outcomes, kind):
            verdicts = _pick(judged, kind)
            errors = len(asked) - len(verdicts)
            kinds.append(KindStatistics(kind, errors, mistaken(verdicts, seed)))
    clusters = [outcome.probe.conversation for outcome in judged]
    names = list(judged[0].runs) if judged else []
    agreement = {}
    for name in names:
        runs = [outcome.runs[name] for outcome in judged]
        if len(runs[0]) > 1 and len({*map(len, runs)}) == 1:
            agreement[name] = fleiss_interval(runs, clusters, seed)
    several = len(names) > 1
    return Audit(
        tuple(kinds),
        mistaken(_pick(judged, *RIGHT), seed),
        {bare: rise for bare, long in _PAIRS if (rise := _rise(judged, bare, long, seed))},
        {kind: pair for kind in WRONG if (pair := _halves(_pick(judged, kind)))},
        agreement,
        panel_statistics([outcome.runs for outcome in judged], clusters, seed) if several else None,
        len({*clusters}),
    )


def mistaken(outcomes: Sequence[ProbeOutcome], seed: int = 0) -> Rate | None:
    """Return the rate of wrong verdicts: right probes rejected, wrong probes passed."""
    return rate(
        [outcome.passed != outcome.probe.right for outcome in outcomes],
        [outcome.probe.conversation for outcome in outcomes],
        seed,
    )


def _pick(outcomes: Sequence[ProbeOutcome], *kinds: str) -> list[ProbeOutcome]:
    return [outcome for outcome in outcomes if outcome.probe.kind in kinds]


def _rise(outcomes: Sequence[ProbeOutcome], bare: str, long: str, seed: int) -> Interval | None:
    """Return the share passed in the long form minus the bare one, over the questions with both."""
    passed = {outcome.probe.question_id: outcome.passed for outcome in _pick(outcomes, bare)}
    both = [outcome for outcome in _pick(outcomes, long) if outcome.probe.question_id in passed]
    rises = [float(outcome.passed) - float(passed[outcome.probe.question_id]) for outcome in both]
    return Sample(rises, [outcome.probe.conversation for outcome in both], seed).mean(-1.0, 1.0)


def _halves(outcomes: Sequence[ProbeOutcome]) -> tuple[float, float] | None:
    if len(outcomes) < 2:
        return None
    by_length = sorted(outcomes, key=lambda outcome: len(outcome.probe.answer.split()))
    passed, middle = [float(outcome.passed) for outcome in by_length], len(outcomes) // 2
    return fmean(passed[:middle]), fmean(passed[middle:])


@dataclass(frozen=True, slots=True)
class CorrectedType:
    """The apparent and corrected shares of right answers of one question type of a run.

    `corrected`: by kind of wrong answer, the share if all of the run's wrong answers were of that
    kind; None if no correction is possible. `own_rates`: whether the rates are from probes of this
    type only.
    """

    type: str
    apparent: Interval
    corrected: dict[str, CorrectedShare | None]
    own_rates: bool


def judged_records(run: Run, score_key: str) -> list[Record]:
    """Return the answered records of types 1-4 with a score `score_key`.

    Raises InputError if there are none.
    """
    answered = [record for record in run.records.values() if record["status"] == "ok"]
    judged = [
        record
        for record in answered
        if record["category"] != ADVERSARIAL and record["scores"].get(score_key) is not None
    ]
    if not judged:
        raise InputError(
            f"run={run.folder}: no record has a score {score_key}; name a run that this judge "
            "judged"
        )
    return judged


def correct(
    records: Sequence[Record], score_key: str, outcomes: Sequence[ProbeOutcome], seed: int = 0
) -> list[CorrectedType]:
    """Return apparent and corrected shares by type, overall (types 1-4) last.

    The rates are those of the probes of the same type if it has at least ENOUGH probes of each kind
    and of right ones, else of all probes. The rate of false rejects is taken as 0 if they were not
    probed.
    """
    judged = [outcome for outcome in outcomes if outcome.error is None]
    corrections = []
    for name in (*TYPES.values(), OVERALL):
        rows = [row for row in records if name in (OVERALL, row["type"])]
        scores = [row["scores"][score_key] for row in rows]
        apparent = Sample.of(rows, scores, seed).mean()
        if apparent is None:
            continue
        of_type = [outcome for outcome in judged if outcome.probe.type == name]
        groups = [kinds for kinds in (RIGHT, *((kind,) for kind in WRONG)) if _pick(judged, *kinds)]
        own = name != OVERALL and all(len(_pick(of_type, *kinds)) >= ENOUGH for kinds in groups)
        used = of_type if own else judged
        rejects = mistaken(_pick(used, *RIGHT), seed) or UNPROBED
        shares = {
            kind: corrected_share(
                apparent.value, apparent.error, accepts, rejects, apparent.degrees
            )
            for kind in WRONG
            if (accepts := mistaken(_pick(used, kind), seed))
        }
        corrections.append(CorrectedType(name, apparent.within(), shares, own))
    return corrections


def as_json(audit: Audit, corrected: Sequence[CorrectedType]) -> dict[str, Any]:
    """Return all statistics as plain JSON; nan and infinity become null."""
    plain = asdict(audit) | {"corrected": [asdict(row) for row in corrected]}
    if (panel := audit.panel) is not None:
        plain["panel"]["pairs"] = [
            {"members": pair, **asdict(kappa)} for pair, kappa in panel.pairs.items()
        ]
        plain["panel"]["all"] = plain["panel"].pop("all_members")
    return to_jsonable_python(plain, inf_nan_mode="null")  # type: ignore[no-any-return]
