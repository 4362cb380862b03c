"""What became of the rows of an imported file: counts, and the sentences that say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eval.datasets.types import Dataset

SHOWN = 5  # examples of each kind
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


def missing_by_type(dataset: Dataset, matched: Container[str]) -> Missing:
    """Return the questions that have no row, by type; `matched`: ids of those that have one."""
    asked = Counter(question.type for question in dataset.questions)
    without = Counter(one.type for one in dataset.questions if one.id not in matched)
    return {name: (without[name], asked[name]) for name in dataset.types.values() if without[name]}


def counts_from_1(noun: str) -> str:
    """Return the sentence on a file whose first index is 1; `noun`: row or ranking."""
    return f"The file counts qa_index from 1, as no {noun} has 0."


def not_in_the_means(noun: str, missing: Missing, questions: int) -> str:
    """Return the sentence on questions without a row or ranking."""
    count = sum(without for without, _ in missing.values())
    return (
        f"Without a {noun}, and in no mean: {count:,} of {questions:,} questions "
        f"({_shares(missing)})."
    )


def partly_covered(noun: str, missing: Missing) -> list[str]:
    """Return the warning that only some questions of a type have a row or ranking, if it is so."""
    partly = {name: cell for name, cell in missing.items() if cell[0] < cell[1]}
    if not partly:
        return []
    return [f"{_shares(partly)} have no {noun}: the means cover only the questions in the file"]


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, in the plural but for 1."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def lines(each: Iterable[str]) -> str:
    """Return indented lines that follow a sentence."""
    return "".join(f"\n  {one}" for one in each)


def _shares(missing: Missing) -> str:
    return ", ".join(f"{without:,} of {of:,} {name}" for name, (without, of) in missing.items())
