"""The last lines of a run name what makes sense after it, and nothing else."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.records.manifest import digest
from eval.run.console import after_run, after_sweep
from tests.eval.commands import FAULTY, Ended, Run, runs_in


def following(ended: Ended) -> list[str]:
    """Lines after `Next:`, which occurs once."""
    assert ended.out.count("\nNext:\n") == 1
    return [line.strip() for line in ended.out.partition("\nNext:\n")[2].splitlines()]


def altered(run: Run, **fields: Any) -> Any:
    """The manifest of `run` with other `fields`."""
    changed = {**run.manifest, **fields}
    whole = {"config": changed["config"], "choices": changed["choices"]}
    return {**changed, "config_sha256": digest(whole)}


@pytest.fixture
def runs(copy: Callable[[Run], Run], monkeypatch: pytest.MonkeyPatch, clean: Run) -> Path:
    """The folder of runs, with one run, in the current folder."""
    folder = copy(clean).folder.parent
    monkeypatch.chdir(folder.parents[1])
    return folder


def add(runs: Path, name: str, manifest: Any) -> Path:
    """Add a run of which only the manifest is there."""
    (runs / name).mkdir()
    (runs / name / "manifest.json").write_text(json.dumps({**manifest, "run_id": name}))
    return runs / name


def test_another_strategy_keeps_data_and_model_and_drops_settings_of_this_one(runs, clean):
    command = (
        "python -m eval.run --config-dir conf dataset=locomo strategy=hybrid_gate "
        "strategy.expansion.hops=2 llm=openai 'llm.extra={a: 1}' k=5 resume=r"
    )
    mine = altered(clean, command=command)
    first, *_ = after_run(runs / clean.folder.name, mine, clean.summary)
    assert first == (
        "python -m eval.run --config-dir conf dataset=locomo llm=openai 'llm.extra={a: 1}' k=5 "
        "strategy=auto"
    )
    recommended = {**mine, "strategy": "auto"}
    first, *_ = after_run(runs / clean.folder.name, recommended, clean.summary)
    assert first.endswith(" k=5 strategy=vector_only")
    of_relations = altered(clean, command="python -m eval.run graph=relations llm=openai")
    first, *_ = after_run(runs / clean.folder.name, of_relations, clean.summary)
    assert first == "python -m eval.run graph=relations llm=openai strategy=vector_only"
    again = altered(clean, command="python -m eval.run from=last judge=llm")
    first, *_ = after_run(runs / clean.folder.name, again, clean.summary)
    assert first == f"python -m eval report {clean.folder.name}"


def test_the_newest_comparable_run_is_named(runs, clean):
    mine = runs / clean.folder.name
    config = {**clean.manifest["config"], "k": 3}
    other = altered(clean, config=config)
    add(runs, "2026-01-01_older", other)
    add(runs, "2026-01-02_newer", other)
    add(runs, "2026-01-03_same_settings", clean.manifest)
    add(runs, "2026-01-04_unfinished", {**other, "status": "interrupted"})
    add(runs, "2026-01-05_other_data", {**other, "data": []})
    add(runs, "2026-01-06_part", altered(clean, config={**config, "questions": 3}))
    (runs / "2026-01-07_not_a_run").mkdir()
    (runs / "2026-01-08_broken").mkdir()
    (runs / "2026-01-08_broken" / "manifest.json").write_text("{")
    both = f"2026-01-02_newer {clean.folder.name}"
    assert after_run(mine, clean.manifest, clean.summary) == [
        f"python -m eval compare {both}",
        f"python -m eval report {both}",
        f"python -m eval browse {clean.folder.name}",
    ]


def test_runs_elsewhere_are_named_by_their_folder(runs, clean):
    steps = after_run(clean.folder, clean.manifest, clean.summary)
    assert f"python -m eval browse {clean.folder}" in steps


def test_after_a_sweep_runs_on_the_same_data_are_compared(runs, clean):
    other_data = altered(clean, data=[{"name": "b"}])
    swept = [(runs / name, clean.manifest) for name in "ab"] + [(runs / "c", other_data)]
    assert after_sweep(swept) == [
        *(f"python -m eval {command} a b" for command in ("compare", "report", "browse")),
        *(f"python -m eval {command} c" for command in ("report", "browse")),
    ]
    assert after_sweep(swept[:2], answered=False) == ["python -m eval retrieval a b"]


def test_a_run_in_which_all_failed_says_why_and_what_to_mend(start, tmp_path, small, fault):
    patient = ("failures.stop_after=null",)
    choice = (*FAULTY, "reader=faulty", "reader.word=''", "strategy=bm25", *small, *patient)
    ended = start(*choice)
    assert ended.code == 1
    (run,) = runs_in(tmp_path)
    remedy, command = following(ended)
    assert "the first: ash/0: answer: " in ended.out
    assert remedy.startswith("correct the code that ")
    assert remedy.endswith("log.txt names, and resume the run:")
    assert command == f"{run.manifest['command']} resume={run.folder.name}"
    fault.unlink()
    assert start(*shlex.split(command)[3:]).code == 0
