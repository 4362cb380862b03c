"""A run with failures replays to the same records, its errors included, and asks no server."""

from __future__ import annotations

import pytest

from eval.cache import __main__ as cache
from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import Bench, role_of, scores, text_of
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.server import Behaviour

DEAD = ("llm.cache=replay", "llm.base_url=https://nobody.invalid/v1")
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
    "cedar/3": ("answer", "no whole answer within 5 s (2 attempts)"),
    "cedar/5": ("judge", "the judge is out"),
}
OWN = ("llm.timeout_s=5", "llm.retries=1")


def break_down(bench: Bench) -> None:
    """The faults that are planned, and right answers else."""
    right = bench.model

    def script(body: Body) -> Behaviour | None:
        for role, words, fault in PLANNED:
            if role_of(body) == role and words in text_of(body):
                return fault
        return right(body)

    bench.server.choose = script


def hand_over(bench: Bench, other: Bench) -> None:
    """The bundle of the run of `bench`, into the empty cache of `other`."""
    bundle = bench.folder / "bundle.jsonl.gz"
    out = ["--out", str(bundle), "--cache", str(bench.cache)]
    assert cache.main(["export", str(bench.run.folder), *out]) == 0
    assert cache.main(["import", str(bundle), "--cache", str(other.cache)]) == 0


def check_same(run: Run, other: Run) -> None:
    assert run.untimed == other.untimed  # errors and usage too
    assert scores(run) == scores(other)
    for name in ("errors_by_kind", "errors", "n", "judge"):
        assert run.summary[name] == other.summary[name]


@pytest.mark.parametrize("workers", [1, 4])
def test_a_bundle_of_a_run_with_failures_replays_it(make: Make, workers: int) -> None:
    bench, other = make("live"), make("replayed")
    break_down(bench)
    assert bench.start(*OWN).code == 0
    told = {id_: (one["phase"], one["message"]) for id_, one in bench.errors().items()}
    assert {id_: phase for id_, (phase, _) in told.items()} == {
        id_: phase for id_, (phase, _) in FAILED.items()
    }
    assert [id_ for id_, (_, words) in FAILED.items() if words not in told[id_][1]] == []
    hand_over(bench, other)
    ended = other.start(*DEAD, f"concurrency={workers}")  # with other retries and patience
    assert ended.code == 0, ended.err
    assert other.server.requests == 0
    check_same(other.run, bench.run)


def test_a_replayed_run_is_exported_as_the_first_and_a_live_one_asks_again(make: Make) -> None:
    bench, other, third = make("live"), make("replayed"), make("third")
    break_down(bench)
    assert bench.start(*OWN).code == 0
    hand_over(bench, other)
    assert other.start(*DEAD).code == 0
    hand_over(other, third)
    bundles = [(one.folder / "bundle.jsonl.gz").read_bytes() for one in (bench, other)]
    assert bundles[0] == bundles[1]
    ended = third.start()  # llm.cache=auto, and a server that is well
    assert ended.code == 0, ended.err
    assert third.errors() == {}
    asked = [role_of(body) for body in third.server.bodies]
    assert sorted(set(asked)) == ["answer", "judge"]
    assert asked.count("answer") == 6  # what failed alone


def test_a_resumed_run_replays_as_it_ended(make: Make) -> None:
    """Of two failures the last, and what was mended as the answer that it got."""
    bench, other = make("live"), make("replayed")
    bench.model.break_down(faults.status(400, "first"), "answer", "flute with")
    assert bench.start(*OWN).code == 0
    assert len(bench.errors()) == 3
    bench.model.break_down(faults.status(500, "second"), "answer", "flute with beech")
    assert bench.start(*OWN, resume=True).code == 0
    ((id_, error),) = bench.errors().items()
    assert id_ == "beech/3"
    assert "second" in error["message"]
    hand_over(bench, other)
    assert other.start(*DEAD).code == 0
    assert other.server.requests == 0
    check_same(other.run, bench.run)


def test_a_query_that_could_not_be_embedded(make: Make) -> None:
    bench, other = make("live"), make("replayed")
    for one in (bench, other):
        one.options += ("strategy=vector_only", "embedder=openai", "reader=extractive")
        one.options += ("judge=none", f"embedder.base_url={one.server.base_url}")
    fault = faults.status(400, "no flutes")

    def script(body: Body) -> Behaviour | None:
        return fault if "flute with beech" in str(body["input"]) else None

    bench.server.choose = script
    assert bench.start().code == 0
    ((id_, error),) = bench.errors().items()
    assert (id_, error["phase"]) == ("beech/3", "retrieve")
    hand_over(bench, other)
    ended = other.start(*DEAD)
    assert ended.code == 0, ended.err
    assert other.server.requests == 0
    check_same(other.run, bench.run)
