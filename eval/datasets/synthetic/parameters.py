"""The parameters of a synthetic data set, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from memsys.core.declared import Count, CountFrom0, Range, Share, check_fields
from memsys.core.errors import InputError

Tellers = Literal["any", "one"]
_VISITS = 0.25  # questions about a day per question about a chain


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of the generator.

    `turns`: of each session. `distractors`: share of all turns that state nothing asked for, half
    of them facts of the same kind about others, half small talk. `hops`: facts needed to answer a
    question. `updates`: how often each of these facts changes. `relative_dates`: share of visits
    dated relative to the day of the session ("yesterday"). `tellers`: `one` if the same speaker
    states a fact and all its changes, else `any`. `past`: also ask for earlier values, by a day; a
    change then does not mention the former value and is stated in a separate session.
    """

    conversations: Count
    sessions: Count
    turns: Annotated[int, Range(2)]
    distractors: Share
    hops: Annotated[int, Range(1, 4)]  # person, person, firm, town, dish; then persons only
    updates: CountFrom0
    relative_dates: Share
    language: Literal["en", "zh"]
    seed: CountFrom0
    tellers: Tellers = "any"
    past: bool = False

    # Checked by load(): Hydra would bury the message of an InputError in its own.
    def check(self) -> None:
        """Raise InputError for a parameter out of range, or if no question fits the turns."""
        check_fields(self, "dataset")
        if self.past and not 1 <= self.updates < self.sessions:
            raise InputError(
                f"dataset.past: requires dataset.updates of 1 to {self.sessions - 1}, one less "
                f"than dataset.sessions; it is {self.updates}"
            )
        if self.chains < 1:
            raise InputError(
                f"dataset: {self.informative} turns with facts are too few for a question of "
                f"{self.hops * (1 + self.updates)}; raise sessions or turns, or lower hops, "
                "updates or distractors"
            )

    @property
    def informative(self) -> int:
        """Turns per conversation that are no distractors."""
        return round(self.sessions * self.turns * (1 - self.distractors))

    @property
    def chains(self) -> int:
        """Questions per conversation about the end of a chain."""
        return int(self.informative / (self.hops * (1 + self.updates) + _VISITS))

    @property
    def visits(self) -> int:
        """Questions per conversation about the day of a visit."""
        return int(self.chains * _VISITS)

    @property
    def unanswerable(self) -> int:
        """Maximum of questions per conversation about facts that are never stated."""
        return max(self.chains // 4, 1)

    @property
    def near(self) -> int:
        """Facts per conversation about others, which no question asks for."""
        return (self.sessions * self.turns - self.informative) // 2
