"""Reading LongMemEval's layout, and session ids that do not give away where the answer is."""

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.retrieval.score import score_rankings
from eval.datasets.files import shared_folder
from eval.datasets.longmemeval import LONGMEMEVAL_TYPES, LongMemEval
from eval.datasets.types import TYPES, Dataset, Question
from memsys.core.errors import InputError
from tests.eval.datasets.conftest import instance, turn, write_instances
from tests.eval.datasets.test_data_variants import LONG, MISSING, check, put

_REAL = shared_folder() / "longmemeval" / "oracle_sample97.json"


def load(tmp_path: Path, *instances: Any, **options: Any) -> Dataset:
    path = write_instances(tmp_path / "made.json", *instances)
    return LongMemEval(name="made", path=str(path), **options).load()


def test_an_instance_is_a_conversation_and_its_question(tmp_path):
    data = load(tmp_path, instance())
    (conversation,), (question,) = data.conversations, data.questions
    assert (conversation.id, conversation.speakers) == ("q1", ("user", "assistant"))
    assert [one.id for one in conversation.sessions] == ["s1", "s2"]  # by time
    assert conversation.sessions[0].time == datetime(2023, 4, 2, 7)
    assert [one.id for one in conversation.sessions[1].turns] == [*("s2:0", "s2:1", "s2:2")]
    text = "How many cherry trees do I have?"
    assert question == Question(
        *("q1/0", "q1", 16, "knowledge_update", text, "7", ("s2:0", "s1:0")),
        evidence_sessions=("s1", "s2"),
        asked_at=datetime(2023, 6, 1, 9, 5),
    )
    assert data.types == LONGMEMEVAL_TYPES
    assert data.repairs == ()
    assert [file.name for file in data.files] == ["made.json"]


def test_what_ends_in_abs_is_to_be_abstained_from(tmp_path):
    given = instance("q1_abs", answer="You never told me of pear trees.", answer_session_ids=[])
    question = load(tmp_path, given).questions[0]
    assert (question.category, question.type) == (5, TYPES[5])
    assert question.gold is None
    assert question.evidence_sessions == ()


def test_every_official_type(tmp_path):
    names = ["single-session-user", "single-session-assistant", "single-session-preference"]
    names += ["multi-session", "temporal-reasoning", "knowledge-update"]
    made = [instance(f"q{i}", question_type=name) for i, name in enumerate(names)]
    data = load(tmp_path, *made)
    assert [one.type for one in data.questions] == [name.replace("-", "_") for name in names]
    assert not {one.category for one in data.questions} & TYPES.keys()


def test_blank_turns_and_sessions_met_again_are_told(tmp_path):
    blank = [turn("user", " "), turn("assistant", "Hello.")]
    given = instance(
        haystack_sessions=[blank, [turn("user", "Hi.")], [turn("user", "")]],
        haystack_session_ids=["s", "s", "t"],
        haystack_dates=["2023/05/20 (Sat) 18:30"] * 3,
        answer_session_ids=["s"],
    )
    data = load(tmp_path, given, session_ids="published")
    turns = [one.id for session in data.conversations[0].sessions for one in session.turns]
    assert turns == ["s:1", "s#2:0"]
    assert len(data.repairs) == 3
    assert all(line.startswith("made.json: sample q1: haystack_sessions[") for line in data.repairs)


