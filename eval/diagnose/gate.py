"""When the gate opened, and when it should have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.diagnose.expansion import recall
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.intervals import Sample, by_type, difference_cells, percent, show, with_n
from eval.rendering.section import Section, Table
from eval.rendering.tables import type_name

_TITLE = "Gate"
CLOSED, WORDS = "closed", "word:"


@dataclass(frozen=True, slots=True)
class Case:
    """A question with evidence: the run's record and evidence recall with and without expansion."""

    record: Record
    direct: float
    expanded: float

    @property
    def opened(self) -> bool:
        """Whether the run's gate opened."""
        return bool(self.record["trace"]["gate"]["open"])

    @property
    def raised(self) -> bool:
        """Whether expansion raises evidence recall: the oracle gate opens here and nowhere else."""
        return self.expanded > self.direct

    @property
    def lowered(self) -> bool:
        """Whether expansion lowers evidence recall."""
        return self.expanded < self.direct


def cases(
    gated: Sequence[Record], direct: Sequence[Record], expanded: Sequence[Record]
) -> list[Case]:
    """The questions of types 1 to 4 with evidence that all three runs answered."""
    without, with_ = ({record["id"]: record for record in one} for one in (direct, expanded))
    return [
        Case(record, recall(without[record["id"]]), recall(with_[record["id"]]))
        for record in gated
        if record["evidence"]
        and record["category"] != ADVERSARIAL
        and record["id"] in without
        and record["id"] in with_
    ]


def gating(run: Run, found: Sequence[Case] | None) -> Section:
    """The section of `run`; `found`: its cases, None without the runs that they take."""
    if not run.retrieval_known:
        return Section(_TITLE, ["Not known: imported answers do not tell of a gate."])
    if not run.traces("gate"):
        return Section(_TITLE, [f"{run.strategy} records no gate."])
    seed = run.seed
    parts: list[str | Table] = [
        "Opened, by question type, and which rule decided on all of them:",
        _opened(run.counted, seed),
        _deciding(run.counted, seed),
    ]
    if found is None:
        parts.append(
            "How good the gate is takes --direct RUN and --expanded RUN, the same run with the "
            "gate always shut and always open."
        )
    elif not found:
        parts.append("No question of types 1-4 with evidence was answered by all three runs.")
    else:
        parts += [
            "Against an oracle gate, which opens where, and only where, expansion raises a "
            "question's evidence recall (types 1-4 with evidence). Precision: share of the opened "
            "questions that the oracle opens. Recall: share of the oracle's that were opened. "
            "Harmful: share of the opened where expansion lowers it.",
            against_oracle(found, seed),
            "Of each rule's questions, where expansion raises and lowers evidence recall, and the "
            "rule's part of all that the oracle opens (for closed: the part missed):",
            by_rule(found, seed),
            "Evidence recall by gate:",
            reached(found, seed),
            "This gate's evidence recall minus the other's, paired by question, p adjusted by "
            "Holm's method:",
            _differences(found, seed),
        ]
    return Section(_TITLE, parts)


def rules(records: Iterable[Record]) -> list[tuple[str, set[str]]]:
    """The rules that decided, each with the rules of the records it stands for.

    `similarity`, `word:<word>` and before these `word:(any)` if there are several; `closed` last.
    """
    present = {rule(record) for record in records}
    words = {name for name in present if name.startswith(WORDS)}
    found = [(name, {name}) for name in sorted(present)]
    if len(words) > 1:
        found.append((f"{WORDS}(any)", words))  # sorts before every word
    return sorted(found, key=lambda row: (row[0] == CLOSED, row[0]))


def rule(record: Record) -> str:
    """The rule that decided: `word:<word>`, `similarity` or `closed`."""
    return str(record["trace"]["gate"]["rule"])


