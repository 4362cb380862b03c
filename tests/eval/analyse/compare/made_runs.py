"""Run folders written by hand: scores are chosen, so that every figure is known."""

from pathlib import Path
from typing import Any

from eval.datasets.types import TYPES
from eval.records.run import Run, load_runs
from eval.summary.summarise import OVERALL
from tests.eval import factory
from tests.eval.factory import FILE, write_run  # noqa: F401 - part of these runs

ALL_TYPES = (*TYPES.values(), OVERALL)
CONVERSATIONS = tuple("abcdefgh")
EACH = 10  # questions of each type in each conversation


def record(conversation: str, index: int, category: int, score: float, **more: Any) -> dict:
    adversarial = category == 5
    scores = {"locomo_f1": score, "mem0_f1": None if adversarial else score}
    fields = {"retrieved": None, "abstained": adversarial and score == 1.0, **more}
    question = f"What of {index}?"
    return factory.record(
        f"{conversation}/{index}", category, question=question, scores=scores, **fields
    )


def records(scores: dict[int, float] | None = None, shift: float = 0.0) -> list[dict]:
    """EACH questions a type and conversation; `scores` by category, `shift` added to types 1-4.

    Scores vary between questions as they do between conversations, alike in every run.
    """
    base = {1: 0.2, 2: 0.3, 3: 0.25, 4: 0.4, 5: 1.0} | (scores or {})
    made = []
    for c, conversation in enumerate(CONVERSATIONS):
        for category in TYPES:
            for i in range(EACH):
                score = base[category]
                if category != 5:
                    score += shift + 0.01 * c + 0.02 * i
                made.append(record(conversation, 100 * category + i, category, round(score, 6)))
    return made


def noisy(shift: float, by: float) -> list[dict]:
    """Like `records`, but each score is also off by +-`by`, alike in each conversation."""
    made = records(shift=shift)
    for i, row in enumerate(made):
        if row["category"] != 5:
            row["scores"]["locomo_f1"] += by if i % 2 else -by
    return made


def edit(rows: list[dict], changes: dict[str, dict[str, Any]]) -> list[dict]:
    """The rows with fields replaced by question id."""
    return [row | changes.get(row["id"], {}) for row in rows]


def judged(rows: list[dict], *right: str, **more: Any) -> list[dict]:
    """The rows with verdicts: 1 for the ids in `right`, else 0."""
    return [
        row | {"scores": row["scores"] | {"judge": float(row["id"] in right)}} | more
        for row in rows
    ]


def run(label: str, rows: list[dict] | None = None, **more: Any) -> Run:
    """A run that is in no folder; `more` fields are of its manifest."""
    return factory.run_of(records() if rows is None else rows, label, **more)


def load(*folders: Path) -> list[Run]:
    return load_runs(folders, complete=False)
