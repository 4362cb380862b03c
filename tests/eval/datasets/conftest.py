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
def load(tmp_path: Path) -> Callable[..., Dataset]:
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
