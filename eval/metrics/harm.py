"""Harm of planted facts: whether a wrong value was shown to the reader, and whether it used it.

A value occurs in a text if its words follow each other in it, without regard to case, width,
punctuation and underscores. The values are invented names, which nothing else in the data set
contains, so an occurrence shows that the planted fact itself was there. The turns of a memory would
not show it: a fact that a model has updated cites the turn of the former value, too.
"""

import re
from collections.abc import Sequence

from eval.datasets.types import Plant
from eval.metrics import Answered, Computed
from eval.metrics.normalise import CJK, fold
from eval.metrics.registry import register

_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")
_CONTRADICTION, _ABSENT = "contradiction", "absent"


def shown(plant: Plant, context: str) -> bool | None:
    """Return whether `context` shows a wrong value of `plant`; of a contradiction, one of the two
    values alone. None where nothing can be wrong to show: for a control and an absent fact.
    """
    if plant.control or plant.kind == _ABSENT:
        return None
    return _wrong(plant.kind, plant.values, context)


def _wrong(kind: str, values: Sequence[str], text: str) -> bool:
    """Return whether `text` has a wrong value; of a contradiction, exactly one of the values."""
    words = _words(text)
    count = sum(_words(value) in words for value in values)
    return count == 1 if kind == _CONTRADICTION else count > 0


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(fold(text)))} "


def _shown_score(answered: Answered) -> float | None:
    was_shown = None if answered.plant is None else answered.plant["shown"]
    return None if was_shown is None else float(was_shown)


def _used_score(answered: Answered) -> float | None:
    """Return 1.0 if the answer states a wrong value: of an absent fact, any that is no refusal."""
    plant = answered.plant
    if plant is None or plant["control"] or not answered.has_answer:
        return None
    if plant["kind"] == _ABSENT:
        return None if answered.abstained is None else float(not answered.abstained)
    return float(_wrong(plant["kind"], plant["values"], answered.answer))


SHOWN, USED = "wrong_shown", "wrong_used"  # 1.0 for harm
register(Computed(name=SHOWN, compute=_shown_score, applies_to="plant", order=92))
register(Computed(name=USED, compute=_used_score, applies_to="plant", order=94))
