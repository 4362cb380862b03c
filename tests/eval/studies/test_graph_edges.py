"""Precision of the edges of graphs."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from eval.datasets.types import Dataset, Question
from eval.run.experiment import CONF
from eval.studies.graph_edges import GRAPHS, EdgePrecision, edge_precision, main, measured
from memsys.core.types import Conversation, Session, Turn
from memsys.graph.build import GraphSettings
from memsys.knowledge.memory.turns import Turns

SAMPLE = "dataset=sample"


def test_shares_of_all_of_the_strongest_and_by_weight():
    # From row 0 to seven others; 1 and 7 are evidence, and the way back does not count
    walked = np.array([0.4, 0.2, 0.1, 0.1, 0.08, 0.07, 0.05, 0.0, 0.0])
    found = edge_precision(walked, 0, [1, 7])
    assert found == pytest.approx(EdgePrecision(1 / 6, 1 / 5, 0.2 / 0.6, 2 / 8, 1 / 2, 6))
    # a memory without neighbours has no precision
    found = edge_precision(np.array([0.0, 0.0, 0.0]), 1, [2])
    assert found == EdgePrecision(None, None, None, 0.5, 0.0, 0.0)


def question(id_: str, category: int, *evidence: str) -> Question:
    return Question(id_, "c", category, "multi_hop", "?", "yes", evidence)


def test_every_evidence_turn_of_a_question_with_several_counts():
    texts = ["kiln", "rain", "kiln", "sea", "kiln"]
    turns = tuple(Turn(f"D1:{i}", "Mara", text) for i, text in enumerate(texts, 1))
    session = Session("1", datetime(2024, 3, 2), turns)
    questions = (
        question("c/0", 1, "D1:1", "D1:3"),
        question("c/1", 4, "D1:2"),  # one turn alone
        question("c/2", 5, "D1:1", "D1:3"),  # adversarial
    )
    dataset = Dataset("d", (Conversation("c", ("Mara",), (session,)),), questions, ())
    rules = GraphSettings(max_entities=8, max_share=1, keyword_weight=0.7, name_weight=1.0)
    found = list(measured(dataset, Turns("turns", lead=0), rules))
    half = pytest.approx(EdgePrecision(0.5, 0.5, 0.5, 0.25, 1.0, 2.0))
    assert found == [("c", half), ("c", half)]


def test_a_row_for_each_data_set_and_graph(small, capsys):
    data = [f"locomo {small[0]}{more}" for more in ("", " memory=windows")]
    given = [part for one in data for part in ("--data", f"dataset={one}")]
    assert main(given) == 0
    rows = [line.split(" | ")[:2] for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [[f"| {one}", graph] for one in data for graph in GRAPHS]


def test_a_graph_of_a_model_and_an_unknown_graph_or_setting_are_one_line(capsys):
    for arguments, named in (
        (["relations", "--data", SAMPLE], "graph=relations: a model writes it"),
        (["rulez"], "graph=rulez: no such option; did you mean rules?"),
        (["rules", "--data", "dataset=sample graph.x=1"], "graph.x: no such setting"),
        (
            ["rules", "--data", "dataset=sample graph.max_share=7"],
            "graph.max_share: 7; use a number from",
        ),
    ):
        assert main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert named in line


def test_every_graph_made_by_rules_is_studied():
    named = {path.stem for path in (CONF / "graph").glob("*.yaml")}
    assert named - {"relations", "large"} == set(GRAPHS)
