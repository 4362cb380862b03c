"""The parameters of a synthetic data set, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from eval.datasets.synthetic.languages import LANGUAGES
from memsys.errors import InputError

_MAX_HOPS = 4  # person, person, firm, town, dish: longer chains would consist of persons only
_SHARES = ("distractors", "relative_dates")
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
        """Raise InputError for a parameter out of range, or if no question fits the turns."""
        least = {"conversations": 1, "sessions": 1, "turns": 2, "hops": 1, "updates": 0, "seed": 0}
        words = {"language": tuple(LANGUAGES), "tellers": get_args(Tellers)}
        for name, value in asdict(self).items():
            lowest, valid, problem = least.get(name), words.get(name), ""
            if lowest is not None and (type(value) is not int or value < lowest):
                problem = f"; use a whole number of {lowest} or more"
            elif name in _SHARES and not (isinstance(value, int | float) and 0 <= value <= 1):
                problem = "; use a share of 0 to 1"
            elif name == "hops" and value > _MAX_HOPS:
                problem = f"; use 1 to {_MAX_HOPS}"
            elif valid and value not in valid:
                problem = f" is none of {', '.join(valid)}"
            elif name == "past" and not isinstance(value, bool):
                problem = "; use true or false"
            if problem:
                raise InputError(f"dataset.{name}: {value!r}{problem}")
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
