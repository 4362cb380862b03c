"""What a file calls the question types, against what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from eval.answers.answers import Row
from eval.datasets.types import TYPES, Question


@dataclass(frozen=True, slots=True)
class Labels:
    """How often each label of the file stands at each official category."""

    counts: Mapping[tuple[str, int], int]

    @property
    def relabelled(self) -> int:
        """Rows whose label is neither the official number nor the official name."""
        return sum(n for (label, official), n in self.counts.items() if not _same(label, official))

    def sentence(self) -> str | None:
        """What is wrong with the labels, in words; None if nothing is.

        Where each label stands for one type and each type has one label, the labels are a
        permutation, and tables by the file's labels have their rows exchanged.
        """
        if not self.relabelled:
            return None
        labels = [label for label, _ in self.counts]
        officials = [official for _, official in self.counts]
        one_to_one = len(set(labels)) == len(labels) and len(set(officials)) == len(officials)
        if not one_to_one:
            return (
                f"Another category than the official one: {self.relabelled:,} of "
                f"{sum(self.counts.values()):,} rows. Scores go by the official types."
            )
        renamed = "; ".join(
            f"{label} is {official} {TYPES[official]}"
            for label, official in sorted(self.counts)
            if not _same(label, official)
        )
        same_names = set(labels) == set(map(str, officials))
        kind = "a permutation of the official categories" if same_names else "other names"
        return (
            f"The file's categories are {kind}: {renamed}. Scores go by the official types; tables "
            "by the file's own categories have these rows under other names."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows: a line a label, a column an official category that occurs, counts."""
        officials = sorted({official for _, official in self.counts})
        header = ["label in the file", *(f"{number} {TYPES[number]}" for number in officials)]
        rows = [
            [label, *(str(self.counts.get((label, official), 0)) for official in officials)]
            for label in sorted({label for label, _ in self.counts})
        ]
        return header, rows


def count_labels(answers: Mapping[str, Row], questions: Mapping[str, Question]) -> Labels:
    """Labels of the matched rows; `answers` and `questions` by question id."""
    counts = Counter(
        (row.category, questions[identity].category)
        for identity, row in answers.items()
        if row.category is not None
    )
    return Labels(dict(counts))


def _same(label: str, official: int) -> bool:
    return label in (str(official), TYPES[official])
