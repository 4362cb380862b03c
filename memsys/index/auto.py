"""The weights of strategy=auto: how much each signal counts for a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memsys.core.yaml_text import load_yaml
from memsys.index.rank import Scores
from memsys.index.weights import CUES, VECTOR_SIGNALS, WORD_SIGNALS, trust_in_words

WEIGHTS = Path(__file__).parent / "auto.yaml"
# What a memory has of its own, without its length: that would fill the context with long ones.
_OWN = tuple(name for name in CUES if name != "length")
# Signals of each set of weights. Words, names and single tokens say nothing of a remark.
SETS: Mapping[str, tuple[str, ...]] = {
    "with_tokens": (*WORD_SIGNALS, *VECTOR_SIGNALS, *_OWN, "cosine", "max_sim", "walk"),
    "with_vectors": (*WORD_SIGNALS, *VECTOR_SIGNALS, *_OWN, "cosine", "walk"),
    "with_words": (*WORD_SIGNALS, *_OWN, "walk"),
    "remark": VECTOR_SIGNALS,
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    "words": WORD_SIGNALS,
    "vectors": (*VECTOR_SIGNALS, "cosine", "max_sim"),
    "walk": ("walk",),
    "cues": _OWN,
}


@dataclass(frozen=True, slots=True)
class AutoWeights:
    """Four sets of weights by signal.

    `with_tokens`: for an embedder with a vector per token; `with_vectors`: with one per text only;
    `with_words`: for memories in a language that the embedder does not know. `remark`: for a text
    that asks nothing and shares no words with a memory. `coverage`: see `trust_in_words`.
    """

    with_tokens: Mapping[str, float]
    with_vectors: Mapping[str, float]
    with_words: Mapping[str, float]
    remark: Mapping[str, float]
    coverage: tuple[float, float]

    def of(self, signals: Mapping[str, Scores], question: str) -> dict[str, float]:
        """Return the weight of each signal for `question`, from which of `signals` there are and
        whether it is a remark: a mixture of two sets, by coverage.
        """
        if "cosine" not in signals:
            return dict(self.with_words)
        full = self.with_tokens if "max_sim" in signals else self.with_vectors
        trust = trust_in_words(self.coverage, signals, question)
        return {
            name: trust * weight + (1 - trust) * self.remark.get(name, 0.0)
            for name, weight in full.items()
        }


def shares(
    weights: Mapping[str, float], signals: Mapping[str, Scores], best: list[int]
) -> dict[str, float]:
    """Return what each group of signals contributes to the lead of the rows `best`, 0 to 1.

    The lead of a group is the sum of weight * (mean over `best` - mean over all memories) of its
    signals, 0 if that is negative; its share is its part of the sum over groups. All are 0 where
    no group leads.
    """
    leads = {
        group: max(
            0.0,
            sum(
                weights[name] * float(signals[name][best].mean() - signals[name].mean())
                for name in names
                if name in weights
            ),
        )
        for group, names in GROUPS.items()
    }
    total = sum(leads.values())
    return {group: round(lead / total, 2) if total else 0.0 for group, lead in leads.items()}


@cache
def load_auto_weights(path: Path = WEIGHTS) -> AutoWeights:
    """Return the weights in a file that `python -m eval.regress.fit_auto` wrote."""
    read = load_yaml(path)
    none, full = read["coverage"]
    return AutoWeights(**{name: read[name] for name in SETS}, coverage=(none, full))
