"""Reading BEAM's layout."""

import json
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.beam import BEAM_TYPES, Beam
from eval.datasets.locomo_plus import LOCOMO_PLUS_TYPES
from eval.datasets.longmemeval import LONGMEMEVAL_TYPES
from eval.datasets.types import ADVERSARIAL, TYPES, Dataset
from memsys.core.errors import InputError

ABILITIES = (
    *("abstention", "contradiction_resolution", "event_ordering", "information_extraction"),
    *("instruction_following", "knowledge_update", "multi_session_reasoning"),
    *("preference_following", "summarization", "temporal_reasoning"),
)


def batches(first: int = 0) -> list[Any]:
    """Two batches, of two turns and of one; ids count from `first`."""
    said = (
        "I keep eleven bees' nests behind the mill. ->-> 1,1",
        "Eleven! Do they winter well?",
        "They do, but I never open the nests. ->> 2,N/A",
        "I opened a nest: twelve now.",
        "A good year.",
    )
    roles = ("user", "assistant", "user", "user", "assistant")
    opening, reply, more, later, end = (
        {"role": role, "id": id_, "content": text}
        for id_, role, text in zip(count(first), roles, said, strict=False)
    )
    opening |= {"time_anchor": "March-15-2024", "index": "1,1", "question_type": "main_question"}
    later["time_anchor"] = "April-02-2024"
    return [
        {"batch_number": 1, "turns": [[opening, reply], [more]]},
        {"batch_number": 2, "turns": [[later, end]]},
    ]


def plans() -> list[Any]:
    """Two plans, as the chats of 10M tokens have them."""
    return [{"plan-1": batches(), "plan-2": None}, {"plan-1": None, "plan-2": batches(5)}]


def probes() -> dict[str, Any]:
    """One question of each ability."""
    rubric = {"rubric": ["LLM response should state: twelve"], "difficulty": "easy"}
    made: dict[str, Any] = {
        name: [{"question": f"How many nests are there ({name})?", "answer": "twelve", **rubric}]
        for name in ABILITIES
    }
    sources: dict[str, Any] = {
        "contradiction_resolution": {"first_statement": [2], "second_statement": [3]},
        "event_ordering": [[0], [3, 0]],
        "knowledge_update": {"original_info": [0], "updated_info": [3]},
        "information_extraction": [3],
    }
    for name, ids in sources.items():
        made[name][0]["source_chat_ids"] = ids
    for name, field in (
        ("abstention", "ideal_response"),
        ("contradiction_resolution", "ideal_answer"),
        ("summarization", "ideal_summary"),
        ("instruction_following", "expected_compliance"),
        ("preference_following", "expected_compliance"),
    ):
        made[name][0][field] = made[name][0].pop("answer")
    return made


def write(folder: Path, chat: Any = None, asked: Any = None, name: str = "chat.json") -> Path:
    """One conversation in `folder`."""
    (folder / "probing_questions").mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(batches() if chat is None else chat), encoding="utf-8")
    questions = json.dumps(probes() if asked is None else asked)
    path = folder / "probing_questions" / "probing_questions.json"
    path.write_text(questions, encoding="utf-8")
    return folder


def load(path: Path, **options: Any) -> Dataset:
    return Beam(name="beam", path=str(path), **options).load()


def test_a_batch_is_a_session_and_a_message_a_turn_without_the_generator_s_notes(tmp_path):
    data = load(write(tmp_path / "1"))
    (conversation,) = data.conversations
    assert (conversation.id, conversation.speakers) == ("1", ("user", "assistant"))
    first, second = conversation.sessions
    assert (first.id, first.time) == ("s1", datetime(2024, 3, 15))
    assert (second.id, second.time) == ("s2", datetime(2024, 4, 2))
    assert [turn.id for turn in first.turns] == ["s1:0", "s1:1", "s1:2"]
    assert [turn.speaker for turn in first.turns] == ["user", "assistant", "user"]
    texts = [turn.text for session in (first, second) for turn in session.turns]
    assert texts[0] == "I keep eleven bees' nests behind the mill."
    assert texts[2] == "They do, but I never open the nests."
    assert not any(">" in text for text in texts)
    assert data.repairs == (
        "chat.json: sample 1: content: 2 notes of the generator's plan removed",
    )


