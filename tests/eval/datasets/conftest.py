"""Small files in the layouts of the data sets, with words of our own, and the published LoCoMo."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from memsys.core.types import Memory
from memsys.knowledge.memory.turns import Turns
from tests.eval.commands import conversation

Sample = dict[str, Any]
Load = Callable[..., Dataset]
LOCOMO = shared_folder() / "locomo" / "locomo10.json"


@pytest.fixture(scope="session")
def locomo() -> Dataset:
    """The published LoCoMo file, which is not part of this project."""
    if not LOCOMO.is_file():
        pytest.skip("locomo/locomo10.json is not in $MEMSYS_SHARED")
    return LoCoMo(name="locomo", path=str(LOCOMO)).load()


def memories_of(dataset: Dataset, builder: Turns) -> dict[str, dict[str, Memory]]:
    """By conversation and turn."""
    return {
        talk.id: {one.turns[0]: one for session in talk.sessions for one in builder.build(session)}
        for talk in dataset.conversations
    }


@pytest.fixture
def sample() -> Sample:
    """A well-formed sample of two sessions and one question of types 1 and 5; tests break it."""
    said = [["I planted a fig tree.", "Lovely! Mine died."], ["The fig has leaves."]]
    times = {"session_1_date_time": "1:56 pm on 8 May, 2023"}
    times["session_2_date_time"] = "2023-05-09 08:05"
    asked = [
        {"question": "What did Ada plant?", "answer": "a fig tree", "category": 1},
        {"question": "What did Bo plant?", "adversarial_answer": "a fig tree", "category": 5},
    ]
    return {
        "sample_id": "conv-1",
        "conversation": conversation(said, "Ada", "Bo") | times,
        "qa": [one | {"evidence": ["D1:1"]} for one in asked],
    }


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write `value` (text, bytes or JSON) to my.json and load it with the options given."""

    def run(value: Any, **options: Any) -> Dataset:
        path = tmp_path / "my.json"
        if isinstance(value, bytes):
            path.write_bytes(value)
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            path.write_text(text, encoding="utf-8")
        return LoCoMo(name="my", path=str(path), **options).load()

    return run


def turn(role: str, content: str, **more: Any) -> Sample:
    return {"role": role, "content": content, **more}


def instance(id_: str = "q1", **more: Any) -> Sample:
    """In LongMemEval's layout: two chats, the later one first; the answer is said in the first turn
    of each.
    """
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


def write_instances(path: Path, *instances: Any) -> Path:
    path.write_text(json.dumps(list(instances)), encoding="utf-8")
    return path


def cue_sample(**more: Any) -> Sample:
    """A sample in LoCoMo-Plus's layout."""
    return {
        "relation_type": "causal",
        "cue_dialogue": "A: Since the flood I store the piano upstairs.\nB: A wise place for it.",
        "trigger_query": "A: Every heavy rain makes me look at the stairs.",
        "time_gap": "two weeks later",
        "model_name": "nobody",
        "scores": {"bm25": 1.0},
        **more,
    }


def spring(id_: str, **more: Any) -> Sample:
    """A sample in LoCoMo's layout of two sessions, on 1 March and 1 April 2023."""
    talk = conversation([["I planted a fig."], ["I water the fig.", "It has a leaf."]], "Ada", "Bo")
    months = {"session_1_date_time": "March", "session_2_date_time": "April"}
    times = {name: f"9:00 am on 1 {month}, 2023" for name, month in months.items()}
    return {
        "sample_id": id_,
        "conversation": {**talk, **times, **more},
        "qa": [{"question": "What was planted?", "answer": "a fig", "category": 4}],
    }


def write_cues(
    folder: Path, *samples: Any, ids: tuple[str, ...] = ("ash", "elm")
) -> tuple[Path, Path]:
    """Write locomo_plus.json and locomo10.json into `folder`; return their paths."""
    plus, locomo = folder / "locomo_plus.json", folder / "locomo10.json"
    plus.write_text(json.dumps(samples), encoding="utf-8")
    locomo.write_text(json.dumps([spring(id_) for id_ in ids]), encoding="utf-8")
    return plus, locomo
