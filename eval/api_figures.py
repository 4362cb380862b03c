"""Means and differences with their intervals, as data frames; eval.api_frames reads the runs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from eval.compare.comparable import objections
from eval.compare.contrast import contrast
from eval.compare.measures import choose
from eval.compare.runs import load_runs
from eval.compare.shared import share
from eval.compare.tables import comma_separated
from eval.datasets.types import ADVERSARIAL
from eval.rendering.intervals import Sample
from eval.summary.summarise import OVERALL
from memsys.errors import InputError


def means(
    records: pd.DataFrame, column: str, by: Sequence[str], *, bounded: bool = True
) -> pd.DataFrame:
    """n, mean, low and high (95%, over conversations) of `column` of the counted rows.

    A row for each value of the columns `by`, in order of appearance; with `type` among them also
    `overall`, types 1 to 4. `bounded`: values are 0 to 1, and so is the interval (Sample.score).
    """
    counted = records[records["counted"]]
    if "type" in by:
        answered = counted[counted["category"] != ADVERSARIAL]
        counted = pd.concat([counted, answered.assign(type=OVERALL)])
    rows = []
    for key, group in counted.groupby(list(by), sort=False):
        values = [None if pd.isna(value) else float(value) for value in group[column]]
        sample = Sample(values, group["conversation"].tolist(), 0)
        found = sample.score() if bounded else sample.mean()
        if found is not None:
            named = dict(zip(by, key, strict=True))
            rows.append(
                named | {"n": found.n, "mean": found.value, "low": found.low, "high": found.high}
            )
    return pd.DataFrame(rows, columns=[*by, "n", "mean", "low", "high"])


def differences(folders: Sequence[Path | str], scores: Sequence[str] = ()) -> pd.DataFrame:
    """Every run against the first, paired by question: the table of eval.compare --out, with its
    columns. `scores` as its --score. Raises InputError if the runs may not be compared.
    """
    runs = load_runs([str(folder) for folder in folders])
    measures = choose(runs, scores, None)
    against = objections(runs, measures, scores)
    if against:
        raise InputError("; ".join(against))
    tables = contrast([(measure, share(runs, measure)) for measure in measures], seed=0)
    return pd.read_csv(io.StringIO(comma_separated(tables, runs)))
