"""The dials of a synthetic data set, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from eval.datasets.synthetic.languages import LANGUAGES
from memsys.errors import InputError

_MOST_HOPS = 4  # person, person, firm, town, dish: longer chains would only be of people
Tellers = Literal["any", "one"]
_VISITS = 0.25  # questions for a day, for each one about a chain


@dataclass(frozen=True, kw_only=True)
class Dials:
    """`turns` are of a session. `distractors`: share of all turns that tell nothing asked for, half
    of them facts of the same kind about others, half small talk. `hops`: facts that a question
    takes. `updates`: how often each of these changes before the end. `relative_dates`: share of
    visits told in words that count from the day ("yesterday"). `tellers`: whether `one` speaker
    tells a fact and all its changes, or `any`. `past`: earlier values are asked for too, by a day;
    a change then does not name what was before, and is told in a session of its own.
    """

    conversations: int
    sessions: int
    turns: int
    distractors: float
    hops: int
    updates: int
    relative_dates: float
    language: str
    seed: int
    tellers: Tellers = "any"
    past: bool = False

    def __post_init__(self) -> None:
        """Raises InputError on a dial out of its range, and where no question fits the turns."""
        least = {"conversations": 1, "sessions": 1, "turns": 2, "hops": 1, "updates": 0, "seed": 0}
        for name, lowest in least.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
                raise InputError(
                    f"dataset.{name}: {value!r}; use a whole number of {lowest} or more"
                )
        for name in ("distractors", "relative_dates"):
            share = getattr(self, name)
            if not isinstance(share, int | float) or not 0 <= share <= 1:
                raise InputError(f"dataset.{name}: {share!r}; use a share of 0 to 1")
        if self.hops > _MOST_HOPS:
            raise InputError(f"dataset.hops: {self.hops}; use 1 to {_MOST_HOPS}")
        if self.language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            raise InputError(f"dataset.language: {self.language!r} is none of {known}")
        if self.tellers not in get_args(Tellers):
            known = ", ".join(get_args(Tellers))
            raise InputError(f"dataset.tellers: {self.tellers!r} is none of {known}")
        if not isinstance(self.past, bool):
            raise InputError(f"dataset.past: {self.past!r}; use true or false")
        if self.past and not 1 <= self.updates < self.sessions:
            raise InputError(
                f"dataset.past: takes dataset.updates of 1 to {self.sessions - 1}, one less than "
                f"dataset.sessions; it is {self.updates}"
            )
        if self.chains < 1:
            raise InputError(
                f"dataset: {self.told} turns that tell something are too few for a question of "
                f"{self.hops * (1 + self.updates)}; raise sessions or turns, or lower hops, "
                "updates or distractors"
            )

    @property
    def told(self) -> int:
        """Turns of a conversation that tell what is asked for, or would if chains filled them."""
        return round(self.sessions * self.turns * (1 - self.distractors))

    @property
    def chains(self) -> int:
        """Questions for the end of a chain, of a conversation."""
        return int(self.told / (self.hops * (1 + self.updates) + _VISITS))

    @property
    def visits(self) -> int:
        """Questions for a day, of a conversation."""
        return int(self.chains * _VISITS)

    @property
    def untold(self) -> int:
        """At most so many questions for what was never told, of a conversation."""
        return max(self.chains // 4, 1)

    @property
    def near(self) -> int:
        """Facts about others that nobody asks for, of a conversation."""
        return (self.sessions * self.turns - self.told) // 2
