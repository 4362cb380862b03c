"""When the gate opened, and when it should have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval.losing.expansion import recall
from eval.losing.figures import (
    Sample,
    by_type,
    difference_cells,
    label,
    percent,
    show,
    wilson_share,
    with_n,
)
from eval.losing.runs import Run
from eval.losing.section import Section, Table
from eval.questions import TYPES
from eval.records import Record
from eval.stats.paired import compare, holm

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
    def worth(self) -> bool:
        """Whether the oracle gate opens: only where expansion raises evidence recall."""
        return self.expanded > self.direct

    @property
    def harmful(self) -> bool:
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
        and record["category"] != 5
        and record["id"] in without
        and record["id"] in with_
    ]


def rule(record: Record) -> str:
    """The rule that decided: `word:<word>`, `similarity` or `closed`."""
    return str(record["trace"]["gate"]["rule"])


def rules(records: Sequence[Record]) -> list[tuple[str, Callable[[Record], bool]]]:
    """The rules that decided, words together and one by one, as name and test; `closed` last."""
    names = sorted({rule(record) for record in records}, key=lambda name: (name == CLOSED, name))
    words = [name for name in names if name.startswith(WORDS)]
    found: list[tuple[str, Callable[[Record], bool]]] = []
    for name in names:
        if len(words) > 1 and name == words[0]:
            found.append(("word:(any)", lambda record: rule(record).startswith(WORDS)))
        found.append((name, lambda record, name=name: rule(record) == name))  # type: ignore[misc]
    return found


def gating(run: Run, found: Sequence[Case] | None) -> Section:
    """The section of `run`; `found`: its cases, None without the runs that they take."""
    if not run.retrieval_known:
        return Section(_TITLE, ["Not known: imported answers do not tell of a gate."])
    if not run.traces("gate"):
        return Section(_TITLE, [f"{run.strategy} records no gate."])
    parts: list[str | Table] = [
        "Intervals of shares here are Wilson's, which take questions for independent.",
        "Opened, by question type, and which rule decided on all of them:",
        _opened(run.answered),
        _deciding(run.answered),
    ]
    if found is None:
        parts.append(
            "How good the gate is takes --direct RUN and --expanded RUN, the same run with the "
            "gate always shut and always open."
        )
    elif not found:
        parts.append("No question of types 1-4 with evidence was answered by all three runs.")
    else:
        seed = run.manifest["seed"]
        parts += [
            "Against an oracle gate, which opens where, and only where, expansion raises a "
            "question's evidence recall (types 1-4 with evidence). Precision: share of the opened "
            "questions that the oracle opens. Recall: share of the oracle's that were opened. "
            "Harmful: share of the opened where expansion lowers it.",
            against_oracle(found),
            "Of each rule's questions, where expansion raises and lowers evidence recall, and the "
            "rule's part of all that the oracle opens (for closed: the part missed):",
            _by_rule(found),
            "Evidence recall by gate (intervals over conversations):",
            reached(found, seed),
            "This gate's evidence recall minus the other's, in points of 100, types 1-4, p "
            "adjusted by Holm's method:",
            differences(found, seed),
            _room(found, seed),
        ]
    return Section(_TITLE, parts)


def _opened(records: Sequence[Record]) -> Table:
    groups = [*by_type(records), (TYPES[5], [r for r in records if r["category"] == 5])]
    rows = [
        [
            label(name),
            str(len(own)),
            percent(wilson_share([r["trace"]["gate"]["open"] for r in own])),
        ]
        for name, own in groups
        if own
    ]
    return Table(["type", "n", "opened"], rows)


def _deciding(records: Sequence[Record]) -> Table:
    rows = []
    for name, holds in rules(records):
        hits = [holds(record) for record in records]
        rows.append([name, str(sum(hits)), percent(wilson_share(hits))])
    return Table(["rule", "n", f"share of {len(records)} (types 1-5)"], rows)


def against_oracle(found: Sequence[Case]) -> Table:
    """Precision and recall against the oracle gate by type, each with Wilson's interval and n.

    `oracle opens` is also the precision of a gate that is always open.
    """
    by_id = {case.record["id"]: case for case in found}
    rows = []
    for name, records in by_type([case.record for case in found]):
        own = [by_id[record["id"]] for record in records]
        rows.append(
            [
                label(name),
                with_n(wilson_share([case.worth for case in own])),
                with_n(wilson_share([case.worth for case in own if case.opened])),
                with_n(wilson_share([case.opened for case in own if case.worth])),
                with_n(wilson_share([case.harmful for case in own if case.opened])),
            ]
        )
    return Table(["type", "oracle opens", "precision", "recall", "harmful"], rows)


def _by_rule(found: Sequence[Case]) -> Table:
    worth = [case for case in found if case.worth]
    rows = []
    for name, holds in rules([case.record for case in found]):
        own = [case for case in found if holds(case.record)]
        rows.append(
            [
                name,
                str(len(own)),
                percent(wilson_share([case.worth for case in own])),
                percent(wilson_share([case.harmful for case in own])),
                with_n(wilson_share([holds(case.record) for case in worth])),
            ]
        )
    return Table(["rule", "n", "raised", "lowered", "part of the oracle's"], rows)


def reached(found: Sequence[Case], seed: int) -> Table:
    """Mean evidence recall, 0 to 1, with the gate never, as in the run, always or rightly open."""
    by_id = {case.record["id"]: case for case in found}
    rows = []
    for name, records in by_type([case.record for case in found]):
        own = [by_id[record["id"]] for record in records]
        of = [record["conversation"] for record in records]
        gates = (
            [case.direct for case in own],
            [recall(case.record) for case in own],
            [case.expanded for case in own],
            [max(case.direct, case.expanded) for case in own],
        )
        rows.append(
            [label(name), str(len(own)), *(show(Sample(one, of, seed).score()) for one in gates)]
        )
    return Table(["type", "n", "never", "this gate", "always", "oracle gate"], rows)


def differences(found: Sequence[Case], seed: int) -> Table:
    """The run's gate against never and always open, paired by question."""
    others = {
        "never": [recall(case.record) - case.direct for case in found],
        "always": [recall(case.record) - case.expanded for case in found],
    }
    of = [case.record["conversation"] for case in found]
    compared = [compare(values, of, seed) for values in others.values()]
    adjusted = holm([difference.p for difference in compared])
    rows = [
        [name, str(len(found)), *difference_cells(difference, p)]
        for name, difference, p in zip(others, compared, adjusted, strict=True)
    ]
    return Table(["against", "n", "recall difference", "p", "verdict"], rows)


def _room(found: Sequence[Case], seed: int) -> str:
    gains = [max(case.expanded - case.direct, 0.0) for case in found]
    room = Sample(gains, [case.record["conversation"] for case in found], seed).score()
    return (
        f"The oracle gate reaches {show(room, 100, 1)} points more than never opening (n="
        f"{len(found)}): the most that any gate before this expansion could add."
    )
