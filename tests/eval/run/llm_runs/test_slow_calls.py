"""A slow call holds up no other question, of its conversation or of a later one."""

from __future__ import annotations

import time

import pytest

from tests.eval.commands import Run
from tests.eval.run.llm_runs.conftest import Make
from tests.eval.run.llm_runs.served import ALL, Bench, role_of, scores, text_of
from tests.memsys.llm.answers import Body, right_answer
from tests.memsys.llm.server import Behaviour, Handler

SLOW = "flute with ash"  # words of ash/3 alone
WAIT_S = 60


def hold_back(bench: Bench, questions: int) -> list[list[str]]:
    """Answer one question only when `questions` others are in the file; returns what was there."""
    right, seen = bench.model, []

    def answer_late(handler: Handler, body: Body) -> None:
        until = time.monotonic() + WAIT_S
        while bench.done() < questions and time.monotonic() < until:
            time.sleep(0.01)
        seen.append([record["id"] for record in bench.run.records])
        handler.reply(200, right_answer(body))

    def script(body: Body) -> Behaviour | None:
        if role_of(body) == "answer" and SLOW in text_of(body):
            return answer_late
        return right(body)

    bench.server.choose = script
    return seen


@pytest.mark.parametrize("workers", [2, 4])
def test_all_others_are_answered_and_written_meanwhile(
    make: Make, answered: Run, workers: int
) -> None:
    bench = make()
    seen = hold_back(bench, len(ALL) - 1)
    ended = bench.start(f"concurrency={workers}", "llm.timeout_s=90")
    assert ended.code == 0, ended.err
    assert [sorted(ids) for ids in seen] == [sorted(set(ALL) - {"ash/3"})]
    assert [record["id"] for record in bench.run.records] == ALL
    assert bench.run.untimed == answered.untimed
    assert scores(bench.run) == scores(answered)
    files = [(run.folder / "calls.jsonl").read_text() for run in (bench.run, answered)]
    assert files[0] == files[1]


def test_a_run_that_is_killed_loses_what_is_under_way_alone(make: Make, answered: Run) -> None:
    bench = make()
    hold_back(bench, len(ALL))  # never
    with bench.process("concurrency=4", "llm.timeout_s=90") as process:
        until = time.monotonic() + WAIT_S
        while bench.done() < len(ALL) - 1 and time.monotonic() < until:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.kill()
    before, paid = bench.run.untimed, bench.server.requests
    assert sorted(record["id"] for record in before) == sorted(set(ALL) - {"ash/3"})
    bench.server.choose = bench.model
    ended = bench.start("concurrency=4", "llm.timeout_s=90", resume=True)
    assert ended.code == 0, ended.err
    assert bench.run.untimed == answered.untimed
    assert bench.server.requests == paid + 2  # an answer and a verdict


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (("concurrency=4", "llm.concurrency=3"), "llm.concurrency=3 is lower than concurrency=4"),
        (("concurrency=4", "llm.concurrency=4"), ""),
        (("concurrency=1", "llm.concurrency=1"), ""),
    ],
)
def test_the_lower_of_two_limits_is_announced(
    make: Make, limits: tuple[str, ...], said: str
) -> None:
    bench = make()
    ended = bench.start(*limits, "dataset.conversations=[ash]")
    assert ended.code == 0, ended.err
    assert said in ended.err
    assert ended.err.count("is lower than") == bool(said)
