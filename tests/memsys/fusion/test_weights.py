"""Weights of the fusion ranking: read from a file or refused, and the score that they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from memsys.errors import InputError
from memsys.fusion.weights import SETS, SIGNALS, WEIGHTS, FusionWeights, load_weights

SHIPPED: dict[str, Any] = yaml.safe_load(WEIGHTS.read_text("utf-8"))
QUESTION, REMARK = "Where is the kiln?", "My knee hurts again."


def test_the_shipped_weights_are_read_as_written() -> None:
    weights = load_weights()
    for name, signals in SETS.items():
        assert getattr(weights, name) == SHIPPED[name]
        assert tuple(getattr(weights, name)) == signals
    assert list(weights.coverage) == SHIPPED["coverage"]


def changed(name: str, **signals: Any) -> dict[str, Any]:
    return {**SHIPPED, name: {**SHIPPED[name], **signals}}


WITHOUT = {name: value for name, value in SHIPPED.items() if name != "without_vectors"}
FEWER = {name: value for name, value in SHIPPED["all"].items() if name != "words"}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ([1], "must be a mapping"),
        (None, "must be a mapping"),
        (WITHOUT, "without_vectors: must give a weight to each of words, "),
        ({**SHIPPED, "all": FEWER}, "all: must give a weight to each"),
        (changed("all", walk=1.0), "all: must give a weight to each"),
        (changed("without_words", speaker="much"), "without_words.speaker: 'much'"),
        (changed("without_words", speaker=True), "without_words.speaker: True"),
        (changed("all", words=1e9), "all.words: 1000000000.0"),
        (changed("all", words=float("nan")), "not YAML: .*"),
        ({**SHIPPED, "coverage": [0.1]}, "coverage: must be two numbers"),
        ({**SHIPPED, "coverage": 0.1}, "coverage: must be two numbers"),
        ({**SHIPPED, "coverage": ["low", 0.3]}, "coverage: 'low'"),
        ({**SHIPPED, "coverage": [0.1, 1.3]}, "coverage: 1.3"),
        ({**SHIPPED, "coverage": [0.3, 0.3]}, "coverage: the first number must be below"),
    ],
)
def test_an_unusable_file_and_its_field_are_named(tmp_path: Path, content: Any, named: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    with pytest.raises(InputError, match=rf"^{path}: {named}"):
        load_weights(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(InputError, match=rf"^index\.fusion={path}: no such file"):
        load_weights(path)
    with pytest.raises(InputError, match=rf"^index\.fusion={tmp_path}: is a folder"):
        load_weights(tmp_path)


def weights() -> FusionWeights:
    """In `all` only words count, and in the others one more signal each."""
    return FusionWeights(
        all={**dict.fromkeys(SIGNALS, 0.0), "words": 1.0},
        without_words={"window_cosine": 10.0, "speaker": 0.0},
        without_vectors={"words": 100.0},
        coverage=(0.2, 0.6),
    )


def scored(question: str, coverage: float, understood: bool = True) -> list[float]:
    """Of two memories, the first with the words, the second with the vectors."""
    signals = {name: np.zeros(2) for name in SIGNALS} | {
        "words": np.array([1.0, 0.0]),
        "window_words": np.array([coverage, 0.0]),
        "window_cosine": np.array([0.0, 1.0]),
    }
    found = weights().score(signals, question, understood=understood)
    assert found.shape == (2,)
    return found.tolist()


@pytest.mark.parametrize("coverage", [0.0, 0.4, 1.0])
def test_a_question_always_trusts_words(coverage: float) -> None:
    assert scored(QUESTION, coverage) == [1, 0]


@pytest.mark.parametrize(
    ("coverage", "trust"), [(0.0, 0), (0.2, 0), (0.3, 0.25), (0.4, 0.5), (0.6, 1), (0.9, 1)]
)
def test_a_remark_trusts_words_as_far_as_a_memory_has_them(coverage: float, trust: float) -> None:
    assert scored(REMARK, coverage) == pytest.approx([trust, 10 * (1 - trust)])


@pytest.mark.parametrize("question", [QUESTION, REMARK])
def test_an_embedder_that_does_not_know_the_language_does_not_count(question: str) -> None:
    assert scored(question, 0.4, understood=False) == [100, 0]
