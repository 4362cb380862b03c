"""A retrieval task of mteb over rows in memory; needs mteb."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mteb
from datasets import Dataset
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.models_protocols import SearchProtocol


class Made(AbsTaskRetrieval):
    metadata = TaskMetadata(
        **{"name": "MadeRetrieval", "description": "Rows in memory.", "type": "Retrieval"},
        **{"dataset": {"path": "made/here", "revision": "1"}, "main_score": "ndcg_at_10"},
        **{"eval_splits": ["test"], "eval_langs": ["eng-Latn"], "category": "t2t"},
    )
    given: Mapping[str, Any]

    def load_data(self, *_args: Any, **_options: Any) -> None:
        self.dataset = {"default": {"test": self.given}}
        self.data_loaded = True


def ndcg_by_mteb(
    model: Any,
    corpus: Sequence[Mapping[str, Any]],
    queries: Sequence[Mapping[str, Any]],
    qrels: Mapping[str, Mapping[str, int]],
    pools: Mapping[str, list[str]] | None,
    folder: Path,
) -> float:
    """nDCG@10 of `model` by mteb.evaluate, with binary relevance."""
    assert isinstance(model, SearchProtocol)
    task = Made()
    task.given = {
        "corpus": Dataset.from_list(
            [{"id": d["id"], "title": d.get("title") or "", "text": d["text"]} for d in corpus]
        ),
        "queries": Dataset.from_list([dict(query) for query in queries]),
        "relevant_docs": {
            query: {id_: int(score > 0) for id_, score in rows.items()}
            for query, rows in qrels.items()
        },
        "top_ranked": pools,
    }
    result = mteb.evaluate(model, task, cache=None, overwrite_strategy="always")
    (scores,) = result.task_results[0].scores["test"]
    return float(scores["ndcg_at_10"])
