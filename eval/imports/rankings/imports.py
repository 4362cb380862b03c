"""Rankings that another system made, matched to a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from eval.answers.ranking_files import RankingRow
from eval.datasets.pooled import pool
from eval.datasets.types import Dataset
from eval.imports.rankings.match import Matching, Ranking, match
from eval.records.rankings import manifest_fields
from memsys.core.errors import InputError


@dataclass(frozen=True)
class Import:
    """Rankings of the system `name`, matched to a data set.

    `dataset`: pooled if the rankings are of the pooled store. `given_depth`: the depth that the
    user states, or None.
    """

    name: str
    rows: Sequence[RankingRow]
    dataset: Dataset
    matching: Matching
    given_depth: int | None

    @cached_property
    def sizes(self) -> dict[str, dict[str, int]]:
        """Numbers of turns and sessions by store, as in the manifest."""
        return cast(
            dict[str, dict[str, int]], manifest_fields(None, self.dataset.conversations)["stores"]
        )

    @cached_property
    def stores(self) -> dict[str, str]:
        """The store of each question."""
        return {question.id: question.searched for question in self.dataset.questions}

    @cached_property
    def cut(self) -> list[tuple[str, Ranking]]:
        """Rankings that are not empty and do not contain the whole store, by question id: something
        may follow them.
        """
        units = f"{self.matching.unit}s"
        return [
            (id_, one)
            for id_, one in self.matching.rankings.items()
            if 0 < len(one.ranked) < self.sizes[self.stores[id_]][units]
        ]

    @property
    def depth(self) -> int | None:
        """Number of ids that each ranking has unless nothing follows it; None if nothing follows
        any. It is the length of the shortest one in `cut`, unless the user states another.
        """
        if self.given_depth is not None:
            return self.given_depth
        return min((len(one.ranked) for _, one in self.cut), default=None)


def matched(
    rows: Sequence[RankingRow],
    name: str,
    dataset: Dataset,
    where: str,
    depth: int | None = None,
    *,
    partial: bool = False,
) -> Import:
    """Match the rows of the file `where` to `dataset`; `name` is the system's name in tables.

    `depth`: the number of ids at which rankings were cut, so that shorter ones are complete; None
    if that is not known. `partial`: accept few rows that match. Raises InputError as match does,
    and if `depth` contradicts the rankings.
    """
    if depth is not None and depth < 1:
        raise InputError(f"depth {depth}: use a whole number above 0")
    matching = match(rows, dataset, where, partial=partial)
    found = Import(name, rows, pool(dataset) if matching.pooled else dataset, matching, depth)
    if depth is not None:
        _check_depth(found, depth, where)
    return found


def _check_depth(source: Import, depth: int, where: str) -> None:
    longest = max(source.matching.rankings.values(), key=lambda one: len(one.ranked))
    if len(longest.ranked) > depth:
        raise InputError(
            f"{where}: --depth {depth}: {longest.row.place}: has {len(longest.ranked)} "
            "ids, so that rankings were not cut there; use the number at which they were, or leave "
            "out --depth"
        )
