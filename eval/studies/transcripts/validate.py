"""`python -m eval.studies.transcripts.validate`: whether questions by rule rank strategies as gold.

Both sets are asked of the same conversations: the data set's own questions in the gold runs, those
that `python -m eval transcripts` made of the same file in the silver runs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from statistics import fmean

from eval.cli import code_of, parser
from eval.datasets.locomo import read_locomo
from eval.datasets.types import ADVERSARIAL
from eval.metrics.stats.interval import Interval
from eval.records.run import Run, load_runs
from eval.records.schema import Record
from eval.rendering.terminal import plain
from eval.studies.transcripts.questions import RULES
from eval.studies.transcripts.rank_agreement import Scores, agreement
from memsys.core.errors import InputError

_SCORES = ("recall@10", "ndcg@10", "evidence_recall", "locomo_f1")
_FEWEST = 3  # strategies that can be ranked


def main(arguments: Sequence[str] | None = None) -> int:
    """Print means and rank correlations; return the exit code: 2 for bad input."""
    options = parser(
        "studies.transcripts.validate",
        "Correlate the ranks of strategies by their mean scores on a data set's own questions with "
        "those on questions by rule, of types 1 to 4.",
    )
    for name in ("gold", "silver"):
        options.add_argument(f"--{name}", nargs="+", required=True, metavar="RUN", help="runs")
    options.add_argument("--score", action="append", metavar="NAME", help=f"default: {_SCORES}")
    options.add_argument("--seed", type=int, default=0, help="of the bootstrap; default: 0")
    return code_of(lambda: _validate(options.parse_args(arguments)))


def _validate(options: argparse.Namespace) -> None:
    gold, silver = (_by_strategy(load_runs(names)) for names in (options.gold, options.silver))
    names = [name for name in gold if name in silver]
    if len(names) < _FEWEST:
        raise InputError(f"--gold, --silver: share {len(names)} strategies; name {_FEWEST} or more")
    of = {
        record["id"]: record["conversation"]
        for run in (gold[names[0]], silver[names[0]])
        for record in run.records.values()
    }
    by_run = [{one["conversation"] for one in side[names[0]].counted} for side in (gold, silver)]
    if by_run[0] != by_run[1]:
        raise InputError("--gold, --silver: ask of other conversations; make them of the same file")
    rules = _rules(silver[names[0]])
    for score in options.score or _SCORES:
        sides = _scores(gold, names, score), _scores(silver, names, score)
        ranked = [name for name in names if all(name in side for side in sides)]
        if len(ranked) < _FEWEST:
            continue
        means = [
            [name, *(f"{fmean(side[name].values()):.3f}" for side in sides)] for name in ranked
        ]
        print(f"{score}\n\n{plain(['strategy', 'gold', 'silver'], means)}\n")
        rows = []
        for rule in (None, *RULES):
            asked = {
                name: {id_: v for id_, v in sides[1][name].items() if rule in (None, rules[id_])}
                for name in ranked
            }
            if not asked[ranked[0]]:
                continue
            own = {name: sides[0][name] for name in ranked}
            found = agreement(own, asked, of.__getitem__, options.seed)
            counts = [rule or "all", f"{len(ranked)}", f"{found.gold:,}", f"{found.silver:,}"]
            halves = [f"{value:+.2f}" for value in (found.halves, found.crossed)]
            rows.append([*counts, _shown(found.tau), _shown(found.rho), *halves])
        head = ["rule", "strategies", "gold n", "silver n", "tau-b", "rho"]
        print(plain([*head, "gold, halves", "silver, halves"], rows) + "\n")


def _by_strategy(runs: Sequence[Run]) -> dict[str, Run]:
    found = {run.label: run for run in runs}
    failed = [run.label for run in runs if len(run.counted) < len(run.records)]
    if failed:
        raise InputError(f"{failed[0]}: has failed or excluded questions; name complete runs")
    return found


def _answered(run: Run) -> list[Record]:
    return [one for one in run.counted if one["category"] != ADVERSARIAL]


def _rules(run: Run) -> dict[str, str]:
    """Return the rule of each question by its id, from the data set's files."""
    raw, files = read_locomo(run.manifest["config"]["dataset"]["path"], "--silver")
    if {file.sha256 for file in files} != {file["sha256"] for file in run.manifest["data"]}:
        raise InputError(f"--silver {run.label}: the data set's files have changed since the run")
    found = {
        f"{id_}/{index}": item.get("rule")
        for id_, one in raw.items()
        for index, item in enumerate(one.raw["qa"])
    }
    if not all(one in RULES for one in found.values()):
        raise InputError(
            f"--silver {run.label}: its questions were not made by rule; swap the runs"
        )
    return found


def _scores(runs: Mapping[str, Run], names: Sequence[str], score: str) -> Scores:
    """Return the scores by strategy and question id: of the strategies with any, on the answered
    questions on which all of these have one.
    """
    found: dict[str, dict[str, float]] = {}
    for name in names:
        values = {
            one["id"]: value
            for one in _answered(runs[name])
            if (value := one["scores"].get(score)) is not None
        }
        if values:
            found[name] = values
    shared = set.intersection(*map(set, found.values())) if found else set()
    return {name: {id_: row[id_] for id_ in row if id_ in shared} for name, row in found.items()}


def _shown(found: Interval) -> str:
    if math.isnan(found.value):
        return "all equal"
    return f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


if __name__ == "__main__":
    sys.exit(main())
