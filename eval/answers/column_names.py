"""Fields of an answer by the names that files give their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from eval.answers.places import KEY
from eval.metrics.registry import reported

_FILE = Path(__file__).with_name("columns.yaml")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARKS = re.compile(r"[^a-z0-9.@]+")
_MILLISECONDS = re.compile(r"(?:^|[._])(?:ms|millis|msec|milliseconds)(?:$|[._])")
_SECONDS = re.compile(r"(?:^|[._])(?:s|secs?|seconds)(?:$|[._])")
_NOT_ANSWERS = re.compile(
    r"(adversarial|distractor|wrong|incorrect|original|gold\w*|reference|expected|correct|true|gt"
    r"|standard|target|ground_?truth)_(answer|response|output)|(judge|eval|grader)\w*"
)
_NOT_CONTEXTS = re.compile(  # tokens of what a model wrote
    r"(.*[._])?(answer|response|output|completion|generat\w*|predict\w*|judge\w*|eval\w*)"
    r"[._](token_usage|tokens|total_tokens|token_count|num_tokens)"
)
VERDICT_HINT = re.compile(  # in names that a message suggests
    r"judg|correct|verdict|grade|grading|label|pass|accura|score|eval|right|llm|success|result"
)
ANSWER_HINT = re.compile(r"answer|predict|pred|respon|output|hypo|generat|reply|completion|final")
OTHER_TEXT = re.compile(
    r"context|memor|retriev|evidence|prompt|reason|explan|rationale|thought|justif|comment|judg"
    r"|source|document|passage|chunk|session|history|search|date|time|model|uuid|hash|path|name"
)


def _load() -> dict[str, list[re.Pattern[str]]]:
    names: dict[str, list[str]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
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
    return _MILLISECONDS.search(snake(column)) is not None


def names_unit(column: str) -> bool:
    """Return whether the name of a column of times states their unit."""
    return in_milliseconds(column) or _SECONDS.search(snake(column)) is not None


def named(field: str, columns: Iterable[str]) -> list[str]:
    """Return those of `columns` that `field` may be read from, best first.

    A whole name goes before a part after the last dot, and earlier patterns before later ones.
    """
    found: dict[str, tuple[int, int]] = {}
    for column in columns:
        name = snake(column)
        if field == "context_tokens" and _NOT_CONTEXTS.fullmatch(name):
            continue
        for nested, form in enumerate((name, name.rpartition(".")[2])):
            if field == "answer" and _NOT_ANSWERS.fullmatch(form):
                continue
            rank = next((n for n, one in enumerate(NAMES[field]) if one.fullmatch(form)), None)
            if rank is not None:
                found[column] = (nested, rank)
                break
    return sorted(found, key=lambda column: found[column])


def rank_of(field: str, column: str) -> int:
    """Return the position of the pattern that the name matches; beyond all if there is none."""
    name = snake(column)
    forms = (name, name.rpartition(".")[2])
    ranks = [n for n, one in enumerate(NAMES[field]) if any(map(one.fullmatch, forms))]
    return min(ranks, default=len(NAMES[field]))
