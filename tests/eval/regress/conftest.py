"""A pin, outcomes and scores by question made by hand."""

from pathlib import Path

import numpy as np
import pytest

from eval.regress.by_question import Scored
from eval.regress.pins import SCORES, Outcome, Pin
from tests.shared import no_key

__all__ = ["no_key"]  # a fixture
CONVERSATIONS, EACH = 6, 40


def outcome(
    protocol: str = "locomo", sha256: str = "a" * 64, n: int = 100, **overall: float | None
) -> Outcome:
    """Scores of type overall, .5 unless told otherwise."""
    cell = {"n": n} | dict.fromkeys(SCORES, 0.5) | overall
    return Outcome(protocol, {"made.json": sha256}, {"overall": cell})


def scores(
    seed: int = 0, drop: float = 0.0, conversations: int = CONVERSATIONS, each: int = EACH
) -> dict[str, Scored]:
    """Answers drawn anew by `seed` to the same questions: each is right by its own chance, less
    `drop`; half of the questions are multi_hop, the other half single_hop.
    """
    chances = np.random.default_rng(1).uniform(0, 1, size=(conversations, each))
    drawn = np.random.default_rng(100 + seed).uniform(0, 1, size=(conversations, each))
    found = {}
    for c, i in np.ndindex(conversations, each):
        right = float(drawn[c, i] < chances[c, i] - drop)
        values = {"f1": 0.25 + right / 2, "bleu1": right / 4, "judge": right}
        values |= {"abstained": 0.0}
        values |= dict.fromkeys(("evidence_recall", "recall@10", "ndcg@10", "mrr"), 0.5)
        type_ = "multi_hop" if i % 2 else "single_hop"
        found[f"c{c}/{i}"] = Scored(f"c{c}", type_, values)
    return found


def changed(
    questions: dict[str, Scored], *ids: str, failed: str = "", **values: float | None
) -> dict[str, Scored]:
    """The same with `values` (or a failure) for the questions `ids`."""
    own = dict(questions)
    for id_ in ids:
        one = own[id_]
        blank = dict.fromkeys(one.scores) if failed else {}
        own[id_] = Scored(one.conversation, one.type, {**one.scores, **blank, **values}, failed)
    return own


@pytest.fixture
def pin(tmp_path: Path) -> Pin:
    """Expects outcome(); one question's worth may move."""
    path = tmp_path / "made.yaml"
    path.write_text("# a pin made by hand\ncommand: python -m eval.run strategy=bm25\n")
    return Pin(path, "python -m eval.run strategy=bm25", 1.0, outcome())
