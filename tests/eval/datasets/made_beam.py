"""Conversations in BEAM's layout, with words of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ABILITIES = (
    *("abstention", "contradiction_resolution", "event_ordering", "information_extraction"),
    *("instruction_following", "knowledge_update", "multi_session_reasoning"),
    *("preference_following", "summarization", "temporal_reasoning"),
)


def message(id_: int, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "id": id_, "content": content, **more}


def batches(first: int = 0) -> list[Any]:
    """Two batches, of two turns and of one; ids count from `first`."""
    opening = message(
        first,
        "user",
        "I keep eleven bees' nests behind the mill. ->-> 1,1",
        time_anchor="March-15-2024",
        index="1,1",
        question_type="main_question",
    )
    reply = message(first + 1, "assistant", "Eleven! Do they winter well?")
    more = message(first + 2, "user", "They do, but I never open the nests. ->> 2,N/A")
    later = message(first + 3, "user", "I opened a nest: twelve now.", time_anchor="April-02-2024")
    return [
        {"batch_number": 1, "turns": [[opening, reply], [more]]},
        {"batch_number": 2, "turns": [[later, message(first + 4, "assistant", "A good year.")]]},
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
