"""The last lines of a run name what makes sense after it, and nothing else."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.run.console import after_run, after_sweep
from tests.eval.commands import FAULTY, Run, runs_in
from tests.eval.factory import hashed


def altered(run: Run, **fields: Any) -> Any:
    """The manifest of `run` with other `fields`."""
    return hashed({**run.manifest, **fields})


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
    kept = "--config-dir conf dataset=locomo {}llm=openai 'llm.extra={{a: 1}}' k=5 {}"
    own = kept.format("strategy=hybrid_gate strategy.expansion.hops=2 ", "resume=r")
    graph = "graph=relations llm=openai"
    for command, strategy, expected in (
        (own, "faulty", f"eval.run {kept.format('', 'strategy=auto')}"),
        (own, "auto", f"eval.run {kept.format('', 'strategy=vector_only')}"),
        (graph, "faulty", f"eval.run {graph} strategy=vector_only"),
        ("from=last judge=llm", "faulty", f"eval report {clean.folder.name}"),
    ):
        mine = altered(clean, command=f"python -m eval.run {command}", strategy=strategy)
        first, *_ = after_run(runs / clean.folder.name, mine, clean.summary)
        assert first == f"python -m {expected}"


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
    said, following = ended.out.split("\nNext:\n")
    remedy, command = map(str.strip, following.splitlines())
    assert "the first: ash/0: answer: " in said
    assert remedy.startswith("correct the code that ")
    assert remedy.endswith("log.txt names, and resume the run:")
    assert command == f"{run.manifest['command']} resume={run.folder.name}"
    fault.unlink()
    assert start(*shlex.split(command)[3:]).code == 0