def test_filters(tmp_path):
    made = [instance("a"), instance("b", question_type="multi-session"), instance("c_abs")]
    ids = lambda **options: [q.id for q in load(tmp_path, *made, **options).questions]  # noqa: E731
    assert ids(types=["multi_session", "adversarial"]) == ["b/0", "c_abs/0"]
    assert ids(conversations=["c_abs", "a"]) == ["a/0", "c_abs/0"]
    assert ids(types=["knowledge_update", "adversarial"], limit=1) == ["a/0"]
    for wrong in ({"types": ["single_hop"]}, {"conversations": ["z"]}, {"types": "multi_session"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            ids(**wrong)
    for options, message in (
        ({"types": ["multi_session"], "conversations": ["a"]}, "no question is left"),
        ({"limit": 0}, "limit: 0"),
    ):
        with pytest.raises(InputError, match=message):
            ids(**options)


def test_a_file_of_another_shape_is_refused(tmp_path):
    for wrong, message in (
        (["x"], "sample #1: must be an object"),
        ([{}], "sample #1: question_id: must be a text"),
        ([], "must be a list"),
        *(
            ([instance(), instance(alike)], f"sample {alike}: question_id: used twice")
            for alike in ("q1", "Q1", "q1 ")
        ),
    ):
        with pytest.raises(InputError, match=message):
            load(tmp_path, *wrong)


@pytest.mark.skipif(not _REAL.is_file(), reason="the published instances are not here")
def test_published_instances():
    data = LongMemEval(name="longmemeval", path=str(_REAL)).load()
    assert len(data.conversations) == len(data.questions) == 97
    assert Counter(question.type for question in data.questions) == {
        **{"temporal_reasoning": 26, "knowledge_update": 21, "multi_session": 20},
        **{"single_session_user": 12, "single_session_preference": 10},
        **{"single_session_assistant": 6, "adversarial": 2},
    }
    assert all(question.evidence and question.evidence_sessions for question in data.questions)
    assert data.repairs == ()
    for conversation in data.conversations:
        times = [session.time for session in conversation.sessions]
        assert times == sorted(times)
    assert sum(len(s.turns) for c in data.conversations for s in c.sessions) == 2176


_TURN = "haystack_sessions/0/0"
_IN_TURN = r"q1: haystack_sessions\[0\]\[0\]"
# Place, values that are put there, and the expectation.
FIELDS: list[tuple[str, list[Any], int | str]] = [
    ("question_id", [None, 5, "", [], {}, True], "#1: question_id: .*(must be|write) a text"),
    ("question_type", [5, "", "x", LONG, "adversarial"], "q1: question_type: "),
    ("question_type", ["multi_session"], "q1: question_type: 'multi_session' is unknown"),
    ("answer", [None, MISSING, "", " "], "q1: answer: missing or empty"),
    ("answer", [True, [], {}], "q1: answer: .* must be a text or a number"),
    ("answer", ["x", 7, 1.5, LONG], 1),
    ("question_date", [5, "", "2023-06-01", "1 May 2023"], "q1: question_date: .* is no time"),
    ("question_date", ["2023/13/01 (Sat) 01:00", "2023/02/30 (Thu) 10:00"], "question_date: '2023"),
    ("haystack_sessions", [5, {}, "x", [], [[], [], []]], "q1: haystack_sessions"),
    ("haystack_sessions", [[[], []]], "q1: haystack_sessions: no turns"),
    (f"{_TURN}/content", [""], rf"{_IN_TURN}\.content: empty"),
    ("haystack_session_ids/0", [5, "", []], r"q1: haystack_session_ids\[0\]"),
    ("haystack_dates/0", [None, 5, "", "soon", LONG], r"q1: haystack_dates\[0\]"),
    ("haystack_dates", [["2023/05/20 (Sat) 18:30"], []], "haystack_dates must have equal lengths"),
    ("answer_session_ids/1", ["x", LONG], r"q1: answer_session_ids\[1\]: .* is no session"),
    ("answer_session_ids", [[]], 1),
    ("unknown", [[None]], 1),
]


@pytest.mark.parametrize(("place", "values", "expected"), FIELDS)
def test_histories_are_loaded_or_refused_in_one_line(place, values, expected, tmp_path):
    for value in values:
        data = json.dumps([put(instance(), place, value)]).encode()
        check(tmp_path / "my.json", data, expected, LongMemEval, 1)


@pytest.mark.parametrize(
    ("given", "ids"),
    [(["a", "a", "a#2"], ["a", "a#2", "a#2#2"]), (["a#2", "a", "a"], ["a#2", "a", "a#3"])],
)
def test_session_ids_never_collide(tmp_path, given, ids):
    made = instance(
        haystack_sessions=[instance()["haystack_sessions"][0]] * 3,
        haystack_dates=["2023/05/20 (Sat) 18:30"] * 3,
        haystack_session_ids=given,
        answer_session_ids=[],
    )
    data = load(tmp_path, made, session_ids="published")
    assert [one.id for one in data.conversations[0].sessions] == ids
    assert data.repairs[-1].endswith(f"{given[2]} repeated; #{ids[2][-1]} added")


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
    path = write_instances(tmp_path / "m.json", mixed())
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
    write_instances(tmp_path / "longmemeval_oracle.json", mixed())
    others, ours = (score_rankings({"q1": ids}, "longmemeval", depth=10) for ids in rankings)
    assert others.equals(ours)
