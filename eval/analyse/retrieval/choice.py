"""The measures that a user chose, and those that the rankings of a run determine."""

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics.retrieval.formulas import METRICS
from eval.metrics.retrieval.registry import BUDGETS, UNITS, Measure, Unit, cuts_of, parse
from eval.records.run import Run
from eval.summary.retrieval import OF_SETS, unknown

KINDS = {"fraction": "recall", "any": "recall_any", "all": "recall_all"}
_SIDE_BY_SIDE = (5, 10)  # cutoffs of the table of all definitions


def main_measures(unit: Unit, kind: str | None, cutoff: int) -> list[Measure]:
    """Return the measures of the default table at `cutoff`; `kind`: see KINDS, None for each."""
    recalls = [name for one, name in KINDS.items() if kind in {None, one}]
    names = [*(f"{name}@{cutoff}" for name in [*recalls, "ndcg"]), "mrr", f"store_share@{cutoff}"]
    return [parse(_prefix(unit) + name) for name in names]


def compared(unit: Unit, kind: str | None, cutoffs: Sequence[int]) -> list[Measure]:
    """Return the measures whose differences are shown: recall and nDCG at `cutoffs`, and MRR."""
    names = [f"{name}@{at}" for at in cutoffs for name in (KINDS[kind or "fraction"], "ndcg")]
    return [parse(_prefix(unit) + name) for name in [*names, "mrr"]]


def set_measures(unit: Unit) -> list[Measure]:
    """Return the measures of memories that were selected, which have no order."""
    return [parse(_prefix(unit) + name) for name in OF_SETS]


def definitions(
    unit: Unit | None, kind: str | None, cutoffs: Sequence[int] | None
) -> list[Measure]:
    """Return every metric of a ranking at `cutoffs` (None: 5 and 10), recall of the sessions of so
    many turns, and recall within budgets of tokens; `unit` and `kind` restrict them.
    """
    left_out = {name for one, name in KINDS.items() if kind not in {None, one}}
    found = []
    for one in (unit,) if unit else UNITS:
        for metric in METRICS:
            if metric.name in left_out:
                continue
            if metric.ordered and "" in metric.cuts:
                found.append(Measure(one, metric))
            if "rank" in metric.cuts:
                found += [Measure(one, metric, cutoff=at) for at in cutoffs or _SIDE_BY_SIDE]
            if "turns" in cuts_of(metric, one):
                found += [Measure(one, metric, turns=at) for at in cutoffs or _SIDE_BY_SIDE]
            if one == "turn" and metric.name == KINDS[kind or "fraction"]:
                found += [Measure(one, metric, tokens=budget) for budget in BUDGETS]
    return found


def known(run: Run, measures: Sequence[Measure]) -> list[Measure]:
    """Return those of `measures` that the rankings of `run` determine."""
    reasons = unknown(run, measures)
    return [measure for measure in measures if str(measure) not in reasons]


def _prefix(unit: Unit) -> str:
    return "session_" * (unit == "session")
