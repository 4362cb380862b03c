"""Fields of an answer by the names that files give their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from eval.answers.places import KEY
from eval.metrics.registry import reported
from memsys.core.yaml_text import load_table

_FOLDER = Path(__file__).parent
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARKS = re.compile(r"[^a-z0-9.@]+")
TABLE = load_table(_FOLDER / "patterns.yaml")
PATTERNS = {name: re.compile("|".join(one)) for name, one in TABLE["names"].items()}


def _load() -> dict[str, list[re.Pattern[str]]]:
    names: dict[str, list[str]] = load_table(_FOLDER / "columns.yaml")
    for metric, column in reported().items():
        names[metric] = [re.escape(column), *names.get(metric, [])]
    return {field: [re.compile(one) for one in patterns] for field, patterns in names.items()}


NAMES: Mapping[str, Sequence[re.Pattern[str]]] = _load()


def snake(column: str) -> str:
    """Return the name in snake case: `generatedAnswer` and "Generated Answer" are
    `generated_answer`; dots stay.
    """
    return _MARKS.sub("_", _CAPITAL.sub("_", column).lower()).strip("_")


def is_key(column: str) -> bool:
    """Return whether a column is a key or file name above the row."""
    return column.startswith(KEY)


def in_milliseconds(column: str) -> bool:
    """Return whether the name of a column of times says that they are milliseconds."""
    return PATTERNS["milliseconds"].search(snake(column)) is not None


def names_unit(column: str) -> bool:
    """Return whether the name of a column of times states their unit."""
    return in_milliseconds(column) or PATTERNS["seconds"].search(snake(column)) is not None


def named(field: str, columns: Iterable[str]) -> list[str]:
    """Return those of `columns` that `field` may be read from, best first.

    A whole name goes before a part after the last dot, and earlier patterns before later ones.
    """
    found: dict[str, tuple[int, int]] = {}
    for column in columns:
        name = snake(column)
        if field == "context_tokens" and PATTERNS["not_contexts"].fullmatch(name):
            continue
        for nested, form in enumerate((name, name.rpartition(".")[2])):
            if field == "answer" and PATTERNS["not_answers"].fullmatch(form):
                continue
            if (rank := _rank(field, form)) is not None:
                found[column] = (nested, rank)
                break
    return sorted(found, key=lambda column: found[column])


def rank_of(field: str, column: str) -> int:
    """Return the position of the pattern that the name matches; beyond all if there is none."""
    name = snake(column)
    ranks = (_rank(field, form) for form in (name, name.rpartition(".")[2]))
    return min((one for one in ranks if one is not None), default=len(NAMES[field]))


def _rank(field: str, form: str) -> int | None:
    return next((n for n, one in enumerate(NAMES[field]) if one.fullmatch(form)), None)
