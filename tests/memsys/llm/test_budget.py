"""What calls cost: limits before they are made, and a meter of what was used."""

import re
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm.base import LLMError
from memsys.llm.budget import Budget, BudgetReached
from memsys.llm.meter import Call, Meter
from memsys.llm.pricing import Price, load_pricing
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import HELLO, ask_at_once
from tests.memsys.llm.server import FaultyServer

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


WORST = {"model": "gpt-4o-mini", "messages": [], "max_tokens": 1_000_000}  # 60 cents at most


def test_a_call_waits_for_what_others_under_way_really_cost(make):
    worst = 512 * 0.60 / 1e6  # of the answer alone
    one = budget(worst * 1.5)  # two worst costs at once exceed the limit
    with FaultyServer(delay_s=0.05) as server:
        ask_at_once(make(server, budget=one, retries=5), 4)
        assert (server.requests, server.most_under_way) == (4, 1)
    assert one._spent <= worst * 1.5


def test_a_waiting_call_is_refused_when_the_others_cost_too_much():
    one = budget(1.0)
    settle = one.reserve("gpt-4o-mini", WORST)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(one.reserve, "gpt-4o-mini", WORST)
        settle(Usage(1, 0, 900_000))  # 54 cents: 60 more are too much
        with pytest.raises(BudgetReached, match=r"\$0\.5400 spent; the next call"):
            waiting.result()


def test_the_message_counts_what_is_set_aside_and_a_limit_that_is_enough():
    one = budget(1.3)
    for _ in range(2):
        one.reserve("gpt-4o-mini", WORST)
    one._settle("gpt-4o-mini", WORST, 0.6, Usage(1, 0, 1_200_000))  # 72 cents
    with pytest.raises(BudgetReached) as raised:
        one.reserve("gpt-4o-mini", WORST)
    words = "$0.7200 spent and $0.6000 set aside for 1 call under way; the next call may cost "
    assert words in str(raised.value)
    assert raised.value.enough_usd >= max(0.72 + 0.6 + 8 * 0.6, 2 * 1.3)


def test_nothing_is_refused_for_the_rounding_of_what_was_set_aside():
    one = budget(0.6)
    for _ in range(50):
        settles = [one.reserve("gpt-4o-mini", {**WORST, "max_tokens": n}) for n in (7, 11, 13)]
        for settle in settles:
            settle(Usage(1))
    one.reserve("gpt-4o-mini", {**WORST, "messages": [], "max_tokens": 999_000})


def test_a_call_that_would_exceed_the_limit_is_not_sent(server, make):
    with pytest.raises(BudgetReached):
        make(server, budget=budget(100 * 0.60 / 1e6)).complete(HELLO)
    ledger = Paid([("gpt-4o-mini", Usage(1, 4_000_000, 400_000))])  # 60 and 24 cents before
    one = Budget(0.8401, PRICING, ledger)
    assert one._spent == pytest.approx(0.84)
    with pytest.raises(BudgetReached, match=r"\$0.8401 is reached.*resume"):
        make(server, budget=one).complete(HELLO)
    assert server.requests == 0


def test_a_refused_call_is_free_and_a_lost_answer_or_usage_counts_in_full(make):
    worst = 512 * 0.60 / 1e6
    one, without_usage, unsent = budget(1.0), budget(1.0), budget(1.0)
    answer = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    script = [faults.status(500), faults.half_body, faults.answer(answer)]
    with FaultyServer(script) as server:
        client, spent = make(server, budget=one, retries=0), []
        for _ in range(2):
            with pytest.raises(LLMError):
                client.complete(HELLO)
            spent.append(one._spent)
        assert spent[0] == 0 < worst <= spent[1]
        done = make(server, budget=without_usage).complete(HELLO)
        assert done.usage == Usage(calls=1)
        assert without_usage._spent >= worst
    with pytest.raises(InputError, match="no server listens"):
        make(server, budget=unsent, retries=0).complete(HELLO, sample=1)
    assert unsent._spent == 0  # nobody was there


def test_every_live_call_is_in_the_ledger_with_and_without_a_limit(make):
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
        with FaultyServer() as server:
            for _ in range(2):  # the second is a replay, which is free
                make(server, budget=one).complete(HELLO, sample=len(spent) + 1)
        assert len(ledger.paid) == 3
        spent.append(Budget(1.0, PRICING, ledger)._spent)
        assert one._spent == (pytest.approx(spent[0]) if limit else 0)
    assert spent[0] == spent[1] > COST


def test_a_budget_needs_a_price_and_a_bound(make):
    with pytest.raises(InputError, match=r"nobody-knows-it.*price"):
        make("http://localhost/v1", budget=budget(1), model="nobody-knows-it")
    with pytest.raises(InputError, match=r"llm\.max_tokens"):
        make("http://localhost/v1", budget=budget(1), max_tokens=None)
    bound = {"max_completion_tokens": 5}
    make("http://localhost/v1", budget=budget(1), max_tokens=None, extra=bound)
    make("http://localhost/v1", "replay", budget=budget(1), model="nobody-knows-it")
    ledger = Paid([("nobody-knows-it", Usage(1, 1, 1))])
    make("http://localhost/v1", budget=Budget(None, PRICING, ledger), model="nobody-knows-it")
    with pytest.raises(InputError, match=r"nobody-knows-it.*price"):
        Budget(1.0, PRICING, ledger)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("limit", [0.0, -1.0, NAN, INF, "abc", "5", True, [1], {"usd": 1}])
