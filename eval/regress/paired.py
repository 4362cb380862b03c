"""A run with a live model against the pinned one: paired by question, judged by the interval.

The rule is that of `python -m eval.compare`, whose code this is: see docs/statistics.md.
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

FEWEST = 3  # conversations: of two, t with one degree of freedom has intervals as wide as the scale
_TOLD = 3  # ids that a reason names
_SEED = 0


@dataclass(frozen=True, slots=True)
class Pairing:
    """A score of a type, paired over `difference.n` questions; `expected` and `found` are means of
    these questions. `difference`: found minus expected with its 95% interval. `needed`: the least
    true difference that would be found 4 times in 5; 0 where nothing moved. `conversations`: how
    many there are; of fewer than FEWEST the interval resamples questions.
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
        """Whether the interval speaks of other conversations."""
        return self.conversations >= FEWEST


def pair(expected: Questions, found: Questions) -> list[Pairing]:
    """Every score and type that both sides have, the scores in order. A difference is shown where
    its interval excludes 0 and p, Holm's over what moved at all, is below .05.
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
    """Why the two are not of the same questions and scores, a sentence each, naming the first."""
    told = [
        _told([id_ for id_ in expected if id_ not in found], "of the pin not asked"),
        _told([id_ for id_ in found if id_ not in expected], "not in the pin"),
    ]
    both = [(id_, expected[id_], found[id_]) for id_ in expected if id_ in found]
    failed = [id_ for id_, old, new in both if new.failed and not old.failed]
    why = f"; the first in {found[failed[0]].failed}" if failed else ""
    told.append(_told(failed, "failed that did not when pinned", why))
    answered = [one for one in both if not one[1].failed and not one[2].failed]
    for score in COLUMNS:
        lone = [
            i
            for i, old, new in answered
            if (old.scores[score] is None) != (new.scores[score] is None)
        ]
        told.append(_told(lone, f"with {score} on one side only"))
    told.append(_told([i for i, old, new in both if old.type != new.type], "of another type now"))
    return [one for one in told if one]


def _types(questions: Questions) -> list[str]:
    """Those there are, overall last; left out where it would repeat the only type."""
    own = list(dict.fromkeys(one.type for one in questions.values()))
    return [*own, OVERALL] if len([type_ for type_ in own if type_ != ADVERSARIAL]) > 1 else own


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
        known = [own for id_ in ids if (own := expected[id_].scores[score]) is not None]
        mean = sum(known) / len(known)
        still = Interval(0.0, 0.0, 0.0, 0.0, len(ids), conversations)
        return Pairing(type_, score, mean, mean, still, 1.0, 0.0, False, conversations)
    (one,) = row.contrasts
    old, new = (mean.value for mean in row.means)
    shown = one.verdict != "no difference shown"
    return Pairing(
        type_, score, old, new, one.difference, one.p_holm, one.needed, shown, conversations
    )


def _told(ids: Sequence[str], what: str, more: str = "") -> str:
    if not ids:
        return ""
    first = ", ".join(ids[:_TOLD]) + (", ..." if len(ids) > _TOLD else "")
    return f"{len(ids)} question{'' if len(ids) == 1 else 's'} {what} ({first}){more}"
