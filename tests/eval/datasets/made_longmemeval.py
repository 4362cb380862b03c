"""Instances in LongMemEval's official layout, with words of our own."""

import json
from pathlib import Path
from typing import Any


def turn(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def instance(id_: str = "q1", **more: Any) -> dict[str, Any]:
    """Two chats, the later one first; the answer is said in the first turn of each."""
    early = [
        turn("user", "I planted nine cherry trees behind the barn.", has_answer=True),
        turn("assistant", "Nine cherry trees! Water them well in the first summer."),
    ]
    late = [
        turn("user", "Two of my cherry trees died in the frost.", has_answer=True),
        turn("assistant", "I am sorry to hear of the frost.", has_answer=False),
        turn("user", "What grows well in the shade?"),
    ]
    return {
        "question_id": id_,
        "question_type": "knowledge-update",
        "question": "How many cherry trees do I have?",
        "answer": 7,
        "question_date": "2023/06/01 (Thu) 09:05",
        "haystack_dates": ["2023/05/20 (Sat) 18:30", "2023/04/02 (Sun) 07:00"],
        "haystack_session_ids": ["answer_a_2", "answer_a_1"],
        "haystack_sessions": [late, early],
        "answer_session_ids": ["answer_a_1", "answer_a_2"],
        **more,
    }


def write(path: Path, *instances: Any) -> Path:
    path.write_text(json.dumps(list(instances)), encoding="utf-8")
    return path
