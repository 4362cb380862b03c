"""Compare a run that calls a model with the pinned one, paired by question.

The rule is that of `python -m eval compare`; see docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.metrics.stats.interval import FEWEST, Interval
from eval.regress.by_question import COLUMNS, Questions, of_type
from eval.summary.contrast import contrast
from eval.summary.measures import ADVERSARIAL, Measure
from eval.summary.shared import Shared
from eval.summary.summarise import OVERALL

_SHOWN = 3  # question ids in a reason
_SEED = 0


@dataclass(frozen=True, slots=True)
class Pairing:
    """A score of a question type, paired over `difference.n` questions.

    `expected`, `found`: means over these questions; `difference`: found minus expected with its 95%
    interval, which is over questions if there are fewer `conversations` than FEWEST. `needed`:
    the minimum detectable difference at 80% power, 0 if nothing moved.
    """

    type: str
    score: str
    expected: float
    found: float
    difference: Interval
    p_holm: float
    needed: float
    shown: bool
    conversations: int

    @property
    def by_conversation(self) -> bool:
        """Whether the interval is over conversations."""
        return self.conversations >= FEWEST


def pair(expected: Questions, found: Questions) -> list[Pairing]:
    """Pair every score and type that both sides have, in the order of COLUMNS.

    A difference is shown if its interval excludes 0 and p, adjusted over all scores that moved, is
    below .05.
    """
    shared = {
        (score, type_): both
        for score in COLUMNS
        for type_ in _types(expected)
        if (both := _shared(expected, found, score, type_)).ids
    }
    moved = [key for key, both in shared.items() if (both.scores[0] != both.scores[1]).any()]
    rows = contrast([(Measure(key[0], (key[1],)), shared[key]) for key in moved], _SEED)
    judged = {key: row for key, (row,) in zip(moved, rows, strict=True)}
    pairings = []
    for (score, type_), both in shared.items():
        conversations = len({expected[id_].conversation for id_ in both.ids})
        old, new = (sum(scores) / len(scores) for scores in both.scores.tolist())
        if (row := judged.get((score, type_))) is None:
            equal = Interval(0.0, 0.0, 0.0, 0.0, len(both.ids), conversations)
            pairing = Pairing(type_, score, old, old, equal, 1.0, 0.0, False, conversations)
        else:
            (one,) = row.contrasts
            shown = one.verdict != "no difference shown"
            judgement = one.difference, one.p_holm, one.needed, shown
            pairing = Pairing(type_, score, old, new, *judgement, conversations)
        pairings.append(pairing)
    return pairings


def unlike(expected: Questions, found: Questions) -> list[str]:
    """Return the differences in questions and in available scores, one sentence each."""
    reasons = [
        _reason([id_ for id_ in expected if id_ not in found], "of the pin not asked"),
        _reason([id_ for id_ in found if id_ not in expected], "not in the pin"),
    ]
    both = [(id_, expected[id_], found[id_]) for id_ in expected if id_ in found]
    failed = [id_ for id_, old, new in both if new.failed and not old.failed]
    why = f"; the first in {found[failed[0]].failed}" if failed else ""
    reasons.append(_reason(failed, "failed that did not when pinned", why))
    answered = [one for one in both if not one[1].failed and not one[2].failed]
    for score in COLUMNS:
        pairs = [(i, old.scores[score], new.scores[score]) for i, old, new in answered]
        lone = [i for i, old, new in pairs if (old is None) != (new is None)]
        reasons.append(_reason(lone, f"with {score} on one side only"))
    retyped = [i for i, old, new in both if old.type != new.type]
    reasons.append(_reason(retyped, "of another type now"))
    return [reason for reason in reasons if reason]


def _types(questions: Questions) -> list[str]:
    """Return the types, then overall, unless it would repeat the only type."""
    types = list(dict.fromkeys(one.type for one in questions.values()))
    return [*types, OVERALL] if len([one for one in types if one != ADVERSARIAL]) > 1 else types


def _shared(expected: Questions, found: Questions, score: str, type_: str) -> Shared:
    """Return the questions of `type_` that have `score` on both sides."""
    ids, clusters, scores = [], [], []
    for id_, one in of_type(expected, type_).items():
        both = (one.scores[score], found[id_].scores[score] if id_ in found else None)
        if None not in both:
            ids.append(id_)
            clusters.append(one.conversation)
            scores.append(both)
    types = np.full(len(ids), type_)
    values = np.array(scores, dtype=np.float64).reshape(-1, 2).T
    return Shared(tuple(ids), types, np.array(clusters, dtype=np.str_), values, (), {})


def _reason(ids: Sequence[str], what: str, more: str = "") -> str:
    if not ids:
        return ""
    first = ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
    return f"{len(ids)} question{'' if len(ids) == 1 else 's'} {what} ({first}){more}"
