"""Files of published LoCoMo tables (results/published/*.yaml), read and validated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from eval.datasets.types import TYPES
from memsys.core.errors import InputError, first_problem
from memsys.core.places import SHIPPED
from memsys.core.yaml_text import load_yaml

PUBLISHED = SHIPPED / "results" / "published"
CLAIMS = PUBLISHED / "retrieval.yaml"  # read by eval.studies.published_claims
# Questions by category in the published locomo10.json (Maharana et al., 2024).
COUNTS: Mapping[int, int] = {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
SCALE: Mapping[str, int] = {"percent": 1, "fraction": 100}  # to percent
OVERALLS = ([1, 2, 3, 4], [1, 2, 3, 4, 5])  # categories that an overall may be over
_IDS = {name: category for category, name in TYPES.items()}


def _category(value: object) -> object:
    """Return the id of an official name; an id is returned unchanged."""
    if (value := _IDS.get(str(value), value)) not in TYPES:
        names = ", ".join(f"{category} {name}" for category, name in TYPES.items())
        raise ValueError(f"{value!r} is not one of {names}")
    return value


_Category = Annotated[int, BeforeValidator(_category)]


class Strict(BaseModel, extra="forbid", strict=True):
    """Base of the parts of a file: no unknown fields, no conversion of types."""


class Label(Strict):
    """Name a source prints for a category: the official id it suggests and the id it means."""

    printed: str = ""  # set from the key of `labels`
    reads_as: _Category
    category: _Category
    why: str | None = None

    @model_validator(mode="after")
    def _explained(self) -> Label:
        if self.reads_as != self.category and not self.why:
            raise ValueError(f"needs `why`: the evidence that it is not {TYPES[self.reads_as]}")
        return self


class SystemRow(Strict):
    """Scores of one system by column of its table, in the table's unit.

    `explained` says why `overall` cannot be recomputed from the scores.
    """

    system: str
    scores: list[float]
    overall: float | None = None
    spread: list[float] | None = None
    overall_spread: float | None = None
    explained: str | None = None


class PublishedTable(Strict):
    """Rows of one metric, printed with `decimals` digits; `columns` are printed labels."""

    name: str
    metric: str
    unit: Literal["percent", "fraction"]
    decimals: int
    columns: list[str]
    rows: list[SystemRow] = Field(min_length=1)
    labels: tuple[Label, ...] = ()  # of the columns, set by PublishedSource

    @model_validator(mode="after")
    def _check_rows(self) -> PublishedTable:
        top = 100 / SCALE[self.unit]
        for row in self.rows:
            if {len(row.scores), len(row.spread or row.scores)} != {len(self.columns)}:
                raise ValueError(f"{row.system}: give scores and spread one value per column")
            for value in (*row.scores, row.overall or 0):
                if not 0 <= value <= top:
                    problem = f"{value} is not between 0 and {top:g}; correct it or `unit`"
                    raise ValueError(f"{row.system}: {problem}")
        return self


class PublishedSource(Strict):
    """One file: the source of its numbers, the meanings of its labels, and the tables as printed.

    `measurements`: published latency and tokens, which no command reads.
    """

    title: str
    authors: str
    year: int
    address: str
    seen_in: str
    reader: str
    judge: str
    labels_by_name: dict[str, Label] = Field(alias="labels")
    printed_counts: dict[str, int] = {}
    left_out: list[str]
    tables: list[PublishedTable]
    measurements: list[dict[str, Any]] = []
    file: str = ""  # name of the file, set by load_source

    @property
    def labels(self) -> tuple[Label, ...]:
        """All labels, in the order of the file."""
        return tuple(self.labels_by_name.values())

    @model_validator(mode="after")
    def _match_labels(self) -> PublishedSource:
        for printed, label in self.labels_by_name.items():
            label.printed = printed
        for side in ("reads_as", "category"):
            if len({getattr(label, side) for label in self.labels}) < len(self.labels):
                raise ValueError(f"labels: two have the same {side}; give each a different one")
        for printed, count in self.printed_counts.items():
            expected = COUNTS[self._label("printed_counts", printed).category]
            if count != expected:
                problem = f"{count} questions, but the label's category has {expected}"
                remedy = "correct the count or the label's category"
                raise ValueError(f"printed_counts.{printed}: {problem}; {remedy}")
        for i, table in enumerate(self.tables):
            place = f"tables[{i}].columns"
            table.labels = tuple(self._label(place, column) for column in table.columns)
            if sorted(label.category for label in table.labels) not in OVERALLS:
                raise ValueError(f"{place}: needs one column for each category 1 to 4 (or 5)")
        return self

    def _label(self, place: str, printed: str) -> Label:
        if printed not in self.labels_by_name:
            raise ValueError(f"{place}: {printed!r} is not one of {', '.join(self.labels_by_name)}")
        return self.labels_by_name[printed]


def load_published(paths: Sequence[Path] = ()) -> tuple[PublishedSource, ...]:
    """Load the sources at `paths`, by default every table of answers in results/published.

    Raises InputError naming file and field.
    """
    paths = paths or sorted(path for path in PUBLISHED.glob("*.yaml") if path != CLAIMS)
    if not paths:
        raise InputError(f"{PUBLISHED}: no published tables here; name the files to read")
    return tuple(load_source(path) for path in paths)


def load_source(path: Path) -> PublishedSource:
    """Load and validate one file. Raises InputError naming file and field."""
    try:
        source = PublishedSource.model_validate(load_yaml(path))
    except ValidationError as error:
        raise InputError(
            f"{path}: {first_problem(error)}; results/README.md lists the fields"
        ) from error
    source.file = path.name
    return source
