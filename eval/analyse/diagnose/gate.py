"""Decisions of the gate, by rule and against an oracle gate."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from eval.datasets.types import ADVERSARIAL, TYPES
from eval.metrics.evidence import evidence_recall
from eval.metrics.stats.interval import Interval
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table
from eval.rendering.contrasts import difference_cells
from eval.rendering.numbers import interval, percent
from eval.rendering.tables import type_name
from eval.summary.contrast import paired_contrasts
from eval.summary.sample import Sample, by_type
from memsys.core.terms import is_cjk
from memsys.core.yaml_text import load_table

TEXTS = load_table(Path(__file__).with_name("texts.yaml"))  # of all sections
_TITLE = "Gate"
CLOSED, WORDS = "closed", "word:"
_HEADER = (
    *("questions", "n, type 5", "abstained (correct)", "official phrase match"),
    *("n, types 1-4", "false refusals"),
)
ORIGINS = DIRECT, EXPANDED = "direct", "expanded"


@dataclass(frozen=True, slots=True)
class Case:
    """A question with evidence: the record of the gated run, and its evidence recall (0 to 1) with
    expansion off (`direct`) and on (`expanded`).
    """

    record: Record
    direct: float
    expanded: float

    @property
    def opened(self) -> bool:
        """Whether the run's gate opened."""
        return bool(self.record["trace"]["gate"]["open"])

    @property
    def raised(self) -> bool:
        """Whether expansion raises evidence recall, that is, whether the oracle gate opens."""
        return self.expanded > self.direct

    @property
    def lowered(self) -> bool:
        """Whether expansion lowers evidence recall."""
        return self.expanded < self.direct


class GateShares(NamedTuple):
    """Shares of questions, None where the number to divide by is 0.

    `opened` and `raised`: of all questions. `precision`: raised among the opened. `recall`: opened
    among the raised. `harmful`: lowered among the opened.
    """

    opened: Interval | None
    raised: Interval | None
    precision: Interval | None
    recall: Interval | None
    harmful: Interval | None


def cases(
    gated: Sequence[Record], direct: Sequence[Record], expanded: Sequence[Record]
) -> list[Case]:
    """Return the questions of types 1 to 4 with evidence that all three runs answered."""
    off, on = (
        {record["id"]: record for record in records if record["status"] == "ok"}
        for records in (direct, expanded)
    )
    return [
        Case(record, recall(off[record["id"]]), recall(on[record["id"]]))
        for record in gated
        if record["status"] == "ok" and record["evidence"] and record["category"] != ADVERSARIAL
        if record["id"] in off and record["id"] in on
    ]


def gate_shares(group: Sequence[Case], seed: int) -> GateShares:
    """Compare the gate of these cases with the oracle gate."""
    opened = [case for case in group if case.opened]
    raised = [case for case in group if case.raised]
    return GateShares(
        _share_of(group, lambda case: case.opened, seed),
        _share_of(group, lambda case: case.raised, seed),
        _share_of(opened, lambda case: case.raised, seed),
        _share_of(raised, lambda case: case.opened, seed),
        _share_of(opened, lambda case: case.lowered, seed),
    )


def _share_of(group: Sequence[Case], hit: Callable[[Case], bool], seed: int) -> Interval | None:
    return sample(group, [*map(hit, group)], seed).share()


def sample(group: Sequence[Case], values: Sequence[float], seed: int) -> Sample:
    """Build a sample of one value for each case."""
    return Sample.of([case.record for case in group], values, seed)


def found_turns(record: Record, origin: str | None = None) -> set[str]:
    """Return the evidence turns that were retrieved, of one origin or of both (None).

    A turn that was found both ways is direct.
    """
    by_origin = record["evidence_found"] or {"direct": [], "expanded": []}
    direct = set(by_origin["direct"])
    if origin is None:
        return direct | set(by_origin["expanded"])
    return direct if origin == DIRECT else set(by_origin["expanded"]) - direct


def recall(record: Record) -> float:
    """Return evidence recall, 0 to 1, of a question with evidence."""
    return evidence_recall(record["evidence"], found_turns(record)) or 0.0


def gate(run: Run, all_cases: Sequence[Case] | None) -> Section:
    """Return the section on the gate of `run`; `all_cases`: None without the other runs."""
    if not run.retrieval_known:
        return Section(_TITLE, ["Unknown: imported answers do not include decisions of a gate."])
    if not run.traces("gate"):
        return Section(_TITLE, [f"{run.strategy} records no gate."])
    seed, records, rows = run.seed, run.counted, []
    for name, group in [*by_type(records), (TYPES[ADVERSARIAL], _adversarial(records))]:
        if group:
            opened = [record["trace"]["gate"]["open"] for record in group]
            rows.append([type_name(name), str(len(group)), _share(group, opened, seed)])
    deciding = []
    for name, names in rules(records):
        hits = [rule(record) in names for record in records]
        deciding.append([name, str(sum(hits)), _share(records, hits, seed)])
    parts: list[str | Table] = [
        "Opened, by question type, and which rule decided on all of them:",
        Table(["type", "n", "opened"], rows),
        Table(["rule", "n", f"share of {len(records)} (types 1-5)"], deciding),
    ]
    if all_cases is None:
        parts.append(TEXTS["gate"]["others"])
    elif not all_cases:
        parts.append("No question of types 1-4 with evidence was answered by all three runs.")
    else:
        parts += [
            TEXTS["gate"]["oracle"],
            against_oracle(all_cases, seed),
            TEXTS["gate"]["by_rule"],
            by_rule(all_cases, seed),
            "Evidence recall by gate:",
            reached(all_cases, seed),
            TEXTS["gate"]["differences"],
            _differences(all_cases, seed),
        ]
    return Section(_TITLE, parts)