def test_the_ten_abilities_are_the_types(tmp_path):
    data = load(write(tmp_path / "1"))
    assert data.types == BEAM_TYPES
    assert len(data.questions) == len(ABILITIES) == len(BEAM_TYPES)
    names = ["adversarial" if name == "abstention" else name for name in ABILITIES]
    assert [one.type for one in data.questions] == names
    assert [one.id for one in data.questions] == [f"1/{n}" for n in range(10)]
    kinds = (TYPES, LONGMEMEVAL_TYPES, LOCOMO_PLUS_TYPES, BEAM_TYPES)
    ids = [id_ for kind in kinds for id_ in kind if id_ != ADVERSARIAL]
    assert len(set(ids)) == len(ids)
    # Only what has an answer has a gold answer.
    golds = {one.type: one.gold for one in data.questions}
    without = {type_ for type_, gold in golds.items() if gold is None}
    assert without == {"adversarial", "instruction_following", "preference_following"}
    assert {gold for gold in golds.values() if gold} == {"twelve"}
    # Evidence is what the message ids mean.
    assert {one.type: one.evidence for one in data.questions if one.evidence} == {
        **dict.fromkeys(("event_ordering", "knowledge_update"), ("s1:0", "s2:0")),
        **{"contradiction_resolution": ("s1:2", "s2:0"), "information_extraction": ("s2:0",)},
    }


def test_ids_that_mean_nothing_or_several_turns_are_reported(tmp_path):
    chat = batches()
    chat[1]["turns"][0][0]["id"] = 0
    asked = probes()
    asked["event_ordering"][0]["source_chat_ids"] = [["--"], [2]]
    data = load(write(tmp_path / "1", chat, asked))
    cited = {one.type: one.evidence for one in data.questions}
    assert cited["event_ordering"] == ("s1:2",)
    assert cited["knowledge_update"] == ()
    place = "probing_questions.json: sample 1: "
    assert f"{place}event_ordering[0].source_chat_ids: '--' dropped: no such message" in (
        data.repairs
    )
    assert any("no evidence: 2 messages have the id 0" in line for line in data.repairs)


def test_a_chat_may_be_of_several_plans_or_of_lists_of_messages(tmp_path):
    data = load(write(tmp_path / "1", plans()))
    (conversation,) = data.conversations
    assert [session.id for session in conversation.sessions] == ["s1", "s2", "s3", "s4"]
    assert data.questions[1].evidence == ("s1:2", "s2:0")
    listed = [[one for turn in batch["turns"] for one in turn] for batch in batches()]
    (as_list,) = load(write(tmp_path / "2", listed)).conversations
    assert as_list.sessions == conversation.sessions[:2]


def test_the_truncated_chat_goes_first_as_in_the_published_scripts(tmp_path):
    write(tmp_path / "1")
    write(tmp_path / "1", [*batches(), *batches(5)], name="chat_trunecated.json")
    data = load(tmp_path)
    assert len(data.conversations[0].sessions) == 4
    assert [file.name for file in data.files] == ["chat_trunecated.json", "probing_questions.json"]


def test_a_session_without_a_date_has_that_of_the_session_before(tmp_path):
    chat = batches()
    del chat[1]["turns"][0][0]["time_anchor"]
    chat[1]["turns"][0][1]["content"] = " "
    data = load(write(tmp_path / "1", chat))
    assert data.conversations[0].sessions[1].time == datetime(2024, 3, 15)
    assert len(data.conversations[0].sessions[1].turns) == 1
    assert any("1 blank messages dropped" in line for line in data.repairs)
    assert any("[1].turns: no time_anchor; the time of the" in line for line in data.repairs)


