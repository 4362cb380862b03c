"""The questions with the largest gains and losses of a run against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.analyse.compare.comparable import objections
from eval.datasets.types import ADVERSARIAL
from eval.metrics.retrieval.registry import parse
from eval.pages.report.cards import question_card
from eval.pages.report.runs import ReportedRun, missing_texts
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Block, Card, Deck, Part
from eval.rendering.numbers import signed
from eval.rendering.tables import answered
from eval.summary.measures import JUDGE, Measure, has_key, types_of, unanswered
from eval.summary.retrieval import unit_of
from memsys.core.errors import InputError

LARGEST = 10  # gains, and losses, that are shown


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """A question of types 1 to 4, and its score in a run minus that in the first run."""

    id: str
    difference: float


def changes_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the largest gains and losses of each run against the first; None with one run."""
    if len(runs) < 2:
        return None
    first, parts = runs[0], list[Part]()
    measure = score_of(runs)
    key = measure.key
    for run in runs[1:]:
        if objections([first, run], [measure], [key]):
            parts.append(f"{run.label}: not compared with {first.label} (see the differences).")
            continue
        found = gains_and_losses(first, run, measure)
        for name, all_ in zip(("gains", "losses"), found, strict=True):
            if not all_:
                parts.append(f"{run.label} has no {name} against {first.label} in {key}.")
                continue
            shown = all_[:LARGEST]
            ends = dict.fromkeys(signed(one.difference, 2) for one in (shown[0], shown[-1]))
            title = f"{run.label} against {first.label}: {len(shown)} of {len(all_)} {name} in "
            title += f"{key} ({' to '.join(ends)})"
            parts.append(Deck(title, [_card(one, first, run) for one in shown]))
    parts.append(
        f"By {key} on {answered(types_of(runs))}; equal changes are in the order of the data set. "
        "These are examples, not statistics. Evidence is marked in the contexts."
    )
    parts += [f"{sentence}." for sentence in missing_texts(runs)]
    return Block("changes", "Largest gains and losses", parts)


def _card(one: QuestionChange, first: ReportedRun, run: ReportedRun) -> Card:
    card = question_card(one.id, (first, run))
    return replace(card, change=signed(one.difference, 2))


def score_of(runs: Sequence[ReportedRun]) -> Measure:
    """Return the score that ranks changes: the judge's if all runs have it, else the first F1;
    recall of evidence, which records have for turns alone, where a run has no answers, or where
    there are neither gold answers nor verdicts.
    """
    unscored = not any(map(has_key, runs)) and not all(run.judged for run in runs)
    if unscored or not all(run.has_answers for run in runs):
        name = unanswered(runs)[0]
        return Measure(name, (), parse(name) if unit_of(runs) == "session" else None)
    return Measure(JUDGE if all(run.judged for run in runs) else runs[0].own_f1, ())


def score_in(run: Run, asked: Record, measure: Measure) -> float | None:
    """Return the score of a question in `run`; None if it did not ask it with the same text as the
    record `asked`, or has no score.
    """
    record = run.records.get(asked["id"])
    if record is None or record["question"] != asked["question"]:
        return None
    try:
        return measure.score(run, asked["id"])
    except InputError:  # the rankings do not determine it, as the differences say
        return None


def gains_and_losses(
    first: Run, run: Run, measure: Measure
) -> tuple[list[QuestionChange], list[QuestionChange]]:
    """Return all gains and all losses, each sorted from the largest."""
    found = []
    for id_, record in first.records.items():
        before, after = (score_in(one, record, measure) for one in (first, run))
        if record["category"] != ADVERSARIAL and before is not None and after is not None:
            found.append(QuestionChange(id_, after - before))
    gains = sorted((one for one in found if one.difference > 0), key=lambda one: -one.difference)
    losses = sorted((one for one in found if one.difference < 0), key=lambda one: one.difference)
    return gains, losses