def rules(records: Iterable[Record]) -> list[tuple[str, set[str]]]:
    """Return the names of table rows with the rules that each covers.

    `similarity`, `word:<word>`, preceded by `word:(any)` if there are several; `closed` last.
    """
    present = {rule(record) for record in records}
    words = {name for name in present if name.startswith(WORDS)}
    rows = [(name, {name}) for name in sorted(present)]
    if len(words) > 1:
        rows.append((f"{WORDS}(any)", words))  # sorts before every word
    return sorted(rows, key=lambda row: (row[0] == CLOSED, row[0]))


def rule(record: Record) -> str:
    """Return the rule that decided: `word:<word>`, `similarity` or `closed`."""
    return str(record["trace"]["gate"]["rule"])


def against_oracle(all_cases: Sequence[Case], seed: int) -> Table:
    """Return precision and recall against the oracle gate by type, with intervals and n.

    `oracle opens` is also the precision of a gate that is always open.
    """
    rows = []
    for name, group in _groups(all_cases):
        rates = gate_shares(group, seed)
        shares = (rates.raised, rates.precision, rates.recall, rates.harmful)
        rows.append([name, *(percent(share, with_n=True) for share in shares)])
    return Table(["type", "oracle opens", "precision", "recall", "harmful"], rows)


def by_rule(all_cases: Sequence[Case], seed: int) -> Table:
    """Return the effect of expansion by the rule that decided, and the oracle's share by rule."""
    rows = []
    oracle = [case for case in all_cases if case.raised]
    for name, names in rules(case.record for case in all_cases):
        group = [case for case in all_cases if rule(case.record) in names]
        raised = _share_of(group, lambda case: case.raised, seed)
        lowered = _share_of(group, lambda case: case.lowered, seed)
        part = sample(oracle, [rule(case.record) in names for case in oracle], seed).share()
        cells = [percent(raised), percent(lowered), percent(part, with_n=True)]
        rows.append([name, str(len(group)), *cells])
    return Table(["rule", "n", "raised", "lowered", "share of the oracle's"], rows)


def reached(all_cases: Sequence[Case], seed: int) -> Table:
    """Return mean evidence recall, 0 to 1, with the gate never open, as in the run, always open,
    and as the oracle.

    `room`: gain of the oracle gate over never opening, the upper bound of any gate.
    """
    gates: dict[str, Callable[[Case], float]] = {
        "never": lambda case: case.direct,
        "this gate": lambda case: recall(case.record),
        "always": lambda case: case.expanded,
        "oracle gate": lambda case: max(case.direct, case.expanded),
        "room": lambda case: max(case.direct, case.expanded) - case.direct,
    }
    rows = []
    for name, group in _groups(all_cases):
        means = (sample(group, [*map(gate, group)], seed).score() for gate in gates.values())
        rows.append([name, str(len(group)), *map(interval, means)])
    return Table(["type", "n", *gates], rows)


def _differences(all_cases: Sequence[Case], seed: int) -> Table:
    """Return differences of the run's gate to never and always open, types 1 to 4 together."""
    never = [recall(case.record) - case.direct for case in all_cases]
    always = [recall(case.record) - case.expanded for case in all_cases]
    others = {"never open": never, "always open": always}
    named = {name: sample(all_cases, values, seed) for name, values in others.items()}
    return differences("against", named)


def differences(heading: str, named: Mapping[str, Sample]) -> Table:
    """Return a row for each of the `named` samples of differences in recall."""
    judged = paired_contrasts(list(named.values()))
    cells = zip(named.items(), map(difference_cells, judged), strict=True)
    rows = [[name, str(len(gaps.values)), *texts] for (name, gaps), texts in cells]
    return Table([heading, "n", "recall difference", "p", "verdict"], rows)


def _groups(all_cases: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    groups = by_type(all_cases, lambda case: case.record)
    return [(type_name(name), group) for name, group in groups]


def abstention(run: Run) -> Section:
    """Return the section on both kinds of abstention, by language if there are two."""
    records = run.counted
    chinese = [record for record in records if is_cjk(record["question"])]
    english = [record for record in records if not is_cjk(record["question"])]
    groups = [("all", records)]
    if chinese and english:
        groups += [("English", english), ("Chinese", chinese)]
    rows = []
    for name, group in groups:
        adversarial, others = _adversarial(group), [*filter(_answerable, group)]
        phrases = [record["scores"].get("locomo_f1") for record in adversarial]
        refused, matched = _abstained(adversarial, run.seed), _share(adversarial, phrases, run.seed)
        false = _abstained(others, run.seed)
        rows.append([name, str(len(adversarial)), refused, matched, str(len(others)), false])
    parts: list[str | Table] = [TEXTS["abstention"], Table(_HEADER, rows)]
    if not _adversarial(records):
        parts.append("Correct abstention is unknown: there is no question of type 5.")
    if not any(map(_answerable, records)):
        parts.append("False refusals are unknown: there is no question of types 1-4.")
    return Section("Abstention", parts)


def _answerable(record: Record) -> bool:
    return record["category"] != ADVERSARIAL


def _adversarial(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if not _answerable(record)]


def _abstained(records: Sequence[Record], seed: int) -> str:
    return _share(records, [bool(record["abstained"]) for record in records], seed)


def _share(records: Sequence[Record], hits: Sequence[float | None], seed: int) -> str:
    return percent(Sample.of(records, hits, seed).share())
