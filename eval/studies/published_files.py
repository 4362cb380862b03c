"""Files of published tables (results/published/*.yaml): what stands in them, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from eval.datasets.types import TYPES
from memsys.errors import InputError

PUBLISHED = Path(__file__).resolve().parents[2] / "results" / "published"
# Questions by category in the published locomo10.json (Maharana et al., 2024).
COUNTS: Mapping[int, int] = MappingProxyType({1: 282, 2: 321, 3: 96, 4: 841, 5: 446})
SCALE: Mapping[str, int] = MappingProxyType({"percent": 1, "fraction": 100})  # to percent
_IDS = {name: category for category, name in TYPES.items()}
_TEXTS = dict.fromkeys(("title", "authors", "address", "seen_in", "reader", "judge"), str)


@dataclass(frozen=True, slots=True)
class Label:
    """What a source prints for a category: the id it looks like and the id it stands for."""

    printed: str
    reads_as: int
    category: int
    why: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One system: scores by printed label; scores, spreads and overall in the table's unit.

    `explained` says why `overall` does not recompute, where it does not.
    """

    system: str
    scores: Mapping[str, float]
    overall: float | None = None
    spread: Mapping[str, float] | None = None
    overall_spread: float | None = None
    explained: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one metric; `unit` is percent or fraction, printed with `decimals` digits."""

    name: str
    metric: str
    unit: str
    decimals: int
    labels: tuple[Label, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Measurements:
    """Figures that are not by question type; columns name the unit, None is no figure."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """One file: where its numbers are from, what its labels mean, and the numbers as printed."""

    file: str
    title: str
    authors: str
    year: int
    address: str
    seen_in: str
    reader: str
    judge: str
    left_out: tuple[str, ...]
    labels: tuple[Label, ...]
    printed_counts: Mapping[str, int]
    tables: tuple[Table, ...]
    measurements: tuple[Measurements, ...]


def load_published(paths: Sequence[Path] = ()) -> tuple[Source, ...]:
    """The sources of `paths`, or every file of results/published in order of name.

    Raises InputError naming file and field.
    """
    paths = paths or sorted(PUBLISHED.glob("*.yaml"))
    if not paths:
        raise InputError(f"{PUBLISHED}: no published tables here; name the files to read")
    return tuple(load_source(path) for path in paths)


def load_source(path: Path) -> Source:
    """One file, checked. Raises InputError naming file and field."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: no UTF-8, or no such date
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    needed = {**_TEXTS, "year": int, "labels": dict, "left_out": list, "tables": list}
    top = _fields(str(path), raw, needed, {"printed_counts": dict, "measurements": list})
    labels = _labels(f"{path}: labels", top["labels"])
    return Source(
        file=path.name,
        year=top["year"],
        left_out=tuple(_all(f"{path}: left_out", top["left_out"], str)),
        labels=tuple(labels.values()),
        printed_counts=_counts(f"{path}: printed_counts", top.get("printed_counts", {}), labels),
        tables=tuple(
            _table(f"{path}: tables[{i}]", each, labels) for i, each in enumerate(top["tables"])
        ),
        measurements=tuple(
            _measurements(f"{path}: measurements[{i}]", each)
            for i, each in enumerate(top.get("measurements", []))
        ),
        **{name: top[name] for name in _TEXTS},
    )


def _labels(place: str, raw: Mapping[str, Any]) -> dict[str, Label]:
    labels = {}
    for printed, each in raw.items():
        here = f"{place}.{printed}"
        found = _fields(here, each, {"reads_as": str, "category": int}, {"why": str})
        _among(f"{here}.reads_as", found["reads_as"], _IDS)
        _among(f"{here}.category", found["category"], TYPES)
        label = Label(printed, _IDS[found["reads_as"]], found["category"], found.get("why"))
        if label.reads_as != label.category and not label.why:
            raise InputError(
                f"{here}.why: missing; say how it is known to be no {each['reads_as']}"
            )
        labels[printed] = label
    for side in ("reads_as", "category"):
        if len({getattr(label, side) for label in labels.values()}) < len(labels):
            raise InputError(f"{place}: two labels have the same {side}; give each its own")
    return labels


