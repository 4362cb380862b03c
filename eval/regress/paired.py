"""Compare a run that calls a model with the pinned one, paired by question.

By the rule of `python -m eval.compare`, see docs/statistics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.regress.by_question import COLUMNS, Questions, of_type
from eval.stats.interval import Interval
from eval.summary.contrast import Row, contrast
from eval.summary.measures import ADVERSARIAL, Measure
from eval.summary.shared import Shared
from eval.summary.summarise import OVERALL

FEWEST = (
    3  # conversations: with two, t of one degree of freedom gives intervals as wide as the scale
)
_SHOWN = 3  # question ids in a reason
_SEED = 0


@dataclass(frozen=True, slots=True)
class Pairing:
    """A score of a question type, paired over `difference.n` questions.

    `expected`, `found`: means over these questions; `difference`: found minus expected with its 95%
    interval, which resamples questions if there are fewer `conversations` than FEWEST. `needed`:
    least true difference found 4 times in 5, 0 if nothing moved.
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
        """Whether the interval resamples conversations."""
        return self.conversations >= FEWEST


def pair(expected: Questions, found: Questions) -> list[Pairing]:
    """Pair every score and type that both sides have, in the order of COLUMNS.

    A difference is shown if its interval excludes 0 and p, adjusted over all scores that moved, is
    below .05.
    """
    drafts = [
        (score, type_, ids)
        for score in COLUMNS
        for type_ in _types(expected)
        if (ids := _both(expected, found, score, type_))
    ]
    moved = [draft for draft in drafts if _moved(expected, found, *draft)]
    rows = contrast(
        [(Measure(s, (t,)), _shared(expected, found, s, t, ids)) for s, t, ids in moved], _SEED
    )
    judged = {draft[:2]: row for draft, (row,) in zip(moved, rows, strict=True)}
    return [_pairing(expected, *draft, judged.get(draft[:2])) for draft in drafts]


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


def _both(expected: Questions, found: Questions, score: str, type_: str) -> tuple[str, ...]:
    return tuple(
        id_
        for id_, one in of_type(expected, type_).items()
        if one.scores[score] is not None and id_ in found and found[id_].scores[score] is not None
    )


def _moved(expected: Questions, found: Questions, score: str, _: str, ids: Sequence[str]) -> bool:
    return any(expected[id_].scores[score] != found[id_].scores[score] for id_ in ids)


def _shared(
    expected: Questions, found: Questions, score: str, type_: str, ids: Sequence[str]
) -> Shared:
    clusters = [expected[id_].conversation for id_ in ids]
    if len(set(clusters)) < FEWEST:
        clusters = ["all"] * len(ids)  # eval.stats resamples the questions of one conversation
    scores = [[side[id_].scores[score] for id_ in ids] for side in (expected, found)]
    return Shared(
        tuple(ids),
        np.array([type_] * len(ids), dtype=np.str_),
        np.array(clusters, dtype=np.str_),
        np.array(scores, dtype=np.float64),
        (),
        {},
    )


def _pairing(
    expected: Questions, score: str, type_: str, ids: Sequence[str], row: Row | None
) -> Pairing:
    conversations = len({expected[id_].conversation for id_ in ids})
    if row is None:
        known = [one for id_ in ids if (one := expected[id_].scores[score]) is not None]
        mean = sum(known) / len(known)
        still = Interval(0.0, 0.0, 0.0, 0.0, len(ids), conversations)
        return Pairing(type_, score, mean, mean, still, 1.0, 0.0, False, conversations)
    (one,) = row.contrasts
    old, new = (mean.value for mean in row.means)
    shown = one.verdict != "no difference shown"
    return Pairing(
        type_, score, old, new, one.difference, one.p_holm, one.needed, shown, conversations
    )


def _reason(ids: Sequence[str], what: str, more: str = "") -> str:
    if not ids:
        return ""
    first = ", ".join(ids[:_SHOWN]) + (", ..." if len(ids) > _SHOWN else "")
    return f"{len(ids)} question{'' if len(ids) == 1 else 's'} {what} ({first}){more}"
