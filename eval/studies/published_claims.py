"""Published retrieval figures (results/published/retrieval.yaml), read and validated."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from eval.metrics.retrieval.registry import Measure, parse
from eval.studies.published_files import CLAIMS, Strict
from memsys.core.errors import InputError, first_problem
from memsys.core.yaml_text import load_yaml

Types = Literal[
    "1-4", "1-5", "multi_hop", "temporal", "open_domain", "single_hop", "adversarial", "unknown"
]
KINDS: Mapping[str, str] = {  # name of the metric by kind
    "fraction": "recall",
    "any": "recall_any",
    "all": "recall_all",
    "ndcg": "ndcg",
    "mrr": "mrr",
}


class Figure(Strict):
    """A figure as printed, with its definition: `measure`, or the reason why there is none here.

    `cutoff`: None where there is none, or none is stated. `within`: sessions count only within so
    many of the best turns. `types`, `n`: where they differ from the source's others.
    """

    printed: str
    value: float = Field(ge=0, le=1)
    unit: Literal["turn", "session", "unknown"]
    kind: Literal["fraction", "any", "all", "ndcg", "mrr", "unknown"]
    cutoff: int | None = None
    within: int | None = Field(default=None, ge=1)
    types: Types | None = None
    n: int | None = None
    measure: str | None = None
    not_comparable: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _same_definition(self) -> Figure:
        if self.measure is not None:
            measure = self.parsed
            if measure.unit != self.unit:
                raise ValueError(f"measure: {measure} ranks by {measure.unit}, unit says otherwise")
            if measure.metric.name != KINDS.get(self.kind):
                raise ValueError(f"measure: {measure} is not of the kind {self.kind}")
            if measure.cutoff != self.cutoff:
                raise ValueError(f"measure: {measure} has another cutoff than {self.cutoff}")
        if self.within is not None and self.unit != "session":
            raise ValueError("within: only sessions may be limited to the best turns")
        return self

    @property
    def parsed(self) -> Measure:
        """The measure. Raises ValueError if its name is unknown."""
        try:
            return parse(self.measure or "")
        except InputError as error:
            raise ValueError(f"measure: {error}") from error


class Claim(Strict):
    """Figures of one system from one source.

    `n`: number of questions, None where it is not stated. `types`: types 1 to 4 (all but abstention
    in LongMemEval), 1 to 5, or one type. `pooled`: one store for all conversations. `definition`:
    where the formula was read; None where it was not found. `not_comparable`: applies to all
    figures.
    """

    system: str
    method: str
    dataset: Literal["locomo", "longmemeval_s"]
    n: int | None
    types: Types
    pooled: bool | Literal["unknown"]
    source: str = Field(min_length=1)
    definition: str | None
    date: datetime.date | None
    not_comparable: str | None = None
    note: str | None = None
    figures: list[Figure] = Field(min_length=1)

    @model_validator(mode="after")
    def _comparable_or_not(self) -> Claim:
        for i, figure in enumerate(self.figures):
            figure.types = figure.types or self.types
            figure.n = figure.n or self.n
            if self.not_comparable and figure.not_comparable:
                raise ValueError(f"figures[{i}]: not_comparable is given for all figures already")
            figure.not_comparable = figure.not_comparable or self.not_comparable
            if (figure.measure is None) == (figure.not_comparable is None):
                raise ValueError(f"figures[{i}]: needs either measure or not_comparable")
            if figure.measure and "unknown" in (self.pooled, figure.types):
                raise ValueError(f"figures[{i}]: a measure needs known `types` and `pooled`")
            figure.note = "; ".join(filter(None, (figure.note, self.note))) or None
        return self


class _File(Strict):
    claims: list[Claim] = Field(min_length=1)


def load_claims(path: Path = CLAIMS) -> tuple[Claim, ...]:
    """Load and validate the claims at `path`. Raises InputError naming file and field."""
    try:
        return tuple(_File.model_validate(load_yaml(path)).claims)
    except ValidationError as error:
        raise InputError(
            f"{path}: {first_problem(error)}; results/README.md lists the fields"
        ) from error