def _counts(place: str, raw: Mapping[str, Any], labels: Mapping[str, Label]) -> dict[str, int]:
    for label, count in raw.items():
        _among(f"{place}.{label}", label, labels)
        category = labels[label].category
        if count != COUNTS[category]:
            raise InputError(
                f"{place}.{label}: {count} questions, but category {category} has "
                f"{COUNTS[category]}; correct the count or the label's category"
            )
    return dict(raw)


def _table(place: str, raw: object, labels: Mapping[str, Label]) -> Table:
    needed = {"name": str, "metric": str, "unit": str, "decimals": int}
    found = _fields(place, raw, {**needed, "columns": list, "rows": list}, {})
    _among(f"{place}.unit", found["unit"], SCALE)
    columns = _all(f"{place}.columns", found["columns"], str)
    for column in columns:
        _among(f"{place}.columns", column, labels)
    categories = sorted(labels[column].category for column in columns)
    if categories not in ([1, 2, 3, 4], [1, 2, 3, 4, 5]) or not found["rows"]:
        raise InputError(f"{place}: needs rows, and columns for categories 1 to 4 (or 5) once each")
    top = 100 / SCALE[found["unit"]]
    rows = [_row(f"{place}.rows[{i}]", each, columns, top) for i, each in enumerate(found["rows"])]
    return Table(
        **{name: found[name] for name in needed},
        labels=tuple(labels[column] for column in columns),
        rows=tuple(rows),
    )


def _row(place: str, raw: object, columns: Sequence[str], top: float) -> Row:
    may = {"overall": float, "overall_spread": float, "spread": list, "explained": str}
    found = _fields(place, raw, {"system": str, "scores": list}, may)
    for name in {"scores", "spread"} & found.keys():
        values = _all(f"{place}.{name}", found[name], float)
        if len(values) != len(columns):
            raise InputError(f"{place}.{name}: {len(values)} values for {len(columns)} columns")
        found[name] = dict(zip(columns, values, strict=True))
    for value in (*found["scores"].values(), found.get("overall", 0)):
        if not 0 <= value <= top:
            raise InputError(f"{place}: {value} is not between 0 and {top:g}; correct it or `unit`")
    return Row(**found)


def _measurements(place: str, raw: object) -> Measurements:
    found = _fields(place, raw, {"name": str, "columns": list, "rows": list}, {})
    columns = tuple(_all(f"{place}.columns", found["columns"], str))
    rows = tuple(tuple(_all(f"{place}.rows", [row], list)[0]) for row in found["rows"])
    for i, row in enumerate(rows):
        if len(row) != len(columns):
            raise InputError(f"{place}.rows[{i}]: {len(row)} values for {len(columns)} columns")
        _all(f"{place}.rows[{i}][0]", row[:1], str)
        _all(f"{place}.rows[{i}]", [value for value in row[1:] if value is not None], float)
    return Measurements(found["name"], columns, rows)


def _fields(
    place: str, raw: object, needed: Mapping[str, type], may: Mapping[str, type]
) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise InputError(f"{place}: must hold the fields {', '.join(needed)}")
    kinds = {**needed, **may}
    for name in raw:
        _among(f"{place}: field", name, kinds)
    for name in needed:
        if name not in raw:
            raise InputError(f"{place}.{name}: missing; add it")
    return {name: _all(f"{place}.{name}", [value], kinds[name])[0] for name, value in raw.items()}


def _all(place: str, values: Sequence[Any], kind: type) -> list[Any]:
    kinds = (int, float) if kind is float else (kind,)
    for value in values:
        if not isinstance(value, kinds) or isinstance(value, bool):
            name = {"str": "text", "float": "a number", "int": "a whole number"}
            raise InputError(f"{place}: {value!r} is not {name.get(kind.__name__, kind.__name__)}")
    return list(values)


def _among(place: str, value: object, known: Mapping[Any, Any]) -> None:
    if value not in known:
        raise InputError(f"{place}: {value!r} is none of {', '.join(map(str, known))}")
