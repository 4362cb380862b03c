"""Rank correlation of strategies on gold questions and on questions by rule."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from eval.studies.transcripts.rank_agreement import agreement, kendall, spearman
from eval.studies.transcripts.validate import main
from tests.eval.factory import record, write_run

NAMES = ("a", "b", "c", "d")
CONVERSATIONS = tuple(f"c{n}" for n in range(6))


def test_correlations_are_those_of_scipy_with_ties():
    drawn = np.random.default_rng(0).integers(0, 4, (2, 20, 7)).astype(float)
    for one, other, tau, rho in zip(*drawn, kendall(*drawn), spearman(*drawn), strict=True):
        assert tau == pytest.approx(kendalltau(one, other).statistic)
        assert rho == pytest.approx(spearmanr(one, other).statistic)
    # a side on which all are equal has none
    equal, other = np.ones((1, 3)), np.array([[1.0, 2.0, 3.0]])
    assert math.isnan(kendall(equal, other)[0])
    assert math.isnan(spearman(equal, other)[0])


def scores(means: Sequence[float], each: int = 20, seed: int = 0) -> dict[str, dict[str, float]]:
    """Scores of NAMES on `each` questions of each conversation, right with these chances."""
    drawn = np.random.default_rng(seed)
    ids = [f"{one}/{n}" for one in CONVERSATIONS for n in range(each)]
    return {
        name: {id_: float(drawn.random() < mean) for id_ in ids}
        for name, mean in zip(NAMES, means, strict=True)
    }


def conversation_of(id_: str) -> str:
    return id_.partition("/")[0]


def test_the_same_order_has_correlation_1_and_the_opposite_minus_1():
    gold = scores((0.1, 0.4, 0.7, 0.95))
    found = agreement(gold, scores((0.2, 0.5, 0.6, 0.99), 9, 1), conversation_of, 0)
    assert (found.tau.value, found.rho.value) == pytest.approx((1, 1))
    assert (found.gold, found.silver, found.tau.clusters) == (120, 54, 6)
    assert found.tau.low > 0.5
    assert found.halves > 0.8
    opposite = agreement(gold, scores((0.9, 0.6, 0.3, 0.1), 9, 1), conversation_of, 0)
    assert opposite.tau.value == pytest.approx(-1)
    assert opposite.crossed < -0.8
    # questions without a difference have a wide interval
    found = agreement(gold, scores((0.5, 0.5, 0.5, 0.5), 20, 1), conversation_of, 0)
    assert found.tau.high - found.tau.low > 0.8


def layout(folder: Path, rule: str | None) -> Path:
    """A file with two questions of each conversation, made by `rule`."""
    turn = {"speaker": "A", "dia_id": "D1:1", "text": "Bees."}
    item = {"question": "Who?", "answer": "A", "evidence": ["D1:1"], "category": 4}
    rows = [
        {
            "sample_id": one,
            "conversation": {"session_1": [turn], "session_1_date_time": "2025-05-08 14:00"},
            "qa": [item | ({"rule": rule} if rule else {})] * 2,
        }
        for one in CONVERSATIONS
    ]
    path = folder / f"{rule}.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def runs(folder: Path, path: Path, means: Mapping[str, float], **fields: Any) -> list[str]:
    """Folders of a run of each strategy, whose scores have these means in every conversation."""
    data = path.read_bytes()
    file = {"name": path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    found = []
    for name, mean in means.items():
        records = [
            record(f"{one}/{n}", 4, scores={"recall@10": mean}, **fields)
            for one in CONVERSATIONS
            for n in range(2)
        ]
        config = {"strategy": {"name": name}, "k": 10, "dataset": {"path": str(path)}}
        found.append(str(write_run(folder / name, records, name, data=[file], config=config)))
    return found


MEANS = {"bm25": 0.5, "fusion": 0.8, "graph_walk": 0.6}


def test_prints_means_and_correlations_by_rule(tmp_path, capsys):
    gold = runs(tmp_path / "gold", layout(tmp_path, None), MEANS)
    silver = runs(tmp_path / "silver", layout(tmp_path, "who"), {**MEANS, "bm25": 0.7})
    assert main(["--gold", *gold, "--silver", *silver, "--score", "recall@10"]) == 0
    said = capsys.readouterr().out
    lines = {line.split()[0]: line.split() for line in said.splitlines() if line.strip()}
    assert lines["bm25"] == ["bm25", "0.500", "0.700"]
    assert lines["who"][:4] == ["who", "3", "12", "12"]
    assert lines["all"][4] == "+0.33"  # one of three pairs is the other way round
    assert lines["all"][7] == "+0.50"


def test_refuses_runs_that_cannot_be_compared(tmp_path, capsys):
    plain, made = layout(tmp_path, None), layout(tmp_path, "who")
    gold = runs(tmp_path / "gold", plain, MEANS)
    silver = runs(tmp_path / "silver", made, MEANS)
    for arguments, problem in (
        ([gold, gold], "questions were not made by rule"),
        ([gold[:2], silver], "share 2 strategies"),
    ):
        assert main(["--gold", *arguments[0], "--silver", *arguments[1]]) == 2
        assert problem in capsys.readouterr().err
    made.write_text(made.read_text() + " ", encoding="utf-8")
    assert main(["--gold", *gold, "--silver", *silver]) == 2
    assert "files have changed since the run" in capsys.readouterr().err
