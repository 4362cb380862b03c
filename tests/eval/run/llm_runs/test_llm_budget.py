"""A budget ends a run before the call that could pass it, and the run can go on."""

import shlex

import pytest

from tests.eval.commands import run_main, runs_in
from tests.eval.run.conftest import ALL, prices
from tests.eval.run.llm_runs.served import Bench, requests_of, role_of
from tests.memsys.llm.answers import right_answer

LIMIT = 4.0


@pytest.fixture
def priced(bench: Bench) -> Bench:
    bench.options += (prices(bench.folder), "llm.max_tokens=10")
    return bench


def paid(bench: Bench, since: int = 0) -> float:
    """Dollars of the requests that the server answered, by its own count of tokens."""
    used = [right_answer(body)["usage"] for body in bench.server.bodies[since:]]
    return sum(one["total_tokens"] for one in used) / 1000


@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_stops_and_the_printed_command_resumes_it(priced, answered, workers):
    ended = priced.start(f"llm.budget_usd={LIMIT}", f"concurrency={workers}")
    assert ended.code == 1
    (message,) = (line for line in ended.err.splitlines() if line.startswith("stopped: "))
    assert "the budget of $4 is reached" in message
    assert "resume the run with a higher one" in message
    assert "Traceback" not in ended.err
    assert priced.run.manifest["status"] == "interrupted"
    done = priced.run.records
    assert 0 < len(done) < 21
    ids = [record["id"] for record in done]
    assert sorted(ids) == [one for one in ALL if one in ids]  # each once, as they were answered
    # Each call under way has its highest cost set aside: how many are is up to the machine.
    assert LIMIT - workers < paid(priced) <= LIMIT

    requests = priced.server.requests
    ended = priced.start(f"llm.budget_usd={LIMIT}", f"concurrency={workers}", resume=True)
    assert ended.code == 1
    if workers == 1:  # no more than a call of the question that was begun
        assert priced.server.requests - requests <= 1
    assert paid(priced) <= LIMIT  # of both together

    for _ in range(4):
        (printed,) = (line for line in ended.err.splitlines() if "resume=run" in line)
        words = shlex.split(printed)
        assert words[:3] == ["python", "-m", "eval.run"]
        assert sum(word.startswith("llm.budget_usd=") for word in words) == 1
        questions, asked = priced.done(), priced.server.requests
        ended = run_main(priced.folder, priced.cache, *words[3:])
        if ended.code == 0:
            break
        assert ended.code == 1, ended.err
        assert priced.done() >= questions
        assert priced.server.requests > asked
    ended.ok()
    assert paid(priced) > LIMIT + 1
    assert "budget_usd" not in priced.run.manifest
    assert priced.run.untimed == answered.untimed
    assert priced.server.requests == requests_of(answered)  # nothing was paid twice


def test_a_budget_that_cannot_hold(priced):
    """The run goes to results/runs, where Hydra makes the folder before a price is looked up."""
    limited = priced.command("llm.budget_usd=1", "llm.model=mystery")
    command = [one for one in limited if "hydra.run.dir" not in one]
    run_main(priced.folder, priced.cache, *command).one_line(
        "mystery: no known price, so no budget can hold"
    )
    assert priced.server.requests == 0
    assert runs_in(priced.folder) == []


def test_what_has_no_price_costs_an_unknown_sum(bench):
    ended = bench.start("llm.model=mystery", "dataset.limit=1").ok()
    cell = bench.run.summary["by_type"]["overall"]
    assert (cell["cost_usd"], cell["judge_cost_usd"]) == (None, None)
    (line,) = (one for one in ended.err.splitlines() if "no price is known for mystery" in one)
    assert "pricing=FILE" in line
    again = bench.start("dataset.limit=1", f"hydra.run.dir={bench.folder / 'priced'}")
    assert "no price is known" not in again.err


def test_a_reasoning_model_gets_no_setting_that_it_refuses(bench):
    options = ("llm=openai_reasoning", "llm.extra.reasoning_effort=high", "llm.budget_usd=50")
    bench.start(*options, "dataset.limit=1").ok()
    for body in bench.server.bodies:
        assert not {"temperature", "seed", "max_tokens"} & set(body)
        assert (body["max_completion_tokens"], body["reasoning_effort"]) == (4000, "high")
        assert body["model"] == "gpt-5-mini"
    assert bench.run.summary["by_type"]["overall"]["cost_usd"] > 0
    other = ("llm@judge_llm=openai_reasoning", f"judge_llm.base_url={bench.server.base_url}")
    folder = f"hydra.run.dir={bench.folder / 'judged'}"
    assert bench.start(*other, folder, "dataset.limit=1").code == 0
    models = {(role_of(body), body["model"]) for body in bench.server.bodies}
    assert ("judge", "gpt-5-mini") in models
    assert ("answer", "gpt-4o-mini") in models
