"""Rankings are scored from Python without a file and without a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eval import api
from memsys.errors import InputError

PERFECT = {
    "ash/0": ["D1:1", "D1:3"],
    "ash/1": ["D1:2", "D3:4"],
    "ash/2": ["D3:1", "D2:1"],
    "fir/0": ["D2:2", "D1:1"],
}


def test_a_table_by_type_with_intervals(
    trees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    table = api.score_rankings(PERFECT, dataset=str(trees), measures=["recall@2", "mrr"])
    assert table["type"].tolist() == ["multi_hop", "temporal", "single_hop", "overall"]
    overall = table.set_index("type").loc["overall"]
    assert (overall["n"], overall["recall@2"], overall["mrr"]) == (4, 1.0, 0.875)
    assert overall["mrr_low"] <= 0.875 <= overall["mrr_high"]
    assert table.attrs["matching"]["matched"] == 4
    assert sorted(tmp_path.iterdir()) == before


def test_a_rankings_own_unit_is_scored_by_default(trees: Path) -> None:
    sessions = {"ash/1": {"D3": np.float32(0.5), "D1": np.float32(0.1), "D2": np.float32(0.9)}}
    table = api.score_rankings(sessions, dataset=str(trees))
    assert {"session_recall@10", "session_ndcg@10", "session_mrr"} <= set(table.columns)
    assert table["session_mrr"].tolist() == [0.5, 0.5]


def test_nothing_is_scored_by_guess(trees: Path) -> None:
    with pytest.raises(InputError, match="rankings: depth 2: recall@10 is unknown"):
        api.score_rankings(PERFECT, dataset=str(trees))
    assert len(api.score_rankings(PERFECT, dataset=str(trees), depth=10)) == 4
    with pytest.raises(InputError, match="'ash/0': 'D7:1' is no turn or session of ash"):
        api.score_rankings({"ash/0": ["D7:1"]}, dataset=str(trees))
    with pytest.raises(InputError, match="first_rank: has no value where nothing is found"):
        api.score_rankings(PERFECT, dataset=str(trees), measures=["first_rank"])
    with pytest.raises(InputError, match="contains no ranking"):
        api.score_rankings({}, dataset=str(trees))
    with pytest.raises(InputError, match="the question 7 must be a text"):
        api.score_rankings({7: ["D1:1"]}, dataset=str(trees))  # type: ignore[dict-item]
