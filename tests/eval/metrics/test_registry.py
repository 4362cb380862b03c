import csv
import sys

import pytest

import eval.metrics
from eval.metrics import Answered, Computed, registry
from eval.metrics.protocols import PROTOCOLS
from eval.records.schema import MANIFEST_DEFAULTS, RECORD_DEFAULTS
from eval.records.scoring import score_record
from eval.rendering.tables import by_type, report_md
from eval.summary.closing import write_summary
from memsys.core.errors import InputError

NEW = """
from eval.metrics import Computed
from eval.metrics.registry import register

register(Computed(name="same_length", compute=lambda one: len(one.answer) == len(one.gold)))
"""
RECORD = {
    **RECORD_DEFAULTS,
    **{"id": "c/0", "conversation": "c", "category": 4, "type": "single_hop", "question": "?"},
    **{"gold": "tea", "answer": "coffee", "status": "ok", "error": None, "abstained": False},
    **{"evidence": ["D1:1"], "retrieved": [], "context_tokens": 9, "answer_tokens": 1},
    **{"latency_ms": {"retrieve": 1.0, "answer": 1.0, "total": 2.0}},
}
MANIFEST = {
    **MANIFEST_DEFAULTS,
    **{"run_id": "r", "strategy": "s", "dataset": "d", "config_sha256": "0", "warnings": []},
    **{"seed": 0, "command": "", "config": {}, "data": []},
}
NAMES = (
    *("locomo_f1", "mem0_f1", "memos_f1", "strict_f1", "bleu1"),
    *("evidence_recall", "evidence_hit", "judge"),
)
RANKED = ("recall@10", "ndcg@10", "mrr")


def test_order_of_scores_in_records_and_summaries():
    assert registry.names() == (*NAMES, *RANKED)
    seen = Answered(category=4, gold="tea", answer="tea", retrieved=(), sessions=["D1"])
    assert tuple(registry.score(seen)) == (*NAMES, "evidence_session_recall", *RANKED)
    assert list(registry.columns()) == [
        *("f1_locomo", "f1_mem0", "f1_memos", "f1_strict", "bleu1", "judge"),
        *("evidence_recall", "evidence_hit", *RANKED),
    ]
    assert registry.titles(registry.columns()) == {
        "bleu1": "BLEU-1",
        "judge": "judge",
        "evidence_recall": "evidence recall",
    }
    assert registry.pinned() == ("bleu1", "evidence_recall", *RANKED)
    assert registry.reported() == {"mem0_f1": "f1_score", "bleu1": "bleu_score"}
    assert all(registry.find(protocol.f1) for protocol in PROTOCOLS.values())
    with pytest.raises(InputError, match="metric bleu1: the name is taken"):
        registry.register(Computed(name="bleu1", compute=lambda _: 0.0))


def test_unknown_retrieval_and_missing_gold_are_no_zero():
    scores = registry.score(Answered(category=5, gold=None, answer="Not mentioned"))
    assert scores == dict.fromkeys((*NAMES, *RANKED)) | {"locomo_f1": 1.0}
    assert set(registry.score(Answered(category=4, gold=None, answer="tea")).values()) == {None}


def test_a_file_is_all_that_a_new_metric_takes(tmp_path, monkeypatch):
    earlier = {**RECORD, **score_record(RECORD)}
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    (tmp_path / "same_length.py").write_text(NEW, encoding="utf-8")
    monkeypatch.setattr(eval.metrics, "__path__", [*eval.metrics.__path__, str(tmp_path)])
    registry._load.cache_clear()

    row = {**RECORD, **score_record(RECORD)}
    assert row["scores"]["same_length"] == 0.0
    summary = write_summary(tmp_path, MANIFEST, [row, earlier], report_md)
    cell = summary["by_type"]["single_hop"]
    assert cell["same_length"] == 0.0  # the other record is from before the metric
    header, rows = by_type(summary)
    assert rows[-1][header.index("same length")] == "0.000 [0.000, 0.000]"
    cells = list(csv.DictReader((tmp_path / "summary.csv").open(encoding="utf-8")))
    assert cells[-1]["same_length"] == "0.0"

    sys.modules.pop("eval.metrics.same_length")
    registry._load.cache_clear()
