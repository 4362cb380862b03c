"""The transformer of docs/exporting.md, executed with a stand-in for PyTerrier."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from tests.memsys.service.corpus import CORPUS, QUERIES

DOCUMENT = Path(__file__).parents[3] / "docs" / "exporting.md"
_CODE = re.compile(r"<!-- example: pyterrier -->\n```python\n(.*?)```", re.DOTALL)
TOPICS = pd.DataFrame([(one["id"], one["text"]) for one in QUERIES], columns=["qid", "query"])


@pytest.fixture
def retriever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    stand_in = ModuleType("pyterrier")
    stand_in.Transformer = type("Transformer", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyterrier", stand_in)
    (code,) = _CODE.findall(DOCUMENT.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    exec(compile(code, str(DOCUMENT), "exec"), names)  # noqa: S102 - our own document
    corpus = [{"docno": one["id"], "text": one["text"]} for one in CORPUS]
    return names["MemsysRetriever"](corpus, "bm25", num_results=3, cache=tmp_path)


def test_topics_become_rankings(retriever):
    found = retriever.transform(TOPICS)
    assert list(found.columns) == ["qid", "query", "docno", "score", "rank"]
    assert list(found["qid"]) == ["q1"] * 3 + ["q2"] * 3 + ["q3"] * 3
    assert list(found["rank"]) == [0, 1, 2] * 3
    best = found[found["rank"] == 0].set_index("qid")["docno"]
    assert (best["q1"], best["q2"]) == ("d1", "d 3")
    assert all(found.groupby("qid")["score"].is_monotonic_decreasing)


def test_results_of_an_earlier_stage_are_ranked_again(retriever):
    earlier = pd.DataFrame(
        [("q1", QUERIES[0]["text"], one, 0.0, 0) for one in ("d4", "d1", "d2", "d5", "d6")],
        columns=["qid", "query", "docno", "score", "rank"],
    )
    found = retriever.transform(earlier)
    assert found["docno"][0] == "d1"
    assert len(found) == 3
    assert set(found["docno"]) <= {"d4", "d1", "d2", "d5", "d6"}
