"""Score a ranking from Python, without a file and without a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from eval.answers.ranking_files import rows_of
from eval.datasets.named import config_of
from eval.datasets.reload import load_dataset_of
from eval.metrics.retrieval.registry import parse
from eval.records.answer_key_views import ORIGINAL
from eval.records.rankings import SESSION
from eval.retrieval.import_run import run_of
from eval.retrieval.imports import matched
from eval.summary.retrieval import by_type, refuse_first_rank

_MEASURES = ("recall@10", "ndcg@10", "mrr")
_NAME = "rankings"  # in messages


def score_rankings(
    rankings: Mapping[str, Any],
    dataset: str = "locomo",
    measures: Sequence[str] | None = None,
    *,
    depth: int | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Score rankings that another system made; return one row per question type, without a folder.

    `rankings`: by question id or text; each is a list of ids of turns or of sessions, best first,
    of [id, score], or an object of scores by id. `dataset`: locomo, sample, longmemeval or a path.
    `measures`: such as recall@5 or session_ndcg@10; None for recall@10, nDCG@10 and MRR of the unit
    that is ranked. `depth`: the number of ids at which rankings were cut, so that shorter ones are
    complete. Each measure's 95% interval is in `<measure>_low` and `<measure>_high`, its number of
    questions in `n`. The account of what was matched is in the frame's `attrs["matching"]`.

    Raises InputError if an id is unknown, or the rankings do not determine a measure.
    """
    config = config_of(dataset, ORIGINAL, None)
    found = matched(rows_of(rankings, _NAME), _NAME, load_dataset_of(config), _NAME, depth)
    ranked = run_of(found, config)
    prefix = "session_" if found.matching.unit == SESSION else ""
    names = [f"{prefix}{name}" for name in _MEASURES] if measures is None else measures
    chosen = [parse(name) for name in names]
    refuse_first_rank(chosen)
    rows = []
    for type_, cells in by_type(ranked, chosen, seed).items():
        if cells:
            flat: dict[str, Any] = {"type": type_, "n": max(cell.n for cell in cells.values())}
            for name, cell in cells.items():
                flat |= {name: cell.value, f"{name}_low": cell.low, f"{name}_high": cell.high}
            rows.append(flat)
    table = pd.DataFrame(rows)
    table.attrs["matching"] = ranked.manifest["matching"]
    return table
