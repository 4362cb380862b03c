"""Rates of harm by kind of plant: wrong values shown and used, and facts refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from eval.datasets.types import PLANT_KINDS, PlantKind
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.records.schema import IngestLine, Record
from eval.summary.sample import Sample
from memsys.core.errors import InputError

HarmMeasure = Literal["shown", "used", "refused"]
MEASURES: tuple[HarmMeasure, ...] = get_args(HarmMeasure)
FORGET, UNSUPPORTED = "forget", "unsupported"  # step and result of events in ingest.jsonl


@dataclass(frozen=True, slots=True)
class Harm:
    """A rate of harm: of `n` questions about plants of a kind, with its 95% interval; None if all
    of them failed. `errors`: questions that failed, which are not among the n.
    """

    kind: PlantKind
    measure: HarmMeasure
    n: int
    errors: int
    rate: Interval | None


@dataclass(frozen=True, slots=True)
class Deletions:
    """Deletion requests of a run: turns to be deleted, and how many of them the system cannot
    delete, by its own report.
    """

    requested: int
    unsupported: int


def harms(run: Run) -> list[Harm]:
    """Return the rates that `run` determines: `shown` (a wrong value in the context), `used` (one
    in the answer) and, over the controls, `refused` (no answer although the fact is there).

    Raises InputError if no question is about planted facts.
    """
    planted = _planted(run)
    if not planted:
        raise InputError(
            f"{run.label}: no question is about planted facts; use runs on dataset=planted, or on "
            "dataset=synthetic with dataset.plants"
        )
    found = []
    for kind in PLANT_KINDS:
        of_kind = [record for record in planted if record["plant"]["kind"] == kind]
        for measure in MEASURES:
            asked = _asked(of_kind, measure)
            harm = _harm(kind, measure, asked, run.seed)
            found += [harm] if harm is not None else []
    return found


def errors(run: Run, measure: HarmMeasure) -> int:
    """Return how many of the questions that `measure` is about failed, each counted once."""
    return sum(record["status"] != "ok" for record in _asked(_planted(run), measure))


def _planted(run: Run) -> list[Record]:
    return [record for record in run.records.values() if "plant" in record]


def _asked(planted: Iterable[Record], measure: HarmMeasure) -> list[Record]:
    """Return the controls for `refused`, all other questions for the other measures."""
    control = measure == "refused"
    return [record for record in planted if record["plant"]["control"] == control]


def _harm(kind: PlantKind, measure: HarmMeasure, asked: Sequence[Record], seed: int) -> Harm | None:
    """Return the rate; None where the measure is not defined for these questions."""
    answered = [record for record in asked if record["status"] == "ok"]
    if not answered:
        defined = asked and (kind, measure) != ("absent", "shown")
        return Harm(kind, measure, 0, len(asked), None) if defined else None
    values = [_value(record, measure) for record in answered]
    rate = Sample.of(answered, values, seed).share()
    return None if rate is None else Harm(kind, measure, rate.n, len(asked) - len(answered), rate)


def _value(record: Record, measure: HarmMeasure) -> float | None:
    if measure == "refused":
        return None if record["abstained"] is None else float(record["abstained"])
    return record["scores"].get(SHOWN if measure == "shown" else USED)


def deletions(lines: Iterable[IngestLine]) -> Deletions:
    """Return what the events of ingest.jsonl say about deletion requests."""
    events: list[Mapping[str, object]] = [
        event for line in lines for event in line.get("events", ()) if event.get("step") == FORGET
    ]
    return Deletions(
        sum(_turns(event) for event in events),
        sum(_turns(event) for event in events if event.get("result") == UNSUPPORTED),
    )


def _turns(event: Mapping[str, object]) -> int:
    turns = event.get("turns")
    return len(turns) if isinstance(turns, Sequence) else 0
