"""Samples in LoCoMo-Plus's layout and conversations in LoCoMo's, with words of our own."""

import json
from pathlib import Path
from typing import Any

from tests.eval.commands import conversation as made


def sample(**more: Any) -> dict[str, Any]:
    return {
        "relation_type": "causal",
        "cue_dialogue": "A: Since the flood I store the piano upstairs.\nB: A wise place for it.",
        "trigger_query": "A: Every heavy rain makes me look at the stairs.",
        "time_gap": "two weeks later",
        "model_name": "nobody",
        "scores": {"bm25": 1.0},
        **more,
    }


def conversation(id_: str, **more: Any) -> dict[str, Any]:
    """Two sessions, on 1 March and 1 April 2023."""
    talk = made([["I planted a fig."], ["I water the fig.", "It has a leaf."]], "Ada", "Bo")
    months = {"session_1_date_time": "March", "session_2_date_time": "April"}
    times = {name: f"9:00 am on 1 {month}, 2023" for name, month in months.items()}
    return {
        "sample_id": id_,
        "conversation": {**talk, **times, **more},
        "qa": [{"question": "What was planted?", "answer": "a fig", "category": 4}],
    }


def write(folder: Path, *samples: Any, ids: tuple[str, ...] = ("ash", "elm")) -> tuple[Path, Path]:
    """Write locomo_plus.json and locomo10.json into `folder`; return their paths."""
    plus, locomo = folder / "locomo_plus.json", folder / "locomo10.json"
    plus.write_text(json.dumps(samples), encoding="utf-8")
    locomo.write_text(json.dumps([conversation(id_) for id_ in ids]), encoding="utf-8")
    return plus, locomo
