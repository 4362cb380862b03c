"""Records and runs written by hand: every memory `mX` holds the one turn `X`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eval.records.run import Run, load_run
from eval.rendering.blocks import Section, Table
from tests.eval import factory
from tests.eval.factory import FILE  # noqa: F401 - the data of these runs

SHARED = {"memory": {"name": "turns"}, "k": 3, "graph": {"name": "rules"}, "reader": "extractive"}


def record(
    id_: str,
    evidence: str = "",
    direct: str = "",
    added: str = "",
    f1: float = 0.0,
    category: int = 4,
    **more: Any,
) -> dict[str, Any]:
    """A record of the conversation before the `/` of `id_`. Turns are single letters: of
    `evidence`, in memories found `direct`, in memories `added` by the graph.
    """
    found = {
        "direct": [turn for turn in evidence if turn in direct],
        "expanded": [turn for turn in evidence if turn in added and turn not in direct],
    }
    rows = [[f"m{turn}", [turn], 0.5, "direct"] for turn in direct]
    rows += [[f"m{turn}", [turn], 0.4, "expanded"] for turn in added]
    return factory.record(
        id_,
        category,
        **{
            "retrieved": rows,
            "evidence": [*evidence],
            "evidence_found": found,
            "scores": {"locomo_f1": f1},
            **more,
        },
    )


def expanded(id_: str, evidence: str, direct: str, added: str, reached: str = "", **more: Any):
    """A record of graph_expand, which reached what it added and the memories of `reached`."""
    trace = {"expansion": [{"memory": f"m{turn}"} for turn in added + reached]}
    return record(id_, evidence, direct, added, trace=more.pop("trace", {}) | trace, **more)


def gated(id_: str, evidence: str, direct: str, added: str = "", rule: str = "closed", **more: Any):
    """A record of hybrid_gate, whose gate opened unless `rule` is `closed`."""
    gate = {"gate": {"open": rule != "closed", "rule": rule, "mean_similarity": 0.5}}
    return expanded(id_, evidence, direct, added, trace=gate, **more)


def imported(row: dict[str, Any]) -> dict[str, Any]:
    """The record as one of answers made elsewhere."""
    return row | {"retrieved": None, "evidence_found": None, "trace": {}}


def write_run(
    folder: Path, rows: Iterable[dict[str, Any]], strategy: str = "vector_only", **more: Any
) -> Path:
    config = SHARED | {"strategy": {"_target_": strategy, "k": 3}} | more.pop("config", {})
    return factory.write_run(folder, rows, strategy, config=config, **more)


def made_run(folder: Path, rows: Iterable[dict[str, Any]], *strategy: str, **more: Any) -> Run:
    return load_run(write_run(folder, rows, *strategy, **more))


def values(table: Table, row: str, *columns: str) -> tuple[str, ...]:
    """The cells of `columns` in the first row that begins with `row`, intervals cut off."""
    (found, *_) = (cells for cells in table.rows if cells[0] == row)
    cells = dict(zip(table.header, found, strict=True))
    return tuple(cells[column].partition(" [")[0] for column in columns)


def shown(table: Table) -> dict[str, tuple[str, ...]]:
    """The cells of each row by its name, intervals cut off."""
    return {row[0]: tuple(cell.partition(" [")[0] for cell in row[1:]) for row in table.rows}


def tables(section: Section) -> list[Table]:
    return [part for part in section.parts if isinstance(part, Table)]


def sentences(section: Section) -> str:
    return " ".join(part for part in section.parts if isinstance(part, str))


def repeated(rows: Sequence[dict[str, Any]], conversations: str = "ab") -> list[dict[str, Any]]:
    """The rows once in each of several conversations, named by a letter."""
    return [
        row | {"id": f"{name}/{row['id']}", "conversation": name}
        for name in conversations
        for row in rows
    ]
