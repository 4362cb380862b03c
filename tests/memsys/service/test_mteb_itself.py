"""mteb, where it is installed, scores a strategy as the metrics here do."""

from __future__ import annotations

import numpy as np
import pytest

from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import parse
from memsys.service.mteb import Search
from tests.memsys.service.test_mteb import CORPUS, POOLS, QRELS, QUERIES, TASK, ranked


@pytest.mark.parametrize("pools", [None, POOLS])
def test_mteb_itself_scores_as_the_metrics_here_do(pools, tmp_path):
    pytest.importorskip("mteb", reason="an extra with torch: pip install memsys[mteb]")
    from tests.memsys.service.mteb_task import ndcg_by_mteb  # noqa: PLC0415

    model = Search("hybrid_rank", cache=tmp_path)
    by_mteb = ndcg_by_mteb(model, CORPUS, QUERIES, QRELS, pools, tmp_path)
    model.index(CORPUS, **TASK)
    found = ranked(model, top_ranked=pools, top_k=10)
    ndcg = parse("ndcg@10").metric
    gains = [
        ndcg.score(Judged(ranking, [one for one, n in QRELS[id_].items() if n > 0]), 10)
        for id_, ranking in found.items()
    ]
    assert by_mteb == pytest.approx(np.mean(gains), abs=1e-5)  # it rounds to five digits
