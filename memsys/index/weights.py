"""Fitted weights of the fusion ranking, and the score they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from memsys.core.errors import InputError, check_number
from memsys.core.files import is_there
from memsys.core.yaml_text import load_yaml
from memsys.index.cues import is_question
from memsys.index.rank import Scores

WEIGHTS = Path(__file__).parent / "weights.yaml"
WORD_SIGNALS = ("words", "window_words", "session_words", "feedback")
VECTOR_SIGNALS = ("window_cosine",)
CUES = ("speaker", "time", "count", "question", "length", "date")
SIGNALS = (*WORD_SIGNALS, *VECTOR_SIGNALS, *CUES)
# Signals of each set of weights. What an evidence turn looks like (length, dates) is learned from
# questions; without words in common only similarity and speaker say anything of a remark.
SETS: Mapping[str, tuple[str, ...]] = {
    "all": SIGNALS,
    "without_words": (*VECTOR_SIGNALS, "speaker"),
    "without_vectors": (*WORD_SIGNALS, *CUES),
}
_LARGEST = 1e3


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Three sets of weights, one of which, or a mix of two, ranks for a question.

    `all`: of every signal. `without_words`: of the vectors' signals and the speaker, for a remark
    that shares too few words with any memory. `without_vectors`: for a language that the embedder
    does not know. `coverage`: the share of a remark's words that its best memory has (the largest
    `window_words`) at which words are not trusted at all, and at which they are trusted as in a
    question.
    """

    all: Mapping[str, float]
    without_words: Mapping[str, float]
    without_vectors: Mapping[str, float]
    coverage: tuple[float, float]

    def score(self, signals: Mapping[str, Scores], question: str, *, understood: bool) -> Scores:
        """Return the weighted sum of `signals`, shape (n,). `understood`: whether the embedder
        knows the language of the memories.
        """
        if not understood:
            return _weighted(self.without_vectors, signals)
        trust = 1.0 if is_question(question) else self._trust(signals)
        score = np.zeros_like(signals["words"])
        if trust > 0:
            score = score + trust * _weighted(self.all, signals)
        if trust < 1:
            score = score + (1 - trust) * _weighted(self.without_words, signals)
        return score

    def _trust(self, signals: Mapping[str, Scores]) -> float:
        none, full = self.coverage
        return float(np.clip((signals["window_words"].max() - none) / (full - none), 0, 1))


def _weighted(weights: Mapping[str, float], signals: Mapping[str, Scores]) -> Scores:
    rows = [weight * signals[name] for name, weight in weights.items()]
    return np.asarray(np.sum(rows, axis=0), dtype=np.float64)


@cache
def load_weights(path: Path = WEIGHTS) -> FusionWeights:
    """Return the weights in a YAML file as `python -m eval.regress.fit_fusion` writes it. Raises
    InputError naming file and field.
    """
    if not is_there(path):
        raise InputError(f"index.fusion={path}: no such file; fit one, or use null")
    if path.is_dir():
        raise InputError(f"index.fusion={path}: is a folder; name a YAML file, or use null")
    read = load_yaml(path)
    if not isinstance(read, dict):
        raise InputError(f"{path}: must be a mapping with {', '.join(SETS)} and coverage")
    sets = {name: _set(path, name, read.get(name)) for name in SETS}
    coverage = read.get("coverage")
    if not isinstance(coverage, list) or len(coverage) != 2:
        raise InputError(f"{path}: coverage: must be two numbers")
    for value in coverage:
        check_number(f"{path}: coverage", value, 0, 1)
    if coverage[0] >= coverage[1]:
        raise InputError(f"{path}: coverage: the first number must be below the second")
    return FusionWeights(**sets, coverage=(float(coverage[0]), float(coverage[1])))


def _set(path: Path, name: str, read: Any) -> Mapping[str, float]:
    expected = SETS[name]
    if not isinstance(read, dict) or set(read) != set(expected):
        raise InputError(f"{path}: {name}: must give a weight to each of {', '.join(expected)}")
    for signal, weight in read.items():
        check_number(f"{path}: {name}.{signal}", weight, -_LARGEST, _LARGEST)
    return {signal: float(read[signal]) for signal in expected}
