"""What a run's judge found over all answers: per run of the judge, and how far members agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.judges.verdicts import PanelStatistics, RunStatistics, panel_statistics
from eval.records.schema import Manifest, Record
from eval.stats.interval import ClusterBootstrap, Interval


def judged(records: Sequence[Record], manifest: Manifest, seed: int) -> dict[str, Any] | None:
    """The judge as the manifest names it, how many answers it judged, the mean of its score with a
    95% interval (ClusterBootstrap), and for each member the mean of each run, their mean, standard
    deviation (n - 1) and majority share; for a panel Cohen's kappa of each pair and Fleiss' of all.

    None where nobody judged.
    """
    told = manifest["judge"]
    rows = [record for record in records if record["status"] == "ok" and record["judge"]]
    if not isinstance(told, Mapping) or not rows:
        return None
    key, clusters = told["score"], [record["conversation"] for record in rows]
    mean = ClusterBootstrap(clusters, seed).mean([record["scores"][key] for record in rows])
    mean = mean and mean.within()
    found = panel_statistics([record["judge"] or {} for record in rows], clusters, seed)
    return {
        **told,
        "n": len(rows),
        "mean": None if mean is None else mean.value,
        "mean_ci": None if mean is None else [mean.low, mean.high],
        "members": {name: _member(one) for name, one in found.members.items()},
        "agreement": _agreement(found),
    }


def _member(found: RunStatistics) -> dict[str, Any]:
    return {
        "runs": list(found.runs),
        "mean": found.mean,
        "deviation": found.deviation,
        "majority": found.majority,
    }


def _agreement(found: PanelStatistics) -> dict[str, Any] | None:
    if found.all_members is None:
        return None
    pairs = {" | ".join(names): _kappa(figure) for names, figure in found.pairs.items()}
    return {"cohen": pairs, "fleiss": _kappa(found.all_members)}


def _kappa(figure: Interval) -> dict[str, Any]:
    return {"kappa": figure.value, "ci": [figure.low, figure.high]}
