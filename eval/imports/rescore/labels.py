"""The file's category labels beside the official categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval.datasets.types import TYPES


@dataclass(frozen=True, slots=True)
class Labels:
    """Numbers of rows by the file's category label and the official category.

    `types`: official names by category.
    """

    counts: Mapping[tuple[str, int], int]
    types: Mapping[int, str] = field(default_factory=lambda: TYPES)

    @property
    def relabelled(self) -> int:
        """Number of rows whose label is neither the official number nor the official name."""
        return sum(
            n for (label, official), n in self.counts.items() if not self._same(label, official)
        )

    def sentence(self) -> str | None:
        """Describe how the labels differ from the official categories; None if they do not.

        If labels and types correspond one to one, the labels are a permutation or other names, and
        tables by the file's labels have exchanged rows.
        """
        if not self.relabelled:
            return None
        labels, officials = zip(*self.counts, strict=True)
        one_to_one = len(set(labels)) == len(labels) and len(set(officials)) == len(officials)
        if not one_to_one:
            return (
                f"Another category than the official one: {self.relabelled:,} of "
                f"{sum(self.counts.values()):,} rows. Scores go by the official types."
            )
        renamed = "; ".join(
            f"{label} is {official} {self.types[official]}"
            for label, official in sorted(self.counts)
            if not self._same(label, official)
        )
        same_names = set(labels) == set(map(str, officials))
        kind = "a permutation of the official categories" if same_names else "other names"
        return (
            f"The file's categories are {kind}: {renamed}. Scores go by the official types; tables "
            "by the file's own categories have these rows under other names."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of counts: a row per label, a column per official category."""
        officials = sorted({official for _, official in self.counts})
        header = ["label in the file", *(f"{number} {self.types[number]}" for number in officials)]
        rows = [
            [label, *(str(self.counts.get((label, official), 0)) for official in officials)]
            for label in sorted({label for label, _ in self.counts})
        ]
        return header, rows

    def _same(self, label: str, official: int) -> bool:
        return label in (str(official), self.types[official])


def labels_table(
    account: Mapping[str, Any], draw: Callable[[list[str], list[list[str]]], str]
) -> str | None:
    """Return the table of the file's category labels by official category; None if they agree."""
    if not account.get("categories_relabelled"):
        return None
    counts = {(row["label"], row["official"]): row["rows"] for row in account["categories"]}
    types = {row["official"]: row["type"] for row in account["categories"] if "type" in row}
    return draw(*Labels(counts, types or TYPES).table())
