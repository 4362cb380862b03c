"""The score card of a run: its scores, and the hashes by which anyone can recompute them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST = 20_000  # bytes of a card's file
_SHA256 = "^[0-9a-f]{64}$"
Role = Literal["data", "answers", "rankings", "key", "evidence"]


class _Strict(BaseModel):
    """Base of the parts of a card: no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CardFile(_Strict):
    """A file that the scores follow from. It is identified by its content, not by its path.

    `rows_sha256`: of answers and rankings, the hash of what is scored (question id and answer, or
    question id and ranked ids, in the data set's order); a file of the same rows in another layout
    has the same. None for other roles.
    """

    role: Role
    name: str
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=_SHA256)
    rows_sha256: str | None = Field(default=None, pattern=_SHA256)


class Origin(_Strict):
    """Where published answers are from; None for what is not known."""

    repository: str | None = None
    commit: str | None = None
    path: str | None = None
    url: str | None = None  # of the file of answers, for whoever verifies the card
    licence: str | None = None


class Score(_Strict):
    """One number: a mean over `n` questions with its 95% interval.

    `key`: answer key. `protocol`: None for measures that no protocol defines. `type`: question
    type, or `overall`. `low` and `high` are None where no interval is determined. `reported`: the
    value is a mean of verdicts or amounts in the file of answers, which are not recomputed here.
    """

    key: str
    protocol: str | None
    type: str
    measure: str
    n: int = Field(ge=0)
    mean: float
    low: float | None = None
    high: float | None = None
    reported: bool = False


class Card(_Strict):
    """A score card; at most MOST bytes as JSON.

    `kind`: `run` of a strategy here, or `imported` answers of another system. `dataset`:
    configuration of the data set, as eval.datasets.reload reads it. `code`: version and git commit
    of memsys. `models`: name by role (reader, judge, embedder, llm), None if not known. `rows`:
    counts of the account: rows, matched, unmatched, errors, questions. `unknown`: what is not known
    of the system, one sentence each.
    """

    version: Literal[1] = 1
    system: str = Field(min_length=1, max_length=150)
    kind: Literal["run", "imported"]
    made_at: str
    command: str
    code: Mapping[str, Any]
    config_sha256: str | None
    dataset: Mapping[str, Any]
    models: Mapping[str, str | None]
    origin: Origin | None = None
    unknown: list[str] = []
    rows: Mapping[str, int]
    files: list[CardFile]
    scores: list[Score] = Field(min_length=1)
