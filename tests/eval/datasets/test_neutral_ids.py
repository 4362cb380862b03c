"""Session ids of LongMemEval that do not give away where the answer is."""

from __future__ import annotations

import re
from typing import Any

import pytest

from eval.analyse.retrieval.score import score_rankings
from eval.datasets.longmemeval import LongMemEval
from eval.datasets.types import Dataset
from tests.eval.datasets.made_longmemeval import instance, turn, write


def mixed() -> dict[str, Any]:
    """Evidence between sessions of other sources, one of which occurs twice."""
    given = instance("q1")
    given["haystack_sessions"].insert(1, [turn("user", "Which bread keeps longest?")])
    given["haystack_sessions"].append([turn("user", " "), turn("user", "And which cheese?")])
    given["haystack_session_ids"] = ["answer_a_2", "sharegpt_x_0", "answer_a_1", "sharegpt_x_0"]
    given["haystack_dates"] += ["2023/03/01 (Wed) 10:00"] * 2
    return given


def texts(data: Dataset) -> list[tuple[str, ...]]:
    """The cited texts of each question, and those of its sessions."""
    found = []
    for question in data.questions:
        (own,) = (one for one in data.conversations if one.id == question.conversation)
        turns = {one.id: one.text for session in own.sessions for one in session.turns}
        sessions = {one.id: one.turns[0].text for one in own.sessions}
        cited = question.evidence_sessions or ()
        found.append((*(turns[id_] for id_ in question.evidence), *(sessions[i] for i in cited)))
    return found


def test_ids_show_only_the_order_and_evidence_is_the_same(tmp_path):
    path = write(tmp_path / "m.json", mixed())
    neutral = LongMemEval(name="l", path=str(path)).load()
    published = LongMemEval(name="l", path=str(path), session_ids="published").load()
    for conversation in neutral.conversations:
        ids = [session.id for session in conversation.sessions]
        assert ids == [f"s{n}" for n in range(1, len(ids) + 1)]
        for session in conversation.sessions:
            assert all(re.fullmatch(rf"{session.id}:\d+", one.id) for one in session.turns)
    assert texts(neutral) == texts(published)
    assert "answer_" in str([one.evidence for one in published.questions])
    assert published.published_sessions == {}
    for before, after in zip(published.conversations, neutral.conversations, strict=True):
        names = neutral.published_sessions[before.id]
        assert [names[one.id] for one in before.sessions] == [one.id for one in after.sessions]


@pytest.mark.parametrize(
    "rankings",
    [
        (["answer_a_2:0", "sharegpt_x_0:0"], ["s4:0", "s3:0"]),
        (["sharegpt_x_0#2:1", "answer_a_1:0"], ["s2:1", "s1:0"]),
        (["answer_a_2", "sharegpt_x_0"], ["s4", "s3"]),
    ],
)
def test_rankings_of_others_may_use_either_ids(tmp_path, monkeypatch, rankings):
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path)
    write(tmp_path / "longmemeval_oracle.json", mixed())
    others, ours = (score_rankings({"q1": ids}, "longmemeval", depth=10) for ids in rankings)
    assert others.equals(ours)
