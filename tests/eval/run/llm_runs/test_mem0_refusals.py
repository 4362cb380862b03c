"""What cannot be run of strategy=mem0 and mem0_graph is told in one line, before anything is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eval.commands import Start
from tests.eval.run.llm_runs.keeping import talk


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    return [one for one in talk(tmp_path) if one != "strategy=mem0"]


@pytest.mark.parametrize(("strategy", "lacking"), [("mem0", "memory"), ("mem0_graph", "graph")])
def test_without_a_model_one_line_tells_and_the_code_is_2(
    start: Start, data: list[str], tmp_path: Path, strategy: str, lacking: str
) -> None:
    ended = start(f"strategy={strategy}", *[one for one in data if not one.startswith("llm.")])
    assert ended.code == 2
    (line,) = ended.err.splitlines()
    told = f"error: strategy={strategy}: no model to write the {lacking}; add llm=openai"
    assert line.startswith(told)
    assert not list(tmp_path.glob("results/runs/*"))


@pytest.mark.parametrize(
    ("strategy", "wrong"),
    [
        ("mem0", "strategy.update.calls=words"),
        ("mem0", "+strategy.facts.colour=red"),
        ("mem0_graph", "strategy.graph.on_conflict=merge"),
        ("mem0_graph", "strategy.relations.by=words"),
        ("mem0_graph", "strategy.relations.limit=0"),
        ("mem0_graph", "+strategy.graph.colour=red"),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(
    start: Start, data: list[str], strategy: str, wrong: str
) -> None:
    nowhere = ("llm=openai", "llm.base_url=http://127.0.0.1:9/v1")
    ended = start(f"strategy={strategy}", *data, *nowhere, wrong)
    assert ended.code == 2
    assert wrong.rpartition(".")[2].partition("=")[0] in ended.err
    assert len(ended.err.splitlines()) == 1
