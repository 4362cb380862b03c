"""`python -m eval.studies.calibrate RUN`: typical similarity of an embedder, from a run.

A fixed cosine threshold of a gate means something different for every embedder. The typical
similarity is the median over questions of the mean cosine of the best five memories; gold answers
are not used. It belongs in the embedder's file under conf/embedder.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from eval.cli import add_run, code_of, parser
from eval.records.run import load_run
from memsys.core.errors import InputError

_BEST = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the quantiles; return the exit code: 2 for bad input, 130 after Ctrl-C."""
    options = parser(
        "studies.calibrate",
        "Print quantiles of the mean cosine of the best five memories over the questions of a "
        "vector_only run; the median is `typical_similarity` in the embedder's file under "
        "conf/embedder.",
    )
    add_run(options)
    folder = options.parse_args(arguments).run
    return code_of(lambda: _calibrate(folder))


def _calibrate(folder: str) -> None:
    run = load_run(folder, complete=False, answered=False)
    if run.strategy != "vector_only":
        what = f"scores of {run.strategy} are not cosines"
        raise InputError(f"{folder}: {what}; use a vector_only run")
    means = [
        fmean(score for _, _, score, _ in record["retrieved"][:_BEST])
        for record in run.records.values()
        if record["status"] == "ok" and record["retrieved"]
    ]
    if not means:
        raise InputError(f"{folder}: no answered question; calibrate on another run")
    embedder = run.manifest["choices"]["embedder"]
    print(f"{embedder}, {len(means)} questions: mean cosine of the best {_BEST} memories")
    for percent in (5, 25, 50, 75, 95):
        print(f"  {percent:>2}%  {np.percentile(means, percent):.3f}")
    print(f"conf/embedder/{embedder}.yaml: typical_similarity: {np.median(means):.2f}")


if __name__ == "__main__":
    sys.exit(main())
