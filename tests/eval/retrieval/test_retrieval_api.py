"""Measures of rankings as a data frame."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval import api
from memsys.errors import InputError
from tests.eval.retrieval.ranked_runs import CONVERSATIONS, ranked


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