def test_folders_at_any_depth_in_order_of_number(tmp_path):
    for name in ("100K/10", "100K/9", "1M/1"):
        write(tmp_path / name)
    ids = [one.id for one in load(tmp_path).conversations]
    assert ids == ["1M-1", "100K-9", "100K-10"]
    assert [one.id for one in load(tmp_path / "100K").conversations] == ["9", "10"]
    assert [one.id for one in load(tmp_path / "100K" / "10").conversations] == ["10"]


def test_filters(tmp_path):
    for name in ("1", "2"):
        write(tmp_path / name)

    def ids(**options: Any) -> list[str]:
        return [one.id for one in load(tmp_path, **options).questions]

    assert ids(conversations=["2"], limit=2) == ["2/0", "2/1"]
    assert ids(types=["temporal_reasoning", "adversarial"]) == ["1/0", "1/9", "2/0", "2/9"]
    unusable = ({"key": "corrected"}, {"key_file": "errors.jsonl"})
    for wrong in ({"types": ["abstention"]}, {"conversations": ["3"]}, {"limit": 0}, *unusable):
        with pytest.raises(InputError, match=next(iter(wrong))):
            ids(**wrong)


def changed(place: str, value: Any) -> list[Any]:
    chat = batches()
    if place == "turns":
        chat[0]["turns"] = value
    elif place == "batch":
        chat[0] = value
    else:
        chat[0]["turns"][0][0][place] = value
    return chat


@pytest.mark.parametrize(
    ("chat", "asked", "message"),
    [
        ({"chat": []}, None, "chat.json: sample 1: chat: must be a list"),
        ([], None, "chat.json: sample 1: chat: no batch"),
        (changed("batch", {"messages": []}), None, r"\[0\]: neither a batch with turns nor"),
        (changed("batch", {"plan": batches()}), None, r"\[0\]: neither a batch with turns nor"),
        (changed("batch", ["x"]), None, r"\[0\]\[0\]\[0\]: must be an object"),
        (changed("turns", []), None, r"\[0\]\.turns: no messages"),
        (changed("role", "system"), None, r"\.turns\[0\]\[0\]\.role: Input should be 'user'"),
        (changed("id", "0"), None, r"\[0\]\[0\]\.id: Input should be a valid integer"),
        (changed("time_anchor", "2024-03-15"), None, "time_anchor: '2024-03-15' is no time"),
        (changed("time_anchor", "Smarch-15-2024"), None, "'Smarch-15-2024' is no time"),
        (changed("time_anchor", None), None, "no time_anchor in the first batch"),
        (None, [], "probing_questions.json: sample 1: must be an object"),
        (None, {"riddles": []}, "sample 1: riddles: is no ability; they are contradiction_res"),
        (None, {"abstention": [{}]}, r"abstention\[0\]\.question: missing"),
        (None, {"summarization": [{"question": "?"}]}, r"\[0\]\.ideal_summary: must be"),
    ],
)
def test_unknown_forms_are_refused(tmp_path, chat, asked, message):
    with pytest.raises(InputError, match=message):
        load(write(tmp_path / "1", chat, asked))


def test_what_is_no_folder_of_the_repository(tmp_path):
    with pytest.raises(InputError, match=r"dataset\.path is missing: BEAM is not part of"):
        Beam(name="beam").load()
    (tmp_path / "empty").mkdir()
    (tmp_path / "rows.json").write_text("[]")
    (write(tmp_path / "bare" / "1") / "chat.json").unlink()
    for name in ("a-1", "A/1"):
        write(tmp_path / "both" / name)
    for name, message in (
        ("none", "no such folder; name a folder of the published"),
        ("empty", "contains no probing_questions"),
        ("rows.json", "no such folder; name a folder"),
        ("bare", r"neither chat_trunecated\.json nor chat\.json"),
        ("both", "folders whose names look alike, as a-1"),
    ):
        with pytest.raises(InputError, match=message):
            load(tmp_path / name)
