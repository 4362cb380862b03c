"""Measures of rankings as a data frame."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import api
from memsys.errors import InputError
from tests.eval.retrieval.ranked_runs import CONVERSATIONS, ranked, records


def test_a_row_per_run_and_type_with_intervals(tmp_path: Path) -> None:
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
    with pytest.raises(InputError, match="depth 100: recall@200 is unknown"):
        api.retrieval(runs, ["recall@200"])


def test_the_unit_and_the_measures_are_those_of_the_runs(tmp_path: Path) -> None:
    ranked(tmp_path / "one", (), "sessions", rows=records(evidence=["D1:1", "D2:4"]))
    for name in ("manifest.json", "rankings.jsonl", "memories.jsonl"):
        path = tmp_path / "one" / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"unit": "turn"', '"unit": "session"'), encoding="utf-8")
    ranked(tmp_path / "two", (5,), "all", length=20, selected=True)
    sessions, selected = api.load_runs([tmp_path / "one", tmp_path / "two"])
    assert {"session_recall@10", "session_mrr"} <= set(api.retrieval([sessions]))
    with pytest.raises(InputError, match="whole sessions were ranked, not turns"):
        api.retrieval([sessions], unit="turn")
    overall = api.retrieval([selected]).set_index("type").loc["overall"]
    assert [overall["recall"], overall["precision"]] == pytest.approx([0.5, 0.05])
    assert {"session_recall@10", "session_recall"} <= set(api.retrieval([sessions, selected]))


def test_first_rank_has_no_mean(tmp_path: Path) -> None:
    ranked(tmp_path / "one")
    for name in ("first_rank", "session_first_rank"):
        with pytest.raises(InputError, match=f"^{name}: has no value where nothing is found; use"):
            api.retrieval(api.load_runs([tmp_path / "one"]), ["mrr", name])
