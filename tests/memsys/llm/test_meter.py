from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsys.core.types import Usage
from memsys.llm.meter import Call, Meter


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