def test_a_limit_is_a_number_above_0(limit):
    with pytest.raises(InputError, match=r"llm\.budget_usd: .*number above 0"):
        budget(limit)


def test_prices():
    usage = Usage(3, 1_000_000, 500_000)
    assert PRICING.cost_usd("gpt-4o-mini", usage) == pytest.approx(0.45)
    assert PRICING.cost_usd("gpt-4o-mini-2024-07-18", usage) == pytest.approx(0.45)
    assert PRICING.cost_usd("text-embedding-3-small", usage) == pytest.approx(0.02)
    assert PRICING.cost_usd("smollm2-135m-instruct-q4", usage) == 0
    assert PRICING.cost_usd("gpt-4o-mini-audio", usage) is None
    assert PRICING.cost_usd("nobody-knows-it", Usage()) is None


GROUPS = """
- {as_of: 2025-08-07, source: one place, models: {new: {input: 1, output: 2}}}
- {as_of: 2025-07-01, source: another, models: {old: {input: 3, output: 4}}}
"""


def test_each_price_has_its_own_date_and_source(tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(GROUPS)
    found = load_pricing(path)
    assert found.prices["new"] == Price(1.0, 2.0, "2025-08-07", "one place")
    assert found.prices["old"] == Price(3.0, 4.0, "2025-07-01", "another")
    assert found.as_of == "2025-07-01 to 2025-08-07"
    assert found.of(["new", "unknown"]).as_of == "2025-08-07"
    path.write_text("as_of: 2025-07-01\nsource: x\nmodels: {old: {input: 3, output: 4}}")
    assert load_pricing(path).prices["old"] == Price(3.0, 4.0, "2025-07-01", "x")
    for price in PRICING.prices.values():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", price.as_of)
        assert price.source


def price(fields: str) -> str:
    """A price list of one model."""
    return f"as_of: 1\nsource: x\nmodels: {{m: {fields}}}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a", "as_of, source and models"),
        ("as_of: 1\nsource: x", "as_of, source and models"),
        ("as_of: 1\nsource: x\nmodels: []", "models"),
        (price("{input: .nan, output: 1}"), "models.m.input"),
        *((price(fields), "models.m") for fields in ("3", "{input: 1}")),
        *(
            (price(f"{{input: {dollars}, output: 1}}"), "models.m")
            for dollars in ("-1", "'1'", "1000001", "1.0e+300", "true")
        ),
        ("as_of: []\nsource: x\nmodels: {}", "as_of"),
        ("as_of: 1\nsource: null\nmodels: {}", "source"),
        ("as_of: [", "not YAML"),
        (GROUPS + GROUPS, "has two prices"),
    ],
)
def test_a_wrong_price_list_is_named(text, words, tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as raised:
        load_pricing(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("path", [5, True, 1.5, ["a"], {"models": {}}])
def test_a_price_list_is_named_by_a_path(path, tmp_path):
    with pytest.raises(InputError, match=r"pricing: .* is no path"):
        load_pricing(path)
    with pytest.raises(InputError, match=r"none\.yaml"):
        load_pricing(tmp_path / "none.yaml")


def test_a_replayed_call_counts_at_its_live_time():
    meter = Meter()
    with meter.phase() as reading:
        meter.note(Call(spent_ms=10_000.0, live_ms=2.0, replayed=True))
    assert reading.ms == pytest.approx(2.0)  # time is never negative
    with meter.phase() as reading:
        meter.note(Call(spent_ms=0.0, live_ms=400.0, replayed=True, usage=Usage(1, 30, 4)))
        meter.note(Call(spent_ms=0.0, live_ms=100.0, replayed=False, usage=Usage(2, 5, 6)))
    assert reading.ms == pytest.approx(reading.wall_ms + 500)
    assert reading.source == "recorded"
    assert reading.usage == Usage(calls=3, input_tokens=35, output_tokens=10)


def test_a_live_call_is_not_counted_twice_and_what_is_around_it_by_the_clock():
    meter = Meter()
    with meter.phase() as reading:
        time.sleep(0.01)
        started = time.perf_counter()
        time.sleep(0.02)
        took = (time.perf_counter() - started) * 1000
        meter.note(Call(spent_ms=took, live_ms=took, replayed=False))
    assert reading.ms == pytest.approx(reading.wall_ms)
    assert reading.wall_ms >= 30
    assert (reading.source, reading.usage) == ("live", Usage())


def test_phases_do_not_leak():
    meter = Meter()
    meter.note(Call(0.0, 1000.0, replayed=True, usage=Usage(1, 1, 1)))  # before any phase
    with meter.phase() as first:
        meter.note(Call(0.0, 2000.0, replayed=True, usage=Usage(1, 1, 1)))
    assert 2000 <= first.ms < 3000
    assert first.usage.calls == 1
    with pytest.raises(ValueError, match="boom"), meter.phase():  # noqa: PT012
        meter.note(Call(0.0, 1000.0, replayed=True))
        raise ValueError("boom")
    with meter.phase() as after:
        pass
    assert after.ms < 1000
    assert (after.source, after.usage) == ("live", Usage())


def test_a_phase_has_the_calls_of_its_thread():
    meter, barrier = Meter(), threading.Barrier(4)

    def work(number: int) -> tuple[str, ...]:
        with meter.phase() as reading:
            barrier.wait()
            for _ in range(number):
                meter.note(Call(1.0, 1.0, False, key=str(number)))
            barrier.wait()
        return reading.keys

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [(str(n),) * n for n in range(4)]
