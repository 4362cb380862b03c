"""A run in which `llm=grammar` writes the memory of a real library."""

from __future__ import annotations

from pathlib import Path

from tests.eval.commands import Run, run_main

_SMALL = (
    *("dataset=synthetic", "llm=grammar", "reader=chain"),
    *("dataset.conversations=1", "dataset.sessions=5", "dataset.turns=8"),
    *("dataset.hops=1", "dataset.updates=2", "dataset.past=true", "dataset.tellers=one"),
)


def f1_of(folder: Path, *options: str) -> dict[str, float]:
    """What holds and what held before, in a small world. Every question was answered, nothing
    failed, and the library had nothing to warn of.
    """
    ended = run_main(folder, folder / "cache", *_SMALL, *options, f"hydra.run.dir={folder / 'run'}")
    assert ended.code == 0, ended.err
    run = Run(folder / "run", ended)
    assert {record["status"] for record in run.records} == {"ok"}
    assert [event for line in run.ingests for event in line.get("events", [])] == []
    cells = run.summary["by_type"].items()
    return {name: cell["f1"] for name, cell in cells if name in ("single_hop", "former_value")}
