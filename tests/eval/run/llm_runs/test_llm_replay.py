"""What was recorded replays without a key and without a server, to the same figures."""

from __future__ import annotations

import time

import pytest

from eval.cache import __main__ as cache
from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import Bench, scores

DEAD = ("llm.cache=replay", "llm.base_url=https://nobody.invalid/v1")


@pytest.fixture
def recorded(make: Make) -> Bench:
    bench = make("recorded", delay_s=0.06)
    ended = bench.start("dataset.conversations=[ash]")
    assert ended.code == 0, ended.err
    return bench


@pytest.fixture
def elsewhere(make: Make, recorded: Bench) -> Bench:
    """Another folder, with the bundle of `recorded` in its cache."""
    bench = make("elsewhere")
    bundle = recorded.folder / "b.jsonl.gz"
    out = ["--out", str(bundle), "--cache", str(recorded.cache)]
    assert cache.main(["export", str(recorded.run.folder), *out]) == 0
    assert cache.main(["import", str(bundle), "--cache", str(bench.cache)]) == 0
    bench.options += ("dataset.conversations=[ash]",)
    return bench


def latencies(run: Run) -> list[float]:
    """Milliseconds of each model call's phase, record by record."""
    return [r["latency_ms"].get(phase, 0.0) for r in run.records for phase in ("answer", "judge")]


@pytest.mark.parametrize("workers", [1, 4])
def test_a_bundle_replays_the_run(recorded: Bench, elsewhere: Bench, workers: int) -> None:
    ended = elsewhere.start(*DEAD, f"concurrency={workers}")
    assert ended.code == 0, ended.err
    assert elsewhere.server.requests == 0
    assert elsewhere.run.untimed == recorded.run.untimed  # usage too
    assert scores(elsewhere.run) == scores(recorded.run)
    live, replayed = latencies(recorded.run), latencies(elsewhere.run)
    assert min(live[::2]) > 60  # of the answers; the judge's script does not wait
    assert min(replayed[::2]) > 60  # as recorded, not the time of the replay
    for record, first in zip(elsewhere.run.records, recorded.run.records, strict=True):
        assert record["latency_source"] == "recorded"
        assert record["recorded"] is not None
        assert (first["latency_source"], first["recorded"]) == ("live", None)
        assert set(record["waited_ms"].values()) == {0}


def test_a_replayed_run_is_exported_as_the_first(recorded: Bench, elsewhere: Bench) -> None:
    assert elsewhere.start(*DEAD).code == 0
    again = elsewhere.folder / "again.jsonl.gz"
    out = ["--out", str(again), "--cache", str(elsewhere.cache)]
    assert cache.main(["export", str(elsewhere.run.folder), *out]) == 0
    assert again.read_bytes() == (recorded.folder / "b.jsonl.gz").read_bytes()


@pytest.mark.parametrize("workers", [1, 4])
def test_a_request_that_is_not_recorded(elsewhere: Bench, workers: int) -> None:
    started = time.monotonic()
    ended = elsewhere.start(*DEAD, "k=1", f"concurrency={workers}")
    assert ended.code == 2
    assert time.monotonic() - started < 60  # no retries, no waiting for a name to be looked up
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "llm.cache=replay: no recorded answer of gpt-4o-mini" in errors[0]
    assert "python -m eval.cache import" in errors[0]
    assert "Traceback" not in ended.err
    assert elsewhere.run.manifest["status"] == "interrupted"
    assert [record for record in elsewhere.run.records if record["status"] == "error"] == []


def test_a_server_that_was_not_there_leaves_nothing_to_replay(make: Make) -> None:
    bench = make()
    bench.server.shutdown()
    bench.server.server_close()
    ended = bench.start("llm.retries=0", "dataset.limit=1")
    assert ended.code == 1, ended.err
    assert bench.run.summary["errors_by_kind"] == {"answer: LLMError": 3}
    again = f"hydra.run.dir={bench.folder / 'again'}"
    ended = bench.start("dataset.limit=1", "llm.cache=replay", again)
    assert ended.code == 2
    assert "no recorded answer" in ended.err
