"""The registry of scores, and a user's metric from docs/extend.md."""

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import eval.metrics
from eval.analyse.compare.__main__ import main as compare
from eval.imports.rescore.__main__ import main as rescore
from eval.metrics import Answered, Computed, registry
from eval.metrics.protocols import PROTOCOLS
from eval.records.schema import MANIFEST_DEFAULTS, RECORD_DEFAULTS
from eval.records.scoring import score_record
from eval.rendering.tables import by_type, report_md
from eval.summary.closing import write_summary
from memsys.core.errors import InputError
from tests.eval.commands import Run, run_once, runs_in
from tests.eval.examples import EXAMPLES, write_examples
from tests.shared import made_once

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


FILES = ("exact_match.py", "conf/metric/exact_match.yaml")
LINES = 18


@pytest.fixture(autouse=True)
def without_own_metrics() -> Iterator[None]:
    yield
    registry.use_configured(None)
    sys.modules.pop("exact_match", None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, which `python -m` puts on Python's path."""
    write_examples(tmp_path, *FILES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Run:
    """A run with the metric: read only."""
    examples = made_once(
        tmp_path_factory, "own-metric", lambda folder: write_examples(folder, *FILES)
    )
    chosen = ("--config-dir", str(examples / "conf"), "metric=exact_match", "strategy=vector_only")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(examples)
        run = run_once(tmp_path_factory, cache, "own-metric-run", *chosen, *small)
    registry.use_configured(None)
    sys.modules.pop("exact_match", None)
    return run


@pytest.fixture
def run(complete: Run, folder: Path) -> Run:
    """The run in the user's folder, for a test that changes it."""
    shutil.copytree(complete.folder, folder / "results" / "runs" / complete.folder.name)
    (run,) = runs_in(folder)
    return run


def test_example_is_short():
    assert all(len(EXAMPLES[name].splitlines()) < LINES for name in FILES)


def test_records_summary_and_csv_have_the_score(complete, folder):
    assert complete.ended is not None
    assert "exact match" in complete.ended.out
    registry.use_configured(complete.manifest["config"]["metric"])
    for record in complete.records:
        equal = record["gold"] is not None and (
            record["gold"].casefold() == record["answer"].strip().casefold()
        )
        expected = None if record["gold"] is None else float(equal)
        assert record["scores"]["exact_match"] == expected
        assert list(record["scores"])[-1] == "exact_match"
    scored = [r["scores"]["exact_match"] for r in complete.records if r["gold"] is not None]
    cell = complete.summary["by_type"]["overall"]
    assert cell["exact_match"] == pytest.approx(sum(scored) / len(scored))
    assert 0 < cell["exact_match"] < 1
    assert cell["exact_match_ci"][0] <= cell["exact_match"] <= cell["exact_match_ci"][1]
    assert "exact match" in by_type(complete.summary)[0]
    assert "exact match" in (complete.folder / "report.md").read_text(encoding="utf-8")
    rows = list(csv.DictReader((complete.folder / "summary.csv").open(encoding="utf-8")))
    assert float(rows[-1]["exact_match"]) == cell["exact_match"]
    metric = complete.manifest["config"]["metric"]["exact_match"]
    assert metric["_target_"] == "exact_match.ExactMatch"


def test_run_is_rescored_and_compared(run, capsys):
    before = run.summary["by_type"]
    lines = run.records
    for record in lines:
        del record["scores"]["exact_match"]
    text = "".join(json.dumps(record) + "\n" for record in lines)
    (run.folder / "records.jsonl").write_text(text, encoding="utf-8")
    assert rescore([str(run.folder)]) == 0
    assert run.summary["by_type"] == before
    assert "exact match" in capsys.readouterr().out
    assert compare([str(run.folder), str(run.folder), "--score", "exact_match"]) == 2
    assert "named 2 times" in capsys.readouterr().err


def test_missing_module_is_one_line(run, folder, capsys):
    (folder / "exact_match.py").unlink()
    assert rescore([str(run.folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "metric=exact_match" in line
    assert "No module named 'exact_match'" in line


def settings() -> dict[str, dict[str, str]]:
    """The configuration that the example's YAML makes."""
    return {"exact_match": yaml.safe_load(EXAMPLES[FILES[1]])}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("exact_match", {"_target_": "exact_match.Missing"}, "Missing"),
        ("exact_match", {"colour": "exact match"}, "colour"),
        ("exact_match", {"_target_": "builtins.dict"}, "is no eval.metrics.Metric"),
        ("bleu1", {}, "bleu1 is taken by bleu1"),
    ],
)
def test_wrong_settings_are_one_line(name, changed, message):
    with pytest.raises(InputError, match=message) as refused:
        registry.use_configured({name: settings()["exact_match"] | changed})
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"^metric\._target_: .* the first line of"):
        registry.use_configured(settings()["exact_match"])


@pytest.mark.parametrize(
    ("value", "message"),
    [("3", "the score is 3; it must be 0 to 1, or None"), ("1 / 0", "ZeroDivisionError: division")],
)
def test_wrong_score_is_one_line(value, message, folder):
    path = folder / FILES[0]
    path.write_text(path.read_text().replace("return float(", f"return {value}  # ("))
    registry.use_configured(settings())
    assert "exact_match" in registry.names()
    with pytest.raises(InputError) as refused:
        registry.score(Answered(4, "tea", "tea", id="ash/0"))
    assert str(refused.value).startswith(f"metric=exact_match: question ash/0: {message}")
    registry.use_configured(None)  # a run without the metric after one with it does not have it
    assert "exact_match" not in registry.names()
