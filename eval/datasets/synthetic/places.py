"""Turns of a conversation that facts are told in, each given once."""

from __future__ import annotations

from random import Random

from eval.datasets.synthetic.dials import Dials
from memsys.errors import InputError


class Places:
    """A place is a turn's number, counted through all sessions; they are given in random order."""

    def __init__(self, dials: Dials, random: Random) -> None:
        total = dials.sessions * dials.turns
        self._left, self._dials = random.sample(range(total), total), dials

    def changes(self, number: int) -> list[int]:
        """So many places for one fact and its changes, in order of time. Raises InputError where
        there are none that the dials allow.
        """
        taken: list[int] = []
        for place in self._left:
            if len(taken) == number:
                break
            if self._fits(place, taken):
                taken.append(place)
        if len(taken) < number:
            raise InputError(
                "dataset: the turns are too few for facts to be told by one speaker or in sessions "
                "of their own; raise sessions, turns or distractors, or lower updates"
            )
        used = set(taken)
        self._left = [place for place in self._left if place not in used]
        return sorted(taken)

    def _fits(self, place: int, taken: list[int]) -> bool:
        turns = self._dials.turns
        if self._dials.tellers == "one" and any((p - place) % turns % 2 for p in taken):
            return False
        return not self._dials.past or all(p // turns != place // turns for p in taken)
