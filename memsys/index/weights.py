"""Fitted weights of the rankings fusion and auto, and the cues of question and text.

The cues are word lists (English and Chinese) of what a question asks for and a text states.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from memsys.core.declared import Share, fits
from memsys.core.english_dates import plain
from memsys.core.errors import InputError, check_number
from memsys.core.files import is_there
from memsys.core.terms import is_cjk
from memsys.core.yaml_text import load_table, load_yaml
from memsys.index.rank import Scores

Cue = Literal["asks", "asks_time", "asks_count", "states_time", "states_count"]
_CUES = {
    name: re.compile(pattern)  # of a text in lower case
    for name, pattern in load_table(Path(__file__).with_name("cues.yaml")).items()
}
_ROLES = {"user": _CUES["i"], "assistant": _CUES["you"]}


def has_cue(cue: Cue, text: str) -> bool:
    """Return whether `text` asks for something (a remark does not), when something was or for how
    long, or for a number; or whether it states a time relative to the day on which it was said, or
    a number.
    """
    return _CUES[cue].search(plain(text).lower()) is not None


def ends_as_question(text: str) -> bool:
    """Return whether the last sentence of `text` is a question."""
    return text.rstrip().endswith(("?", "？", "؟"))


def named_speaker(question: str, speakers: Collection[str]) -> str | None:
    """Return the one of `speakers` that `question` names by the first name; None for none or
    several. Between a user and an assistant, "I" is the user and "you" the assistant.
    """
    if _ROLES.keys() >= set(speakers):
        low = plain(question).lower()
        meant = [role for role, pronoun in _ROLES.items() if pronoun.search(low)]
        named = [role for role in meant if role in speakers] if len(meant) == 1 else []
    else:
        named = [speaker for speaker in dict.fromkeys(speakers) if _name(speaker).search(question)]
    return named[0] if len(named) == 1 else None


@lru_cache(maxsize=4096)
def _name(speaker: str) -> re.Pattern[str]:
    first = speaker.split()
    name = re.escape(first[0]) if first else r"(?!)"
    return re.compile(name if is_cjk(name) else rf"(?<!\w){name}(?!\w)", re.IGNORECASE)


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
    does not know. `coverage`: see `trust_in_words`.
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
            return weighted(self.without_vectors, signals)
        trust = trust_in_words(self.coverage, signals, question)
        score = np.zeros_like(signals["words"])
        if trust > 0:
            score = score + trust * weighted(self.all, signals)
        if trust < 1:
            score = score + (1 - trust) * weighted(self.without_words, signals)
        return score


def trust_in_words(
    coverage: tuple[float, float], signals: Mapping[str, Scores], question: str
) -> float:
    """Return how far words say what `question` is about: 1 of a question; of a remark 0 to 1, by
    the share of its words that its best memory has, the largest `window_words`. `coverage`: the
    shares at which words are not trusted at all, and at which they are trusted as in a question.
    """
    if has_cue("asks", question):
        return 1.0
    none, full = coverage
    return float(np.clip((signals["window_words"].max() - none) / (full - none), 0, 1))


def weighted(weights: Mapping[str, float], signals: Mapping[str, Scores]) -> Scores:
    """Return the sum of the signals, each times its weight, shape (n,)."""
    rows = [weight * signals[name] for name, weight in weights.items()]
    return np.asarray(np.sum(rows, axis=0), dtype=np.float64)


@cache
def load_weights(path: Path = WEIGHTS) -> FusionWeights:
    """Return the weights in a YAML file as `python -m eval.regress.fit_fusion` writes it. Raises
    InputError naming file and field.
    """
    if path.is_dir() or not is_there(path):
        raise InputError(f"index.fusion={path}: no such file; fit one, or use null")
    read = load_yaml(path)
    read = read if isinstance(read, dict) else {}
    for name, expected in SETS.items():
        weights = read.get(name)
        if not isinstance(weights, dict) or set(weights) != set(expected):
            raise InputError(f"{path}: {name}: must give a weight to each of {', '.join(expected)}")
        for signal, weight in weights.items():
            check_number(f"{path}: {name}.{signal}", weight, -_LARGEST, _LARGEST)
    coverage = read.get("coverage")
    shares = [item for item in coverage if fits(item, Share)] if isinstance(coverage, list) else []
    if coverage != shares or len(shares) != 2 or shares[0] >= shares[1]:
        raise InputError(f"{path}: coverage: must be two numbers of 0 to 1, the second the larger")
    sets = {name: {signal: float(read[name][signal]) for signal in SETS[name]} for name in SETS}
    return FusionWeights(**sets, coverage=(float(shares[0]), float(shares[1])))


AUTO_WEIGHTS = Path(__file__).parent / "auto.yaml"
# What a memory has of its own, without its length: that would fill the context with long ones.
_OWN = tuple(name for name in CUES if name != "length")
# Signals of each set of weights. Words, names and single tokens say nothing of a remark.
AUTO_SETS: Mapping[str, tuple[str, ...]] = {
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
def load_auto_weights(path: Path = AUTO_WEIGHTS) -> AutoWeights:
    """Return the weights in a file that `python -m eval.regress.fit_auto` wrote."""
    read = load_yaml(path)
    none, full = read["coverage"]
    return AutoWeights(**{name: read[name] for name in AUTO_SETS}, coverage=(none, full))
