"""The questions on which one run gains or loses most against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.compare.comparable import objections
from eval.datasets.types import ADVERSARIAL
from eval.rendering.blocks import Block, Deck, Part
from eval.rendering.numbers import signed
from eval.report.cards import Card, card
from eval.report.runs import Reported, missing_texts
from eval.summary.measures import JUDGE, Measure, value

LARGEST = 10  # gains and losses that are shown


@dataclass(frozen=True, slots=True)
class Change:
    """A question of types 1 to 4 by its score in a run minus that in the first run."""

    id: str
    difference: float


def changes(runs: Sequence[Reported]) -> Block | None:
    """The ten largest gains and losses of each run against the first; None with one run."""
    if len(runs) < 2:
        return None
    first, parts = runs[0], list[Part]()
    key = score_of(runs)
    for run in runs[1:]:
        if objections([first.run, run.run], [Measure(key, ())], [key]):
            parts.append(f"{run.label}: not compared with {first.label} (see the differences).")
            continue
        found = largest(first, run, key)
        for name, own in zip(("gains", "losses"), found, strict=True):
            if not own:
                parts.append(f"{run.label} has no {name} against {first.label} in {key}.")
                continue
            ends = dict.fromkeys(signed(one.difference, 2) for one in (own[0], own[-1]))
            title = f"{run.label} against {first.label}: largest {name} in {key}"
            title += f" ({len(own)}: {' to '.join(ends)})"
            parts.append(Deck(title, [_card(one.id, first, run) for one in own]))
    parts.append(
        f"By {key} of types 1-4, equal ones in the data set's order: examples, not figures. "
        "Evidence is marked in the contexts."
    )
    parts += [f"{told}." for told in missing_texts(runs)]
    return Block("changes", "Largest gains and losses", parts)


def score_of(runs: Sequence[Reported]) -> str:
    """The judge's verdicts where all runs have them, else the first run's own F1."""
    return JUDGE if all(run.judged for run in runs) else runs[0].marking.score


def difference(first: Reported, run: Reported, id_: str, key: str) -> float | None:
    """The run's score of a question minus the first run's; None unless both have one of the same
    question.
    """
    one, other = first.records.get(id_), run.records.get(id_)
    if one is None or other is None or one["question"] != other["question"]:
        return None
    scores = value(one, key), value(other, key)
    return None if scores[0] is None or scores[1] is None else scores[1] - scores[0]


def largest(first: Reported, run: Reported, key: str) -> tuple[list[Change], list[Change]]:
    """Gains, the largest first, and losses, the largest first, at most LARGEST of each."""
    found = [
        Change(id_, change)
        for id_, record in first.records.items()
        if record["category"] != ADVERSARIAL
        and (change := difference(first, run, id_, key)) is not None
    ]
    gains = sorted((one for one in found if one.difference > 0), key=lambda one: -one.difference)
    losses = sorted((one for one in found if one.difference < 0), key=lambda one: one.difference)
    return gains[:LARGEST], losses[:LARGEST]


def _card(id_: str, first: Reported, run: Reported) -> Card:
    return card([(one.label, one.records[id_], one.marking, one.texts) for one in (first, run)])
