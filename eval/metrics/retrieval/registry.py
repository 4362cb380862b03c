"""Measures of rankings: a retrieval metric of a unit, at a cutoff or a token budget.

A measure is written `[session_]METRIC[@RANK|@NUMBERtokens|@NUMBERturns]`, as recall@10,
session_recall_any@5, mrr, recall@512tokens or session_recall_any@10turns (of the sessions of the
first ten turns); the unit is the turn unless the name starts with session_.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Literal, cast

from eval.metrics.retrieval import METRICS, Cut, Judged, RetrievalMetric
from memsys.core.errors import InputError

Unit = Literal["turn", "session"]
UNITS: tuple[Unit, ...] = ("turn", "session")
CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
BUDGETS = (256, 512, 1024, 2048)
EXAMPLES = "recall@10, session_recall_any@5, recall@512tokens, mrr"
_SHAPE = re.compile(r"(session_)?([^@]*)(?:@([1-9][0-9]{0,8})(tokens|turns)?)?", re.ASCII)
_NEAR = 0.7  # least similarity of a name to the one that it stands for


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of rankings of `unit`s, at the rank `cutoff`, within a budget of `tokens`, of the
    sessions of the first `turns`, or of the whole ranking (all None).
    """

    unit: Unit
    metric: RetrievalMetric
    cutoff: int | None = None
    tokens: int | None = None
    turns: int | None = None

    def __str__(self) -> str:
        """Return the name that parse reads."""
        return f"{'session_' * (self.unit == 'session')}{self.metric.name}{self._end}"

    @property
    def title(self) -> str:
        """Heading in tables."""
        return f"{'session ' * (self.unit == 'session')}{self.metric.title}{self._end}"

    @property
    def whole(self) -> bool:
        """Whether the score depends on how deep the ranking is."""
        cut = self.cutoff or self.tokens or self.turns
        return cut is None and self.metric.ordered and not self.metric.at_evidence

    @property
    def _end(self) -> str:
        cuts = ((self.tokens, "tokens"), (self.turns, "turns"), (self.cutoff, ""))
        return next((f"@{number}{counted}" for number, counted in cuts if number is not None), "")

    def score(self, judged: Judged) -> float | None:
        """Return the score of a ranking of the measure's unit; None where it is unknown."""
        cutoff = judged.wanted if self.metric.at_evidence else self.cutoff
        for number, of_ranks in ((self.tokens, judged.tokens), (self.turns, judged.turns)):
            if number is not None:
                if of_ranks is None:
                    return None
                cutoff = bisect_right(of_ranks, number)
        return self.metric.score(judged, cutoff)


def parse(text: str) -> Measure:
    """Return the measure that `text` names.

    Raises InputError with what is known, and the name that was probably meant.
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise InputError(
            f"{text!r:.60}: a measure is METRIC@CUTOFF with a whole number of 1 or more, or "
            f"METRIC@NUMBERtokens, of sessions also METRIC@NUMBERturns, as {EXAMPLES}{_meant(text)}"
        )
    session, name, number, counted = shape.groups()
    metric = next((metric for metric in METRICS if metric.name == name), None)
    if metric is None:
        names = ", ".join(metric.name for metric in METRICS)
        raise InputError(f"{text!r:.60}: no such measure{_meant(text)}; metrics are {names}")
    kind = cast(Cut, counted or ("rank" if number else ""))
    unit: Unit = "session" if session else "turn"
    cuts = cuts_of(metric, unit)
    if kind not in cuts:
        ends: dict[Cut, str] = {"": "", "rank": "@10", "tokens": "@512tokens", "turns": "@10turns"}
        forms = (f"{session or ''}{metric.name}{ends[cut]}" for cut in cuts)
        raise InputError(f"{text}: write {' or '.join(forms)}")
    cut = {{"rank": "cutoff"}.get(kind, kind): int(number)} if number else {}
    return Measure(unit, metric, **cut)


def cuts_of(metric: RetrievalMetric, unit: Unit) -> tuple[Cut, ...]:
    """Return what may follow the name of `metric` of `unit`: a number of turns only of sessions."""
    return tuple(cut for cut in metric.cuts if unit == "session" or cut != "turns")


def _meant(text: str) -> str:
    """Return `; did you mean NAME?` for a name close to one that exists, else ''."""
    name, at, end = text.partition("@")
    bare = re.sub(r"[\s-]+", "_", name.strip().lower()).removeprefix("turn_")
    session = "session_" * bare.startswith("session_")
    names = {metric.name: metric for metric in METRICS}
    for metric in METRICS:
        names |= {alias.lower(): metric for alias in metric.aliases}
    near = get_close_matches(bare.removeprefix(session), names, 1, _NEAR)
    if not near:
        return ""
    metric, cutoff = names[near[0]], ""
    if at and "rank" in metric.cuts:
        number = "".join(re.findall("[0-9]", end)).lstrip("0") or "10"
        cutoff = f"@{number}{'tokens' * ('tok' in end and 'tokens' in metric.cuts)}"
    return f"; did you mean {session}{metric.name}{cutoff}?"


@cache
def all_measures() -> tuple[Measure, ...]:
    """Return every measure of a ranking: by unit and metric, whole, at CUTOFFS, within BUDGETS."""
    measures = []
    for unit in UNITS:
        for metric in METRICS:
            if "" in metric.cuts and metric.ordered:
                measures.append(Measure(unit, metric))
            if "rank" in metric.cuts:
                measures += [Measure(unit, metric, cutoff=cutoff) for cutoff in CUTOFFS]
            if "tokens" in metric.cuts:
                measures += [Measure(unit, metric, tokens=budget) for budget in BUDGETS]
            if "turns" in cuts_of(metric, unit):
                measures += [Measure(unit, metric, turns=cutoff) for cutoff in CUTOFFS]
    return tuple(measures)
