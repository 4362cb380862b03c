"""The questions of the bundled sample, and right answers to them as rows of a file of answers."""

import json
from typing import Any

from tests.eval.commands import PROJECT

Rows = list[dict[str, Any]]
SAMPLE = PROJECT / "data" / "sample"


def sample_questions() -> dict[str, Rows]:
    """By conversation."""
    return {
        one["sample_id"]: one["qa"]
        for path in sorted(SAMPLE.glob("*.json"))
        for one in json.loads(path.read_text(encoding="utf-8"))
    }


def sample_answers() -> Rows:
    """The gold answer, without its reason, to every question."""
    return [
        {
            "sample_id": name,
            "qa_index": index,
            "question": qa["question"],
            "prediction": str(qa.get("answer", "no information available")).partition(";")[0],
            "category": qa["category"],
        }
        for name, questions in sample_questions().items()
        for index, qa in enumerate(questions)
    ]
