"""A run on the bundled sample, as a user starts it: what it prints and leaves behind."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from eval.metrics.registry import names
from eval.records.run import load_run
from eval.run.run_files import RunFiles
from tests.eval.commands import Run, run_main, run_once, runs_in, untimed_cells

KEY = "sk-test-0123456789abcdef"
TYPES = ["multi_hop", "temporal", "open_domain", "single_hop", "adversarial", "overall"]
FIELDS = {
    *("id", "conversation", "category", "type", "question", "gold", "status", "error", "answer"),
    *("abstained", "retrieved", "titles", "k", "context_tokens", "answer_tokens", "evidence"),
    *("evidence_found", "scores", "usage", "latency_ms", "latency_source", "trace", "waited_ms"),
    *("recorded", "judge", "judge_error", "context_sha256", "key", "scores_original"),
}
CELL = {
    *("n", "errors", "f1", "f1_mem0", "bleu1", "judge", "evidence_recall", "evidence_hit"),
    *("judge_source", "abstained", "context_tokens_mean", "answer_tokens_mean", "cost_usd"),
    *("judge_cost_usd", "judge_errors", "recall@10", "ndcg@10", "mrr"),
    *("retrieve_ms_p50", "retrieve_ms_p95", "total_ms_p50", "total_ms_p95"),
}
INTERVALS = {
    f"{name}_ci"
    for name in (
        *("f1", "f1_mem0", "bleu1", "judge", "evidence_recall", "evidence_hit"),
        *("abstained", "context_tokens_mean", "recall@10", "ndcg@10", "mrr"),
    )
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Run:
    """All of one conversation by graph_expand, with a key about."""
    chosen = ("strategy=graph_expand", "dataset.conversations=[harbour]")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        return run_once(tmp_path_factory, cache, "user", *chosen)


def test_leaves_every_file_and_prints_table_folder_and_next_command(run):
    assert run.ended.err == ""
    assert {name for name in run.files if not name.startswith(".")} == {
        *("manifest.json", "records.jsonl", "ingest.jsonl", "contexts.jsonl"),
        *("rankings.jsonl", "memories.jsonl"),
        *("summary.json", "summary.csv", "report.md"),
    }
    out = run.ended.out
    for name in TYPES[:-1]:
        (row,) = [line for line in out.splitlines() if line.startswith(f"{name} ")]
        assert "] " in row
    assert "judge none;" in out
    assert "judge" not in out.partition("\ntype ")[2]
    assert "overall (types 1-4)" in out
    assert f"Run folder: {run.folder}" in out
    assert "How to read it: scores are 0 to 1" in out
    assert out.partition("\nNext:\n")[2].splitlines() == [
        "  python -m eval.run 'dataset.conversations=[harbour]' strategy=auto",
        f"  python -m eval report {run.folder.name}",
        f"  python -m eval browse {run.folder.name}",
    ]
    assert "types 1-4, where it is a false refusal." in out


def test_record_has_the_agreed_fields_and_agrees_with_itself(run):
    records = run.records
    assert len(load_run(run.folder).records) == len(records)  # each is as the schema says
    assert [r["id"] for r in records] == [f"harbour/{i}" for i in range(len(records))]
    assert {r["category"] for r in records} == {1, 2, 3, 4, 5}
    for record in records:
        assert set(record) == FIELDS
        assert set(record["usage"]) == {"retrieve", "answer"}
        assert set(record["latency_ms"]) == {"retrieve", "answer", "total"}
        assert set(record["trace"]) == {"expansion"}
        assert len(record["titles"]) == len(record["retrieved"])
        assert set(record["scores"]) == set(names())
        assert record["k"] == len(record["retrieved"]) <= 10
        found = record["evidence_found"]
        by_origin = {
            origin: {t for _, turns, _, o in record["retrieved"] if o == origin for t in turns}
            for origin in ("direct", "expanded")
        }
        assert found["direct"] == [t for t in record["evidence"] if t in by_origin["direct"]]
        assert set(found["expanded"]) == (
            set(record["evidence"]) & by_origin["expanded"] - by_origin["direct"]
        )
        seen = len(found["direct"] + found["expanded"]) / len(record["evidence"])
        assert record["scores"]["evidence_recall"] == pytest.approx(seen)
        times = record["latency_ms"]
        assert times["total"] == pytest.approx(times["retrieve"] + times["answer"], abs=2e-4)
        assert times["retrieve"] > 0


def test_summary_and_its_csv_have_the_agreed_fields(run):
    text = run.files["summary.json"].decode()
    summary = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert (summary["run_id"], summary["strategy"]) == (run.folder.name, "graph_expand")
    assert (summary["dataset"], summary["errors"]) == ("sample", 0)
    assert summary["n"] == len(run.records)
    table = pd.read_csv(run.folder / "summary.csv", index_col="type")
    assert list(table.index) == list(summary["by_type"]) == TYPES
    for type_, cell in summary["by_type"].items():
        further = set(cell) - CELL - INTERVALS  # an F1 of another protocol, and its interval
        assert set(cell) >= CELL | INTERVALS
        assert all(name.startswith(("f1_", "judge_errors_as_zero")) for name in further), further
        assert cell["judge"] is None
        for name in ("f1", "evidence_recall", "abstained", "context_tokens_mean"):
            low, high = cell[f"{name}_ci"]
            assert low <= cell[name] <= high
            assert [table.loc[type_, f"{name}_ci_{end}"] for end in ("low", "high")] == [low, high]
        ends = {f"{name}_{end}" for name in cell for end in ("low", "high") if name.endswith("_ci")}
        assert set(table.columns) == {name for name in cell if not name.endswith("_ci")} | ends
        for column in CELL:
            value = table.loc[type_, column]
            assert (pd.isna(value) and cell[column] is None) or value == cell[column], column


def test_manifest_and_ingest_tell_what_was_run(run, cache):
    manifest = run.manifest
    assert set(manifest) >= {
        *("run_id", "schema_version", "status", "command", "strategy", "dataset", "choices"),
        *("config", "config_sha256", "data", "repairs", "git", "packages", "prompts", "models"),
        *("seed", "machine", "started", "ended", "resumed", "warnings", "seconds"),
    }
    assert manifest["status"] == "complete"
    assert manifest["run_id"] == run.folder.name
    assert manifest["command"] == (
        "python -m eval.run strategy=graph_expand 'dataset.conversations=[harbour]'"
    )
    assert manifest["started"] <= manifest["ended"]
    assert manifest["config"]["strategy"]["k"] == manifest["config"]["k"] == 10  # resolved
    assert re.fullmatch("[0-9a-f]{64}", manifest["config_sha256"])
    assert {file["name"] for file in manifest["data"]} >= {"harbour.json"}
    assert all(re.fullmatch("[0-9a-f]{64}", file["sha256"]) for file in manifest["data"])
    assert manifest["packages"]["numpy"]
    assert manifest["models"] == {"embedder": "minilm", "reader": "extractive", "judge": None}
    text = run.files["manifest.json"].decode()
    for folder in (run.folder.parents[2], cache, Path.home(), Path(sys.prefix)):
        assert str(folder) not in text
    *sessions, index = run.ingests
    assert [line["session"] for line in sessions] == [
        f"session_{i}" for i in range(1, len(sessions) + 1)
    ]
    assert (index["phase"], index["session"], index["memories"]) == ("index", None, 0)
    assert sum(line["memories"] for line in sessions) > 100


# In a process of its own: closing a file that SQLite has open gives up its locks on it.
HOLDING = """
import pathlib, sys
files = [path for path in pathlib.Path(sys.argv[1]).rglob("*") if path.is_file()]
print(len(files), *(path for path in files if sys.argv[2].encode() in path.read_bytes()))
"""


def test_another_key_about_leaves_no_trace(run, cache):
    for folder in (run.folder.parents[2], cache):
        command = [sys.executable, "-c", HOLDING, str(folder), KEY]
        number, *holding = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.split()
        assert int(number) > 0
        assert holding == []
    assert KEY not in run.ended.out + run.ended.err


def test_same_command_cold_and_warm_gives_the_same_records(tmp_path, small):
    command = ("strategy=graph_expand", *small)
    for _ in ("cold", "warm"):
        run_main(tmp_path, tmp_path / "cache", *command).ok()
    cold, warm = runs_in(tmp_path)
    assert {r["latency_source"] for r in cold.records[:7]} == {"live"}  # later texts are repeats
    assert {r["latency_source"] for r in warm.records} == {"vectors"}
    assert cold.untimed == warm.untimed
    first, second = ({**one.summary, "by_type": untimed_cells(one)} for one in (cold, warm))
    assert first.pop("run_id") != second.pop("run_id")
    assert first == second


def test_k_over_the_whole_store_and_a_budget_below_any_memory_are_warned_of(made, clean):
    run = made("strategy=bm25", "k=1000")
    expected = [f"{n}: k=1000 covers all 6 memories" for n in ("ash", "beech", "cedar")]
    assert [f"warning: {line}" in run.ended.out for line in expected] == [True] * 3
    for holder in (run.manifest, run.summary):
        assert [w.partition(",")[0] for w in holder["warnings"]] == expected
    assert run.files["report.md"].decode().count("covers all 6 memories") == 3
    run = made("strategy=bm25", "budget=1")
    assert "warning: all contexts are empty: no memory fits budget=1" in run.ended.out
    assert [w for w in run.manifest["warnings"] if w.startswith("all contexts are empty")]
    assert clean.summary["warnings"] == clean.manifest["warnings"] == []


def test_memories_that_the_embedder_does_not_read_whole_are_warned_of(made):
    run = made(
        "strategy=vector_only", "memory=chunks", "memory.tokens=16", "embedder.max_tokens=16"
    )
    counts = {one["conversation"]: one["cut_off"] for one in run.ingests if "cut_off" in one}
    assert RunFiles(run.folder).cut_off == counts  # a run that goes on warns of all
    stored = sum(one["memories"] for one in run.ingests)
    assert 0 < sum(counts.values()) < stored  # the last ones are short
    (note,) = (one for one in run.manifest["warnings"] if "longer than" in one)
    assert note.startswith(f"{sum(counts.values())} of {stored} memories are longer than what mini")
    assert "use embedder.max_tokens=512, embedder=openai or memory=chunks memory.tokens=192" in note


def test_help_names_the_ways_to_start(start):
    ended = start("--help").ok()
    assert "python -m eval.run strategy=graph_expand" in ended.out
    assert "resume=RUN_ID" in ended.out


def test_debug_asks_five_questions_and_ingests_only_their_conversations(made):
    part, debug, whole = (
        made("strategy=bm25", *arguments)
        for arguments in (("questions=8",), ("debug=default",), ())
    )
    assert len(debug.records) == 5
    assert {line["conversation"] for line in debug.ingests} == {"ash"}
    assert debug.manifest["choices"]["debug"] == "default"
    assert (debug.manifest["config"]["questions"], debug.manifest["config"]["resamples"]) == (5, 2)
    assert ", 2 resamples," in debug.summary["interval"]
    assert {line["conversation"] for line in part.ingests} == {"ash", "beech"}
    assert part.untimed == whole.untimed[:8]
    assert "debug" not in whole.manifest["choices"]
