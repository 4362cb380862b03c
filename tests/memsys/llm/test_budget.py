from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.budget import Budget, BudgetReached
from memsys.llm.pricing import load_pricing
from memsys.types import Usage
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import FaultyServer

HELLO = [{"role": "user", "content": "hello there"}]
PRICING = load_pricing()
COST = (2 * 0.15 + 2 * 0.60) / 1e6  # of HELLO: two words, and two tokens for the answer


class Paid:
    """A ledger in memory."""

    def __init__(self, paid: Iterable[tuple[str, Usage]] = ()) -> None:
        self.paid = list(paid)

    def rows(self) -> Iterable[tuple[str, Usage]]:
        return self.paid

    def note(self, model: str, usage: Usage) -> None:
        self.paid.append((model, usage))


def budget(limit: float) -> Budget:
    return Budget(limit, PRICING)


def test_a_call_counts_at_its_real_cost_and_a_replay_is_free(make: Make) -> None:
    one = budget(1.0)
    with FaultyServer() as server:
        make(server, budget=one).complete(HELLO)
        assert one._spent == pytest.approx(COST)
        make(server, budget=one).complete(HELLO)
        assert one._spent == pytest.approx(COST)


def test_a_call_that_could_pass_the_limit_is_not_sent(make: Make) -> None:
    worst = 512 * 0.60 / 1e6  # of the answer alone
    one = budget(worst * 1.5)
    with FaultyServer(delay_s=0.1) as server:
        client = make(server, budget=one, retries=5)
        asked = [[{"role": "user", "content": str(i)}] for i in range(4)]

        def ask(i: int) -> bool:
            try:
                client.complete(asked[i])
            except BudgetReached:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(ask, range(4)))
        assert sum(done) == server.requests == 1  # two worst costs at once pass the limit
        client.complete([{"role": "user", "content": "later"}])  # the first was cheaper
        assert server.requests == 2


def test_a_refused_call_is_free_and_a_lost_answer_counts_in_full(make: Make) -> None:
    one = budget(1.0)
    with FaultyServer([faults.status(500), faults.half_body]) as server:
        with pytest.raises(LLMError):
            make(server, budget=one, retries=0).complete(HELLO)
        assert one._spent == 0
        with pytest.raises(LLMError):
            make(server, budget=one, retries=0).complete(HELLO)
    assert one._spent >= 512 * 0.60 / 1e6
    with pytest.raises(LLMError):
        make(server, budget=(two := budget(1.0)), retries=0).complete(HELLO)
    assert two._spent == 0  # nobody was there


def test_an_answer_without_usage_counts_in_full(make: Make) -> None:
    answer = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    one = budget(1.0)
    with FaultyServer([faults.answer(answer)]) as server:
        assert make(server, budget=one).complete(HELLO).usage == Usage(calls=1)
    assert one._spent >= 512 * 0.60 / 1e6


def test_what_was_spent_before_counts(make: Make) -> None:
    with FaultyServer() as server:
        ledger = Paid([("gpt-4o-mini", Usage(1, 4_000_000, 400_000))])  # 60 and 24 cents
        one = Budget(0.8401, PRICING, ledger)
        assert one._spent == pytest.approx(0.84)
        with pytest.raises(BudgetReached, match=r"\$0.8401 is reached.*resume"):
            make(server, budget=one).complete(HELLO)
        assert server.requests == 0


def test_every_live_call_is_in_the_ledger_with_and_without_a_limit(make: Make) -> None:
    spent = []
    for limit in (1.0, None):
        ledger = Paid()
        one = Budget(limit, PRICING, ledger)
        with FaultyServer([None, faults.status(500), faults.half_body]) as server:
            client = make(server, "off", budget=one, retries=0)
            for _ in range(3):
                with suppress(LLMError):
                    client.complete(HELLO)
        (first, lost) = ledger.paid  # what was refused is free
        assert first == ("gpt-4o-mini", Usage(1, 2, 2))
        assert lost[1].output_tokens == 512  # as the server may bill it
        spent.append(Budget(1.0, PRICING, ledger)._spent)
        assert one._spent == (pytest.approx(spent[0]) if limit else 0)
    assert spent[0] == spent[1] > COST


def test_what_was_paid_without_a_price_is_named_under_a_limit(make: Make) -> None:
    ledger = Paid([("nobody-knows-it", Usage(1, 1, 1))])
    make("http://localhost/v1", budget=Budget(None, PRICING, ledger), model="nobody-knows-it")
    with pytest.raises(InputError, match=r"nobody-knows-it.*price"):
        Budget(1.0, PRICING, ledger)


def test_a_budget_needs_a_price_and_a_bound(make: Make) -> None:
    with pytest.raises(InputError, match=r"nobody-knows-it.*price"):
        make("http://localhost/v1", budget=budget(1), model="nobody-knows-it")
    with pytest.raises(InputError, match=r"llm\.max_tokens"):
        make("http://localhost/v1", budget=budget(1), max_tokens=None)
    more = {"max_tokens": None, "extra": {"max_completion_tokens": 5}}
    make("http://localhost/v1", budget=budget(1), **more)
    make("http://localhost/v1", "replay", budget=budget(1), model="nobody-knows-it")


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_is_a_number_above_0(limit: float) -> None:
    with pytest.raises(InputError, match="budget_usd"):
        budget(limit)


def test_prices() -> None:
    usage = Usage(3, 1_000_000, 500_000)
    assert PRICING.cost_usd("gpt-4o-mini", usage) == pytest.approx(0.45)
    assert PRICING.cost_usd("gpt-4o-mini-2024-07-18", usage) == pytest.approx(0.45)
    assert PRICING.cost_usd("text-embedding-3-small", usage) == pytest.approx(0.02)
    assert PRICING.cost_usd("smollm2-135m-instruct-q4", usage) == 0
    assert PRICING.cost_usd("gpt-4o-mini-audio", usage) is None
    assert PRICING.cost_usd("nobody-knows-it", Usage()) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a", "as_of, source and models"),
        ("as_of: 1\nsource: x", "as_of, source and models"),
        ("as_of: 1\nsource: x\nmodels: []", "models"),
        ("as_of: 1\nsource: x\nmodels: {m: 3}", "models: m"),
        ("as_of: 1\nsource: x\nmodels: {m: {input: 1}}", "models: m"),
        ("as_of: 1\nsource: x\nmodels: {m: {input: -1, output: 1}}", "models: m"),
        ("as_of: 1\nsource: x\nmodels: {m: {input: .nan, output: 1}}", "models.m.input"),
        ("as_of: [", "not YAML"),
    ],
)
def test_a_wrong_price_list_is_named(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as raised:
        load_pricing(path)
    assert str(path) in str(raised.value)
    with pytest.raises(InputError, match=r"none\.yaml"):
        load_pricing(tmp_path / "none.yaml")
