"""Means and differences with their intervals, as data frames; eval.frames reads the runs."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from eval.comparing.comparable import objections
from eval.comparing.contrast import contrast
from eval.comparing.measures import choose
from eval.comparing.runs import load_runs
from eval.comparing.shared import share
from eval.comparing.tables import comma_separated
from eval.losing.figures import Sample
from eval.questions import ADVERSARIAL
from eval.summary import OVERALL
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
