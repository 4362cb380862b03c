"""Fields of an answer by the names of columns, and layouts of answer files: where the rows are, and
what each column means, as YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from eval.answers.places import KEY
from eval.metrics.registry import reported
from memsys.core.errors import InputError, problems
from memsys.core.files import is_there
from memsys.core.yaml_text import load_table, load_yaml

_FOLDER = Path(__file__).parent
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARKS = re.compile(r"[^a-z0-9.@]+")
TABLE = load_table(_FOLDER / "patterns.yaml")
PATTERNS = {name: re.compile("|".join(patterns)) for name, patterns in TABLE["names"].items()}


NAMES: dict[str, list[re.Pattern[str]]] = {
    field: [re.compile(pattern) for pattern in patterns]
    for field, patterns in load_table(_FOLDER / "columns.yaml").items()
}
for _metric, _column in reported().items():
    NAMES[_metric] = [re.compile(re.escape(_column)), *NAMES.get(_metric, [])]


def snake(column: str) -> str:
    """Return the name in snake case: `generatedAnswer` and "Generated Answer" are
    `generated_answer`; dots stay.
    """
    return _MARKS.sub("_", _CAPITAL.sub("_", column).lower()).strip("_")


def is_key(column: str) -> bool:
    """Return whether a column is a key or file name above the row."""
    return column.startswith(KEY)


def unit_of(column: str) -> str | None:
    """Return the unit that the name of a column of times states, "milliseconds" or "seconds"."""
    units = ("milliseconds", "seconds")
    return next((unit for unit in units if PATTERNS[unit].search(snake(column))), None)


def named(field: str, columns: Iterable[str]) -> list[str]:
    """Return those of `columns` that `field` may be read from, best first.

    A whole name goes before a part after the last dot, and earlier patterns before later ones.
    """
    ranks: dict[str, tuple[int, int]] = {}
    for column in columns:
        name = snake(column)
        if field == "context_tokens" and PATTERNS["not_contexts"].fullmatch(name):
            continue
        for nested, form in enumerate((name, name.rpartition(".")[2])):
            if field == "answer" and PATTERNS["not_answers"].fullmatch(form):
                continue
            if (rank := _rank(field, form)) is not None:
                ranks[column] = (nested, rank)
                break
    return sorted(ranks, key=lambda column: ranks[column])


def rank_of(field: str, column: str) -> int:
    """Return the position of the pattern that the name matches; beyond all if there is none."""
    name = snake(column)
    ranks = (_rank(field, form) for form in (name, name.rpartition(".")[2]))
    return min((rank for rank in ranks if rank is not None), default=len(NAMES[field]))


def _rank(field: str, form: str) -> int | None:
    return next((n for n, pattern in enumerate(NAMES[field]) if pattern.fullmatch(form)), None)


SHIPPED = Path(__file__).with_name("layouts")
TIMES = ("search_seconds", "answer_seconds", "total_seconds")
AMOUNTS = ("context_tokens", *TIMES)  # whose columns are added up
_SEVERAL = {"judge", "judge_runs", *AMOUNTS}  # fields of several columns
PLUS = " + "
_NONE = "none"  # in place of a column: the field is not read
_Name = Annotated[str, Field(min_length=1)]


class _File(BaseModel):
    """A file of a layout."""

    model_config = ConfigDict(extra="forbid")
    rows: str | None = None
    columns: dict[str, _Name | Annotated[list[_Name], Field(min_length=1)]] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read a file of answers.

    `rows`: path of the list of rows; None to look for it. `columns`: the columns of a field, which
    may contain `*`; several are added up (times, tokens) or are the runs of a judge, and a field
    without one is not read. `whole`: fields that `columns` does not name are not looked for, and
    those whose columns are missing are left out but for the `required` ones.
    """

    rows: str | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    whole: bool = False
    required: frozenset[str] = frozenset()

    def with_columns(self, columns: Mapping[str, tuple[str, ...]], rows: str | None) -> Layout:
        """Return the layout with other `columns`, which are required, and `rows` if given."""
        return replace(
            self,
            columns={**self.columns, **columns},
            rows=self.rows if rows is None else rows,
            required=self.required | columns.keys(),
        )


def load_layout(name: str) -> Layout:
    """Return the layout in the YAML file `name`, or the one of that name in SHIPPED.

    Raises InputError if there is none, or if the file has unknown fields.
    """
    path = SHIPPED / f"{name}.yaml" if re.fullmatch(r"[\w-]+", name) else Path(name).expanduser()
    if not is_there(path):
        raise InputError(
            f"--layout {name:.200}: no such file; name a YAML file, or one of "
            f"{', '.join(shipped())}"
        )
    with problems(path):
        file = _File.model_validate(load_yaml(path))
    columns = {field: _columns(field, given, str(path)) for field, given in file.columns.items()}
    return Layout(file.rows, columns, whole=True)


def shipped() -> list[str]:
    """Return the names of the layouts in SHIPPED."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def parse_columns(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns by field of `field=column` or `field=column+column`; `field=none` has no
    column.

    Raises InputError for another form or an unknown field.
    """
    by_field = {}
    for text in given:
        name, equals, columns = text.partition("=")
        if not equals or not columns:
            raise InputError(
                f"--columns {text:.100}: write FIELD=COLUMN, such as answer=pred, after the FILE"
            )
        several = [part.strip() for part in columns.split("+")] if name in _SEVERAL else [columns]
        checked = _columns(name, several, "--columns")
        by_field[name] = () if columns == _NONE else checked
    return by_field


def _columns(name: str, given: str | Sequence[str], where: str) -> tuple[str, ...]:
    if name not in NAMES:
        raise InputError(f"{where}: {name!r:.60} is no field; the fields are {', '.join(NAMES)}")
    several = (given,) if isinstance(given, str) else tuple(given)
    if len(several) > 1 and name not in _SEVERAL:
        raise InputError(f"{where}: {name} is read from one column, not from {len(several)}")
    return several


def save_layout(layout: Layout, path: Path) -> None:
    """Write `layout` as YAML."""
    columns: dict[str, Any] = {
        name: given[0] if len(given) == 1 else list(given) for name, given in layout.columns.items()
    }
    value = {"rows": layout.rows, "columns": columns}
    path.write_text(yaml.safe_dump(value, sort_keys=False, allow_unicode=True), encoding="utf-8")


def expand(pattern: str, columns: Iterable[str]) -> list[str]:
    """Return those of `columns` that `pattern` means: a name, which may contain `*`, or the part
    of names before a dot.
    """
    present = list(columns)
    if pattern in present:
        return [pattern]
    if "*" not in pattern:  # an object of verdicts by judge or run
        return [column for column in present if column.startswith(f"{pattern}.")]
    form = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    return [column for column in present if form.fullmatch(column)]
