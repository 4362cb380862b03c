"""What became of the rows of an imported file: counts, and sentences on them (sentences.yaml)."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.datasets.types import Dataset
from memsys.core.yaml_text import load_table

SHOWN = 5  # examples of each kind
TABLE = load_table(
    Path(__file__).with_name("sentences.yaml"),
    TIMES=r"time|latency|duration|elapsed|(^|_)(ms|sec|secs|seconds)(_|$)",
)
Missing = Mapping[str, tuple[int, int]]  # by type of question: without a row, and of how many


@dataclass(frozen=True, slots=True)
class Account:
    """`counts`: plain JSON values. `warnings`: why the means of the import may mislead."""

    counts: dict[str, Any]
    sentences: list[str]
    warnings: list[str]

    def fields(self) -> dict[str, Any]:
        """Return the account as fields of a manifest."""
        return {
            "matching": {**self.counts, "sentences": self.sentences},
            "warnings": self.warnings,
        }


class _Number(int):
    """A number that a sentence writes with its noun, if it names one."""

    def __format__(self, noun: str) -> str:
        return counted(int(self), noun) if noun else f"{int(self):,}"


def sentences(kind: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sentences of the `kind` whose facts are there."""
    values = {name: _Number(v) if type(v) is int else v for name, v in facts.items()}
    for name, text in TABLE[kind].items():
        fact = facts.get(name)
        for item in fact if isinstance(fact, list) else [fact] if fact else []:
            yield text.format(item, **values)


def missing_by_type(dataset: Dataset, matched: Container[str]) -> Missing:
    """Return the questions that have no row, by type; `matched`: ids of those that have one."""
    asked = Counter(question.type for question in dataset.questions)
    without = Counter(q.type for q in dataset.questions if q.id not in matched)
    return {name: (without[name], asked[name]) for name in dataset.types.values() if without[name]}


def missing_facts(missing: Missing) -> dict[str, Any]:
    """Return the facts on questions without a row or ranking, and on types of which only some
    questions are.
    """
    texts = {name: f"{without:,} of {of:,} {name}" for name, (without, of) in missing.items()}
    return {
        "missing": sum(without for without, _ in missing.values()),
        "missing_of": ", ".join(texts.values()),
        "partly": ", ".join(texts[name] for name, (without, of) in missing.items() if without < of),
    }


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural but for 1."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def lines(each: Iterable[str]) -> str:
    """Return indented lines that follow a sentence."""
    return "".join(f"\n  {line}" for line in each)
