"""Measures of rankings as a data frame: of runs, and of rankings without a file and a folder."""

import numpy as np
import pytest

from eval import api
from memsys.core.errors import InputError
from tests.eval.analyse.retrieval.conftest import CONVERSATIONS, ranked, records

PERFECT = {
    "ash/0": ["D1:1", "D1:3"],
    "ash/1": ["D1:2", "D3:4"],
    "ash/2": ["D3:1", "D2:1"],
    "fir/0": ["D2:2", "D1:1"],
}


def test_a_row_per_run_and_type_with_intervals(tmp_path):
    places = {name: (1 + i, 40) for i, name in enumerate(CONVERSATIONS)}
    ranked(tmp_path / "one", strategy="bm25", by_conversation=places)
    ranked(tmp_path / "two", (1, 2), "walk")
    runs = api.load_runs([tmp_path / "one", tmp_path / "two"])
    frame = api.retrieval(runs, ["recall@3", "session_mrr"])
    assert frame["run"].tolist() == ["bm25"] * 6 + ["walk"] * 6
    overall = frame[frame.type == "overall"].set_index("run")
    assert overall.loc["bm25", "recall@3"] == pytest.approx(0.25)
    assert overall.loc["bm25", "recall@3_low"] < 0.25 < overall.loc["bm25", "recall@3_high"]
    assert overall.loc["walk", "session_mrr"] == 1
    assert overall["n"].tolist() == [48, 48]
    axes = api.plot(frame, "recall@3")
    assert len(axes.containers) == 4  # bars and whiskers of two runs
    main = api.retrieval(runs[1:], unit="session")
    assert {"session_recall@10", "session_ndcg@10", "session_store_share@10"} <= set(main)


def test_the_unit_and_the_measures_are_those_of_the_runs(tmp_path):
    rows = records(evidence=["D1:1", "D2:4"])
    ranked(tmp_path / "one", (), "sessions", rows=rows, unit="session")
    ranked(tmp_path / "two", (5,), "all", length=20, selected=True)
    sessions, selected = api.load_runs([tmp_path / "one", tmp_path / "two"])
    assert {"session_recall@10", "session_mrr"} <= set(api.retrieval([sessions]))
    with pytest.raises(InputError, match="whole sessions were ranked, not turns"):
        api.retrieval([sessions], unit="turn")
    overall = api.retrieval([selected]).set_index("type").loc["overall"]
    assert [overall["recall"], overall["precision"]] == pytest.approx([0.5, 0.05])
    assert {"session_recall@10", "session_recall"} <= set(api.retrieval([sessions, selected]))


def test_rankings_without_a_folder_have_a_table_by_type(trees, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    table = api.score_rankings(PERFECT, dataset=str(trees), measures=["recall@2", "mrr"])
    assert table["type"].tolist() == ["multi_hop", "temporal", "single_hop", "overall"]
    overall = table.set_index("type").loc["overall"]
    assert (overall["n"], overall["recall@2"], overall["mrr"]) == (4, 1.0, 0.875)
    assert overall["mrr_low"] <= 0.875 <= overall["mrr_high"]
    assert table.attrs["matching"]["matched"] == 4
    assert sorted(tmp_path.iterdir()) == before


def test_a_rankings_own_unit_is_scored_by_default(trees):
    sessions = {"ash/1": {"D3": np.float32(0.5), "D1": np.float32(0.1), "D2": np.float32(0.9)}}
    table = api.score_rankings(sessions, dataset=str(trees))
    assert {"session_recall@10", "session_ndcg@10", "session_mrr"} <= set(table.columns)
    assert table["session_mrr"].tolist() == [0.5, 0.5]


def test_nothing_is_scored_by_guess(trees):
    for rankings, measures, told in (
        (PERFECT, None, "rankings: depth 2: recall@10 is unknown"),
        ({"ash/0": ["D7:1"]}, None, "'ash/0': 'D7:1' is no turn or session of ash"),
        (PERFECT, ["first_rank"], "first_rank: has no value where nothing is found"),
        ({}, None, "contains no ranking"),
        ({7: ["D1:1"]}, None, "the question 7 must be a text"),
    ):
        with pytest.raises(InputError, match=told):
            api.score_rankings(rankings, dataset=str(trees), measures=measures)
    assert len(api.score_rankings(PERFECT, dataset=str(trees), depth=10)) == 4
