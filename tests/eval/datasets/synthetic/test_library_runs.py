"""Memories of real libraries that `llm=grammar` writes: what holds, and what held before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.baselines.libraries.real import MADE, needs
from tests.eval.commands import Run, run_main

SMALL = (
    *("dataset=synthetic", "llm=grammar", "reader=chain"),
    *("dataset.conversations=1", "dataset.sessions=5", "dataset.turns=8"),
    *("dataset.hops=1", "dataset.updates=2", "dataset.past=true", "dataset.tellers=one"),
)


def f1_of(folder: Path, *options: str) -> dict[str, float]:
    """What holds and what held before, in a small world. Every question was answered, nothing
    failed, and the library had nothing to warn of.
    """
    ended = run_main(folder, folder / "cache", *SMALL, *options, f"hydra.run.dir={folder / 'run'}")
    assert ended.code == 0, ended.err
    run = Run(folder / "run", ended)
    assert {record["status"] for record in run.records} == {"ok"}
    assert [event for line in run.ingests for event in line.get("events", [])] == []
    cells = run.summary["by_type"].items()
    return {name: cell["f1"] for name, cell in cells if name in ("single_hop", "former_value")}


WIDE = "+strategy.settings.query_limit=8"


@pytest.mark.parametrize(
    ("name", "options", "past"),
    [
        # What is marked as ended still tells the past.
        pytest.param("graphiti", ("k=10",), 1.0, marks=needs("graphiti")),
        pytest.param("hipporag", ("k=10", "dataset.sessions=3"), 1.0, marks=needs("hipporag")),
        pytest.param("lightrag", ("k=10", "dataset.sessions=3"), 1.0, marks=needs("lightrag")),
        # What is patched tells nothing of the past.
        pytest.param("langmem", ("k=5", WIDE), 0.0, marks=needs("langmem")),
    ],
)
def test_what_holds_is_told_and_the_past_as_the_library_keeps_it(tmp_path, name, options, past):
    found = f1_of(tmp_path, f"strategy={name}", *options)
    assert found == {"single_hop": 1.0, "former_value": past}


@pytest.mark.parametrize(
    ("name", "kind", "most"),
    [
        pytest.param("cognee", "single_hop", 1.0, marks=needs("cognee")),
        pytest.param("letta", "single_hop", 1.0, marks=needs("letta")),
        # By default it looks up the last message only, so that some old values stay.
        pytest.param("langmem", "former_value", 0.99, marks=needs("langmem")),
    ],
)
def test_some_of_it_is_told(tmp_path, name, kind, most):
    found = f1_of(tmp_path, f"strategy={name}", "k=5", "strategy.timeout_s=600")
    assert 0.0 < found[kind] <= most


OF_MEM0AI = (
    *("dataset=synthetic", "llm=grammar", "reader=chain", "k=3"),
    *("dataset.conversations=1", "dataset.sessions=6", "dataset.turns=12"),
    *("dataset.hops=1", "dataset.updates=2", "dataset.past=true", "dataset.tellers=one"),
)


@pytest.mark.parametrize(
    ("name", "past"),
    [
        pytest.param("mem0ai", 1.0, marks=needs("mem0ai")),  # it drops nothing: three values, k=3
        pytest.param("mem0ai_graph", 0.0, marks=needs("mem0ai_graph")),
    ],
)
def test_a_run_with_mem0ai(tmp_path, name, past):
    cache, folder = tmp_path / "cache", tmp_path / "run"
    ended = run_main(tmp_path, cache, *OF_MEM0AI, f"strategy={name}", f"hydra.run.dir={folder}")
    assert ended.code == 0, ended.err
    run = Run(folder, ended)
    assert {record["status"] for record in run.records} == {"ok"}
    assert not [e for line in run.ingests for e in line.get("events", []) if "fault" in e]
    assert run.manifest["system"]["version"] == MADE[name]
    found = {kind: cell["f1"] for kind, cell in run.summary["by_type"].items()}
    assert found["single_hop"] == found["temporal"] == 1.0
    assert found["former_value"] == past
    relations = [
        row for record in run.records for row in record["retrieved"] if row[3] == "expanded"
    ]
    assert bool(relations) == (name == "mem0ai_graph")
