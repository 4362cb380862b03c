"""Runs whose memories `llm=grammar` writes, of strategies and of real libraries."""

from pathlib import Path
from typing import Any

import pytest

from eval.analyse.diagnose.__main__ import main as losses
from eval.datasets.locomo import LoCoMo
from eval.datasets.synthetic.dataset import Synthetic
from eval.run.compatible import check_compatibility
from memsys.core.errors import InputError
from tests.baselines.libraries.conftest import MADE, needs
from tests.eval.commands import Run, run_main
from tests.eval.datasets.synthetic.test_worlds import PARAMETERS

WORLD = (
    *("dataset=synthetic", "llm=grammar", "reader=chain", "dataset.conversations=1"),
    *("dataset.hops=1", "dataset.updates=2", "dataset.past=true", "dataset.tellers=one"),
)
SMALL = ("k=3", "dataset.distractors=0.5", "dataset.sessions=4", "dataset.turns=8")


def finished(folder: Path, cache: Path, *options: str) -> Run:
    """A run in a small world that answered every question, without a fault."""
    ended = run_main(folder, cache, *WORLD, *options, f"hydra.run.dir={folder / 'run'}").ok()
    assert "overall (all but type 5)" in ended.out  # it has a type that LoCoMo has not
    run = Run(folder / "run", ended)
    assert {record["status"] for record in run.records} == {"ok"}
    assert not [event for event in events(run) if "fault" in event]
    return run


def events(run: Run) -> list[dict[str, Any]]:
    return [event for line in run.ingests for event in line.get("events", [])]


def f1(run: Run) -> dict[str, float]:
    """By type that has answers."""
    cells = run.summary["by_type"].items()
    return {name: cell["f1"] for name, cell in cells if name != "adversarial"}


def test_facts_that_are_kept_tell_what_holds_and_nothing_of_the_past(tmp_path, cache, said):
    found = f1(finished(tmp_path, cache, *SMALL, "strategy=mem0"))
    assert found["single_hop"] == found["temporal"] == 1.0
    assert found["former_value"] == 0.0
    output = said(losses, tmp_path / "run")
    assert "Points lost in ingestion are therefore included in reading" in output


@pytest.mark.parametrize(
    ("on_conflict", "calls", "past"),
    [("delete", "tools", 0.0), ("invalidate", "tools", 1.0), ("invalidate", "schema", 1.0)],
)
def test_relations_that_are_marked_and_not_dropped_tell_the_past(
    tmp_path, cache, on_conflict, calls, past
):
    chosen = (f"strategy.graph.on_conflict={on_conflict}", f"strategy.update.calls={calls}")
    found = f1(finished(tmp_path, cache, *SMALL, "strategy=mem0_graph", *chosen))
    assert found["single_hop"] == found["temporal"] == 1.0
    assert found["former_value"] == past


@pytest.mark.parametrize(
    "options",
    [
        ("strategy=vector_only",),
        ("strategy=bm25", "dataset.language=zh"),  # our vectors know no Chinese
    ],
)
def test_facts_that_nobody_changes_tell_the_past(tmp_path, cache, options):
    found = f1(finished(tmp_path, cache, *SMALL, "memory=facts", "k=50", *options))
    assert found.keys() == {"single_hop", "temporal", "former_value", "overall"}
    assert min(found.values()) == 1.0


SAMPLE = LoCoMo(name="sample", path="data/sample")


@pytest.mark.parametrize(
    ("chosen", "dataset", "misses", "message"),
    [
        ({"reader": "llm"}, None, 0, "reader=llm: llm=grammar writes memories and answers no"),
        ({}, None, 1.5, "llm.extra.misses: 1.5; use a share of 0 to 1"),
        ({}, None, True, "llm.extra.misses: True; use a share"),
        ({"judge": "llm"}, None, 0, "judge=llm: llm=grammar writes memories and judges nothing"),
        ({"judge": "panel", "llm@judge_llm": "grammar"}, None, 0, "judge=panel: llm=grammar wri"),
        ({}, SAMPLE, 0, "reader=chain: knows only the questions of dataset=synthetic"),
        ({"reader": "extractive"}, SAMPLE, 0, "llm=grammar: writes memories only of dataset=syn"),
    ],
)
def test_what_it_cannot_do_is_refused(chosen, dataset, misses, message):
    choices = {"llm": "grammar", "reader": "chain", **chosen}
    known = dataset or Synthetic(name="synthetic", **PARAMETERS)
    with pytest.raises(InputError) as refused:
        check_compatibility(choices, known, {"extra": {"misses": misses}})
    assert str(refused.value).startswith(message)


def f1_of(folder: Path, *options: str) -> dict[str, float]:
    """What holds and what held before; the library had nothing to warn of."""
    chosen = ("dataset.sessions=5", "dataset.turns=8", *options)
    run = finished(folder, folder / "cache", *chosen)
    assert events(run) == []
    return {kind: f1(run)[kind] for kind in ("single_hop", "former_value")}


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


@pytest.mark.parametrize(
    ("name", "past"),
    [
        pytest.param("mem0ai", 1.0, marks=needs("mem0ai")),  # it drops nothing: three values, k=3
        pytest.param("mem0ai_graph", 0.0, marks=needs("mem0ai_graph")),
    ],
)
def test_a_run_with_mem0ai(tmp_path, name, past):
    chosen = ("k=3", "dataset.sessions=6", "dataset.turns=12", f"strategy={name}")
    run = finished(tmp_path, tmp_path / "cache", *chosen)
    assert run.manifest["system"]["version"] == MADE[name]
    found = f1(run)
    assert found["single_hop"] == found["temporal"] == 1.0
    assert found["former_value"] == past
    relations = [
        row for record in run.records for row in record["retrieved"] if row[3] == "expanded"
    ]
    assert bool(relations) == (name == "mem0ai_graph")
