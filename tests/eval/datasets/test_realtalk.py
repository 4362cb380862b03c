"""Reading REALTALK's layout, and the published chats where they are."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.files import load_sources, shared_folder
from eval.datasets.realtalk import RealTalk
from eval.datasets.types import Dataset
from memsys.core.errors import InputError
from memsys.knowledge.memory.turns import Turns

_PUBLISHED = shared_folder() / "realtalk"


def turn(id_: str, time: str, text: str = "Good morning!", **fields: Any) -> dict[str, Any]:
    said = {"dia_id": id_, "speaker": "Ada", "clean_text": text, "date_time": f"29.12.2023, {time}"}
    return {**said, "img_file": [], "img_url": [], **fields}


def chat(evidence: list[str] | None = None, **fields: Any) -> dict[str, Any]:
    """Return a chat of two sessions; the ids of the second continue the first's, as published."""
    cited = ["D1:1"] if evidence is None else evidence
    picture = {"blip_caption": "a red kite", "img_url": ["https://example.org/kite.jpg"]}
    return {
        "name": {"speaker_1": "Ada", "speaker_2": "Bo"},
        "session_1_date_time": "29.12.2023, 22:42:04",
        "session_1": [turn("D1:1", "22:42:04"), turn("D1:2", "23:05:10", **picture)],
        "events_session_1": [{"Ada": ["greets"]}],
        "session_2_date_time": "29.12.2023, 23:30:00",
        "session_2": [turn("D1:3", "23:30:00"), turn("D2:1", "23:59:59")],
        "qa": [{"question": "What flew?", "answer": "A kite", "evidence": cited, "category": 1}],
        **fields,
    }


def load(folder: Path, *chats: dict[str, Any], **options: Any) -> Dataset:
    for number, one in enumerate(chats, 9):
        (folder / f"Chat_{number}_Ada_Bo.json").write_text(json.dumps(one), "utf-8")
    return RealTalk(name="made", path=str(folder), **options).load()


def test_sessions_are_those_of_the_keys_and_turns_have_their_own_time(tmp_path):
    data = load(tmp_path, chat(), chat())
    assert [one.id for one in data.conversations] == ["Chat_9", "Chat_10"]  # by number, not by name
    first, question = data.conversations[0], data.questions[0]
    assert first.speakers == ("Ada", "Bo")
    sessions = {one.id: [said.id for said in one.turns] for one in first.sessions}
    assert sessions == {"session_1": ["D1:1", "D1:2"], "session_2": ["D1:3", "D2:1"]}
    memories = [one for session in first.sessions for one in Turns("turns").build(session)]
    assert [one.time.strftime("%H:%M:%S") for one in memories] == (
        ["22:42:04", "23:05:10", "23:30:00", "23:59:59"]
    )
    assert [one.session_time.strftime("%H:%M") for one in memories] == ["22:42"] * 2 + ["23:30"] * 2
    pictured = first.sessions[0].turns[1]
    image = "https://example.org/kite.jpg"
    assert (pictured.caption, pictured.image) == ("a red kite", image)
    assert (question.id, question.type, question.gold) == ("Chat_9/0", "multi_hop", "A kite")
    assert question.asked_at == datetime(2023, 12, 29, 23, 59, 59)
    assert data.repairs == ()


@pytest.mark.parametrize(
    ("written", "turns"),
    [
        ("D1:1; D2:1", ["D1:1", "D2:1"]),
        ("D1:1-D1:3", ["D1:1", "D1:2", "D1:3"]),
        ("D1:1-D1:2;D2:1", ["D1:1", "D1:2", "D2:1"]),
        ("D1:2.", ["D1:2"]),
        ("D1;2", ["D1:2"]),
        ("D 1:2", ["D1:2"]),
        ("D1:1. D2:1", ["D1:1", "D2:1"]),
        ("D1:1:D2:1", ["D1:1", "D2:1"]),
    ],
)
def test_lists_ranges_and_slips_are_read_and_reported(tmp_path, written, turns):
    data = load(tmp_path, chat([written, "D1:1"]))
    assert set(data.questions[0].evidence) == {*turns, "D1:1"}
    assert f"{written!r} read as {', '.join(turns)}" in data.repairs[0]
    assert data.repairs[-1].startswith("evidence: 1 ")


@pytest.mark.parametrize("written", ["D1:9", "", "D:1", "D1:3-D1:1", "1:2", "D1:1-D1:9"])
def test_evidence_of_no_turn_is_refused_in_own_files(tmp_path, written):
    with pytest.raises(InputError, match=r"chat Chat_9: qa\[0\]\.evidence: .* is no turn's dia_id"):
        load(tmp_path, chat([written]))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"session_2_date_time": "23:30"}, "session_2_date_time: '23:30' is no time; write"),
        ({"session_1": [turn("D1:3", "23:00:00")]}, r"session_2\[0\].dia_id: 'D1:3' is used twice"),
        ({"session_1": [turn("D1:1", "25:00:00")]}, r"session_1\[0\].date_time: .* is no time"),
        ({"qa": [{"question": "Q", "answer": "", "category": 2}]}, "answer: must be a text"),
        ({"qa": [{"question": "Q?", "answer": "A", "evidence": [], "category": 5}]}, "category: 5"),
        ({"session_1": [], "session_2": []}, "session_1: no turns"),
        ({"sesion_3": [turn("D3:1", "23:00:00")]}, "sesion_3: unknown field"),
    ],
)
def test_faults_name_chat_and_field(tmp_path, fields, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, chat(**fields))


def test_names_of_files_paths_and_splits_are_checked(tmp_path):
    for path in ("", " ", 5):
        with pytest.raises(InputError, match=r"dataset\.path: .*; use a path, or null"):
            RealTalk(name="made", path=path).load()  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"dataset\.split=held_out: the data has no Chat_6"):
        load(tmp_path, chat(), split="held_out")
    (tmp_path / "chat.json").write_text(json.dumps(chat()))
    with pytest.raises(InputError, match=r"chat\.json: is no chat; name it Chat_1\.json"):
        load(tmp_path, chat())


@pytest.mark.skipif(not _PUBLISHED.is_dir(), reason="needs $MEMSYS_SHARED/realtalk")
def test_the_published_chats():
    data = RealTalk(name="realtalk").load()
    assert len(data.conversations) == 10
    assert sum(len(session.turns) for one in data.conversations for session in one.sessions) == 8944
    assert Counter(one.category for one in data.questions) == {1: 301, 2: 319, 3: 108}
    assert data.repairs[-1] == (
        "evidence: 134 dropped (no such turn), 24 lists read, 22 questions without a turn, "
        "21 ranges read, 10 slips read, 4 dropped (no id), 3 dropped (empty)"
    )
    assert sum(not one.evidence for one in data.questions) == 22
    pins = {file.sha256 for file in load_sources()["realtalk"].files()}
    assert {file.sha256 for file in data.files} == pins
    held_out = RealTalk(name="realtalk", split="held_out").load()
    assert [one.id for one in held_out.conversations] == [f"Chat_{n}" for n in range(6, 11)]