def against_oracle(found: Sequence[Case], seed: int) -> Table:
    """Precision and recall against the oracle gate by type, each with its interval and n.

    `oracle opens` is also the precision of a gate that is always open.
    """
    rows = []
    for name, own in _typed(found):
        opened = [case for case in own if case.opened]
        wanted = [case for case in own if case.raised]
        rows.append(
            [
                name,
                with_n(_sample(own, [case.raised for case in own], seed).share()),
                with_n(_sample(opened, [case.raised for case in opened], seed).share()),
                with_n(_sample(wanted, [case.opened for case in wanted], seed).share()),
                with_n(_sample(opened, [case.lowered for case in opened], seed).share()),
            ]
        )
    return Table(["type", "oracle opens", "precision", "recall", "harmful"], rows)


def by_rule(found: Sequence[Case], seed: int) -> Table:
    """What expansion does where each rule decided, and each rule's part of the oracle's."""
    wanted = [case for case in found if case.raised]
    rows = []
    for name, names in rules(case.record for case in found):
        own = [case for case in found if rule(case.record) in names]
        part = [rule(case.record) in names for case in wanted]
        rows.append(
            [
                name,
                str(len(own)),
                percent(_sample(own, [case.raised for case in own], seed).share()),
                percent(_sample(own, [case.lowered for case in own], seed).share()),
                with_n(_sample(wanted, part, seed).share()),
            ]
        )
    return Table(["rule", "n", "raised", "lowered", "part of the oracle's"], rows)


def reached(found: Sequence[Case], seed: int) -> Table:
    """Mean evidence recall, 0 to 1, with the gate never, as in the run, always or rightly open.

    `room`: what the oracle gate adds to never opening, the most that any gate could.
    """
    rows = []
    for name, own in _typed(found):
        best = [max(case.direct, case.expanded) for case in own]
        gates = (
            [case.direct for case in own],
            [recall(case.record) for case in own],
            [case.expanded for case in own],
            best,
            [top - case.direct for top, case in zip(best, own, strict=True)],
        )
        figures = [_sample(own, values, seed).score() for values in gates]
        rows.append([name, str(len(own)), *map(show, figures)])
    return Table(["type", "n", "never", "this gate", "always", "oracle gate", "room"], rows)


def _differences(found: Sequence[Case], seed: int) -> Table:
    """The run's gate against never and always open, types 1 to 4 together."""
    records = [case.record for case in found]
    others = {
        "never open": [recall(case.record) - case.direct for case in found],
        "always open": [recall(case.record) - case.expanded for case in found],
    }
    cells = difference_cells([(records, values) for values in others.values()], seed)
    rows = [[name, str(len(found)), *row] for name, row in zip(others, cells, strict=True)]
    return Table(["against", "n", "recall difference", "p", "verdict"], rows)


def _opened(records: Sequence[Record], seed: int) -> Table:
    adversarial = [record for record in records if record["category"] == ADVERSARIAL]
    groups = [*by_type(records), *([(TYPES[ADVERSARIAL], adversarial)] if adversarial else [])]
    rows = []
    for name, own in groups:
        opened = [float(record["trace"]["gate"]["open"]) for record in own]
        rows.append([type_name(name), str(len(own)), percent(Sample.of(own, opened, seed).share())])
    return Table(["type", "n", "opened"], rows)


def _deciding(records: Sequence[Record], seed: int) -> Table:
    rows = []
    for name, names in rules(records):
        hits = [float(rule(record) in names) for record in records]
        share = percent(Sample.of(records, hits, seed).share())
        rows.append([name, f"{sum(hits):.0f}", share])
    return Table(["rule", "n", f"share of {len(records)} (types 1-5)"], rows)


def _typed(found: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    of = {case.record["id"]: case for case in found}
    groups = by_type([case.record for case in found])
    return [(type_name(name), [of[record["id"]] for record in own]) for name, own in groups]


def _sample(found: Sequence[Case], values: Sequence[float], seed: int) -> Sample:
    return Sample.of([case.record for case in found], [float(value) for value in values], seed)
