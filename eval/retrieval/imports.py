"""Import a ranking that another system made into a run folder without answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, cast

from eval.answers.ranking_files import LAYOUTS, RankingRow, read_rankings, rows_of
from eval.datasets.pooled import POOLED, pool
from eval.datasets.types import Dataset, SourceFile
from eval.metrics.retrieval.registry import Unit
from eval.records.rankings import RULE, Ranked, as_ranked, manifest_fields, session_of
from eval.records.run import Run
from eval.records.schema import Manifest, MemoryLine, RankingLine, Record, Summary
from eval.rendering.run_tables import report_md
from eval.retrieval.account import account
from eval.retrieval.match import Matching, Ranking, match
from eval.summary.imported import describe_import, unanswered, write_imported
from eval.summary.scoring import score_record
from memsys.errors import InputError
from memsys.text.tokens import count_tokens
from memsys.text.turns import line

_RULES: Mapping[Unit, str] = {
    "turn": f"turns were ranked by another system; {RULE}",
    "session": "sessions were ranked by another system",
}


@dataclass(frozen=True)
class Import:
    """Rankings that match the questions of a data set, and what becomes of them.

    `file` and `layout` are None where a program passes the rankings. `dataset`: pooled if they are
    of the pooled store; `config` loads it again. `given_depth`: the depth that the user states.
    """

    name: str
    file: SourceFile | None
    layout: str | None
    dataset: Dataset
    config: Mapping[str, Any]
    rows: Sequence[RankingRow]
    matching: Matching
    given_depth: int | None

    @property
    def store(self) -> str | None:
        """The store of all rankings; None where each is of its question's conversation."""
        return POOLED if self.matching.pooled else None

    @cached_property
    def sizes(self) -> dict[str, dict[str, int]]:
        """Numbers of turns and sessions by store, as in the manifest."""
        found: dict[str, dict[str, int]] = manifest_fields(None, self.dataset.conversations)["stores"]
        return found

    @cached_property
    def depth(self) -> int | None:
        """Number of ids that every ranking has unless it is complete; None if all are complete.

        It is the length of the shortest ranking that does not contain its whole store, except for
        empty ones, unless the user states the depth.
        """
        if self.given_depth is not None:
            return self.given_depth
        return min((len(one.ranked) for _, one in self.open), default=None)

    @cached_property
    def open(self) -> list[tuple[str, Ranking]]:
        """Rankings that neither are empty nor contain the whole store, by question id."""
        units = f"{self.matching.unit}s"
        conversations = {one.id: one.conversation for one in self.dataset.questions}
        return [
            (id_, one)
            for id_, one in self.matching.rankings.items()
            if 0 < len(one.ranked) < self.sizes[self.store or conversations[id_]][units]
        ]

    def check_depth(self) -> None:
        """Raise InputError if the user's depth cuts a ranking whose ids are not distinct."""
        depth = self.given_depth
        for id_, one in self.open:
            if depth is not None and len(one.ranked) < depth <= one.given:
                raise InputError(
                    f"{self.name}: --depth {depth}: {one.row.place}: of its {one.given} ids only "
                    f"{len(one.ranked)} are distinct, so that what follows {id_}'s is unknown; use "
                    f"--depth {len(one.ranked)}"
                )


def read_import(
    path: Path, name: str, dataset: Dataset, config: Mapping[str, Any], depth: int | None = None
) -> Import:
    """Read the rankings in the file at `path` and match them to `dataset`, which `config` loads.

    `name`: the system's name in tables. `depth`: see Import.depth. Raises InputError if the file
    cannot be read, or contains an id that is no turn and no session of the data.
    """
    file = read_rankings(path)
    matching = match(file.rows, dataset, path.name)
    return _import(name, file.source, file.layout, file.rows, dataset, config, matching, depth)


def import_of(
    rankings: Mapping[str, Any], name: str, dataset: Dataset, config: Mapping[str, Any]
) -> Import:
    """Match rankings by question id or text, as a JSON file contains them, to `dataset`.

    Raises InputError as read_import does.
    """
    rows = rows_of(rankings, name)
    matching = match(rows, dataset, name)
    return _import(name, None, None, rows, dataset, config, matching, None)
