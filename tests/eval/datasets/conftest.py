from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset

Sample = dict[str, Any]
LOCOMO = shared_folder() / "locomo" / "locomo10.json"


@pytest.fixture(scope="session")
def locomo() -> Dataset:
    """The published LoCoMo file, which is not part of this project."""
    if not LOCOMO.is_file():
        pytest.skip("locomo/locomo10.json is not in $MEMSYS_SHARED")
    return LoCoMo(name="locomo", path=str(LOCOMO)).load()


def turn(dia_id: str, speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"dia_id": dia_id, "speaker": speaker, "text": text, **more}


@pytest.fixture
def sample() -> Sample:
    """A well-formed sample of two sessions and one question of types 1 and 5; tests break it."""
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "Ada", "I planted a fig tree."),
                turn("D1:2", "Bo", "Lovely! Mine died."),
            ],
            "session_2_date_time": "2023-05-09 08:05",
            "session_2": [turn("D2:1", "Ada", "The fig has leaves.")],
        },
        "qa": [
            {
                "question": "What did Ada plant?",
                "answer": "a fig tree",
                "evidence": ["D1:1"],
                "category": 1,
            },
            {
                "question": "What did Bo plant?",
                "adversarial_answer": "a fig tree",
                "evidence": ["D1:1"],
                "category": 5,
            },
        ],
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
