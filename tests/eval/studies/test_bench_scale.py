"""The benchmarks of stores, run on small ones: every figure is reported correctly."""

from __future__ import annotations

import csv
import json
import socket

import numpy as np
import pytest

from eval.studies import bench_stores
from eval.studies.bench_scale import __main__ as bench_scale
from eval.studies.bench_scale.generated_data import (
    DIMENSIONS,
    memories,
    queries,
    query_vectors,
    write_vectors,
)
from eval.studies.bench_scale.report import as_csv, page

STORE = {
    "memories": 1000,
    "of": "flat",
    "vectors": "flat",
    "ingest_s": {"memories": 0.01, "vectors": 0.02, "words": 0.01, "graph": 0.01},
    "ms": {
        "raw vector search": [1.0, 2.0, 3.0],
        "graph_expand": [2.0, 5.0, 6.0],
        "bm25s": [0.1, 0.2, 0.3],
    },
    "recall": 1.0,
    "resident_bytes": 3_000_000,
    "raw_bytes": 1_536_000,
    "disk_bytes": 1_600_000,
    "reopen_s": 0.25,
}
SLOW = {"memories": 1000, "of": "rank_bm25", "build_s": 1.0, "ms": {"rank_bm25": [1.0, 3.0, 9.0]}}
ABSENT = {"memories": 1000, "of": "mem0ai", "failed": "mem0ai: not installed"}


def test_generated_data_repeats_by_seed_and_has_its_shape(tmp_path):
    generated = list(memories(300, seed=0))
    assert generated == list(memories(300, seed=0)) != list(memories(300, seed=1))
    assert [memory.id for memory in generated] == [str(row) for row in range(300)]
    assert {len(memory.content.split()) for memory in generated} == {12}
    assert generated[-1].time > generated[0].time
    vectors = write_vectors(tmp_path / "v.npy", 300, seed=0)
    asked = query_vectors(20, seed=0)
    assert vectors.shape == (300, DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert asked.shape == (20, DIMENSIONS)
    assert len(set(queries(50, seed=0))) > 40


def test_targets_are_judged_by_the_figures_and_every_figure_is_a_row():
    text = page([STORE, SLOW, ABSENT])
    assert "| 1,000, flat: p95 of graph_expand ≤ 2 × raw search | 2.50 × | no |" in text
    assert "| 1,000, flat: ingestion ≥ 20,000 per second | 20,000 | yes |" in text
    assert "| 1,000, flat: resident ≤ 2.5 × raw vectors | 1.95 × | yes |" in text
    assert "rank_bm25 | 15 × | no |" in text
    assert "| 1,000 | mem0ai | mem0ai: not installed |" in text
    rows = list(csv.DictReader(as_csv([STORE, SLOW]).splitlines()))
    values = {(row["store"], row["figure"]): float(row["value"]) for row in rows}
    assert values["flat", "ms.graph_expand.p95"] == 5.0
    assert values["flat", "ingest_s.graph"] == 0.01
    assert values["rank_bm25", "ms.rank_bm25.p99"] == 9.0


@pytest.mark.slow
def test_a_small_store_is_measured_for_real(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(bench_scale, "_names", lambda n: ["ivf", "rank_bm25"])
    assert bench_scale.main(["400", "--out", str(tmp_path), "--pictures", str(tmp_path)]) == 0
    assert "## Targets" in capsys.readouterr().out
    figures = (tmp_path / "scale.csv").read_text()
    for name in ("ms.raw vector search.p95", "ms.graph_expand.p95", "recall", "reopen_s"):
        assert f"400,ivf,{name}," in figures


def test_other_sizes_do_not_overwrite_the_shipped_tables_and_picture(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = {"flat": STORE, "rank_bm25": SLOW, "mem0ai": ABSENT}
    monkeypatch.setattr(bench_scale, "_names", lambda n: [*made])
    monkeypatch.setattr(bench_scale, "_measured", lambda n, name: made[name] | {"memories": n})
    assert bench_scale.main(["1000", "100000"]) == 0
    assert "results/tables/scale-1000-100000.md" in capsys.readouterr().out
    written = {path.name: path for path in tmp_path.rglob("*.*")}
    assert set(written) == {f"scale-1000-100000.{ending}" for ending in ("md", "csv", "png", "svg")}
    assert written["scale-1000-100000.png"].read_bytes().startswith(b"\x89PNG")
    assert written["scale-1000-100000.svg"].read_text(encoding="utf-8").startswith("<?xml")
    drawn: list[str] = []
    monkeypatch.setattr(bench_scale, "draw", lambda _, to: drawn.append(to.name))
    assert bench_scale.main([]) == 0
    assert {"scale.md", "scale.csv"} <= {path.name for path in tmp_path.rglob("*.*")}
    assert drawn == ["scale"]


def test_what_could_not_be_measured_is_reported_with_the_reason():
    figures = bench_scale._measured(5, "nothing_of_this_name")
    assert json.dumps(figures) == json.dumps({"failed": "KeyError: 'nothing_of_this_name'"})


FEW = ["--nodes=30", "--relations=40", "--dimension=8", "--questions=3"]


def test_the_stores_are_measured_in_one_run(capsys):
    assert bench_stores.main(FEW) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "two owners, each 30 x 8, 40 relations; medians of 3 questions" in lines
    for name in ("faiss", "faiss, path", "qdrant_edge", "networkx", "networkx, path"):
        assert any(line.startswith(f"{name}  ") for line in lines), name
    (own,) = [line for line in lines if line.startswith("faiss  ")]
    assert own.split()[-1] == "1.0"  # against itself


def test_a_server_that_is_not_there_is_bad_input(capsys, monkeypatch):
    monkeypatch.setenv("NEO4J_PASSWORD", "any")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        assert bench_stores.main([*FEW, f"--bolt={url}"]) == 2
    assert f"relation_store.url={url}" in capsys.readouterr().err
