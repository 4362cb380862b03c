"""Measures of rankings as data frames: of runs, and of a ranking without a file or folder."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from eval.analyse.retrieval.measured import main_measures, measured, named, set_measures
from eval.answers.ranking_files import rows_of
from eval.datasets.reload import config_of, load_dataset_of
from eval.imports.rankings.import_run import run_of
from eval.imports.rankings.imports import matched
from eval.metrics.evidence import RECORDED
from eval.metrics.retrieval.registry import Measure, Unit, parse
from eval.records.answer_key_views import ORIGINAL
from eval.records.comma_separated import spread
from eval.records.run import Run
from eval.summary.retrieval import is_selected, refuse_first_rank, unit_of
from memsys.core.errors import InputError

_NAME = "rankings"  # in messages


def retrieval(
    runs: Sequence[Run],
    measures: Sequence[str] = (),
    *,
    unit: Unit | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return means of the runs' rankings by question type, as `python -m eval retrieval` prints
    them: a row per run and type, each interval as `<measure>_low` and `<measure>_high`.

    `measures`: such as recall@10 or session_ndcg@5; default: the main ones of `unit` at 10, without
    a cutoff for runs that only select. `unit`: by default turn, or session if a run ranked these.
    Raises InputError where the rankings do not determine a measure.
    """
    unit = unit or unit_of(runs)
    asked = _parse_all(measures)
    rows: list[dict[str, Any]] = []
    for run in runs:
        default = set_measures(unit) if is_selected(run) else main_measures(unit, None, 10)
        rows += [{"run": run.label, **row} for row in _rows(run, asked or default, seed)]
    return pd.DataFrame(rows)


def score_rankings(
    rankings: Mapping[str, Any],
    dataset: str = "locomo",
    measures: Sequence[str] | None = None,
    *,
    depth: int | None = None,
    partial: bool = False,
    seed: int = 0,
) -> pd.DataFrame:
    """Score rankings that another system made; return one row per question type, without a folder.

    `rankings`: by question id or text; each is a list of ids of turns or of sessions, best first,
    of [id, score], or an object of scores by id. `dataset`: locomo, sample, longmemeval or a path.
    `measures`: such as recall@5 or session_ndcg@10; None for recall@10, nDCG@10 and MRR of the unit
    that is ranked. `depth`: the number of ids at which rankings were cut, so that shorter ones are
    complete. `partial`: accept rankings of which most are of no question. Each measure's 95%
    interval is in `<measure>_low` and `<measure>_high`, its number of questions in `n`. The account
    of what was matched is in the frame's `attrs["matching"]`.

    Raises InputError if an id is unknown, if every ranking is listed against its scores, or if the
    rankings do not determine a measure.
    """
    config = config_of(dataset, ORIGINAL, None)
    rows, questions = rows_of(rankings, _NAME), load_dataset_of(config)
    source = matched(rows, _NAME, questions, _NAME, depth, partial=partial)
    ranked = run_of(source, config)
    asked = named(source.unit, RECORDED) if measures is None else _parse_all(measures)
    table = pd.DataFrame(_rows(ranked, asked, seed))
    table.attrs["matching"] = ranked.manifest["matching"]
    return table


def _parse_all(names: Sequence[str]) -> list[Measure]:
    measures = [parse(name) for name in names]
    refuse_first_rank(measures)
    return measures


def _rows(run: Run, measures: Sequence[Measure], seed: int) -> list[dict[str, Any]]:
    """Return a row for each question type that has any of the measures."""
    result = measured(run, measures, seed)
    for problem in result.unknown.values():
        raise InputError(problem)
    return [
        {"type": name, "n": result.n(name), **spread(cells)} for name, cells in result.means.items()
    ]
