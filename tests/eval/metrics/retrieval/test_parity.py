"""Every metric equals ir_measures and ranx on every question."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import CUTOFFS, parse
from tests.eval.metrics.retrieval.shapes import shapes

# Name of a measure, and of the same one in ir_measures; recall_all is R@k rounded down.
AT = {"recall": "R", "recall_any": "Success", "precision": "P", "ndcg": "nDCG", "mrr": "RR"}
AT |= {"map": "AP"}
WHOLE = {"ndcg": "nDCG", "mrr": "RR", "map": "AP", "r_precision": "Rprec"}
NAMES = {f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in AT.items() for k in CUTOFFS} | WHOLE
RANX = {"recall": "recall", "recall_any": "hit_rate", "precision": "precision", "ndcg": "ndcg"}
RANX |= {"mrr": "mrr", "map": "map"}


def differences(questions: Mapping[str, Judged]) -> dict[str, float]:
    """By measure, the largest difference to ir_measures on a question."""
    measures = pytest.importorskip("ir_measures")
    qrels = {id_: dict.fromkeys(one.relevant, 1) for id_, one in questions.items()}
    runs = {
        id_: {unit: float(len(one.ranked) - rank) for rank, unit in enumerate(one.ranked)}
        for id_, one in questions.items()
    }
    theirs = {measures.parse_measure(name): ours for ours, name in NAMES.items()}
    largest = dict.fromkeys(NAMES, 0.0)
    seen = 0
    for row in measures.iter_calc(list(theirs), qrels, runs):
        ours = theirs[row.measure]
        mine = parse(ours).score(questions[row.query_id])
        assert mine is not None
        largest[ours] = max(largest[ours], abs(mine - row.value))
        seen += 1
        if ours.startswith("recall@"):
            every = parse(ours.replace("recall", "recall_all")).score(questions[row.query_id])
            assert every == float(row.value == 1.0)
    assert seen == len(NAMES) * len(questions)
    return largest


def test_generated_rankings_score_as_in_ir_measures():
    assert max(differences(shapes()).values()) < 1e-9


@pytest.mark.skipif(
    not os.environ.get("MEMSYS_RANX"),
    reason="ranx compiles its metrics for minutes on import: set MEMSYS_RANX=1",
)
def test_generated_rankings_score_as_in_ranx():
    import ranx  # noqa: PLC0415 - compiles

    questions = shapes(60)
    qrels = ranx.Qrels({id_: dict.fromkeys(one.relevant, 1) for id_, one in questions.items()})
    run = ranx.Run(
        {
            id_: {unit: float(len(one.ranked) - rank) for rank, unit in enumerate(one.ranked)}
            for id_, one in questions.items()
        }
    )
    names = {f"{ours}@{k}": f"{theirs}@{k}" for ours, theirs in RANX.items() for k in (1, 10, 100)}
    names |= {"mrr": "mrr", "map": "map", "ndcg": "ndcg", "r_precision": "r-precision"}
    found = ranx.evaluate(qrels, run, list(names.values()), return_mean=False)
    order = list(qrels.keys())
    for ours, theirs in names.items():
        mine = [parse(ours).score(questions[id_]) for id_ in order]
        assert mine == pytest.approx(list(found[theirs]), abs=1e-9), ours
