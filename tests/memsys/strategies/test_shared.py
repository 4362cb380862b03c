from __future__ import annotations

import gc
import time
from weakref import ref

from memsys.llm.meter import Call, Meter
from memsys.strategies.shared import Shared


class Loaded:
    """A data set, or what is made of one."""


def test_what_is_made_is_taken_over_at_the_time_that_it_took():
    shared, meter, calls = Shared(), Meter(), []

    def make() -> Loaded:
        calls.append(time.sleep(0.05))
        return Loaded()

    with meter.phase() as first:
        made = shared.made("graph", 1, make, meter)
    with meter.phase() as later:
        assert shared.made("graph", 1, make, meter) is made
    assert len(calls) == 1
    assert (first.source, first.shared_ms, later.source) == ("live", 0, "shared")
    assert later.wall_ms < 50 <= later.shared_ms <= later.ms
    assert later.ms <= first.ms + later.wall_ms
    with meter.phase() as both:
        meter.note(Call(0.0, 1.0, False, cached=True))
        shared.made("graph", 1, make, meter)
    assert both.source == "shared"  # which is further from a live time than vectors of a cache


def test_no_more_is_stored_than_the_limit_and_of_one_data_set():
    shared, meter = Shared(limit=10), Meter()
    small = shared.made("small", 6, Loaded, meter)
    large = ref(shared.made("large", 5, Loaded, meter))
    gc.collect()
    assert large() is None
    assert shared.made("small", 6, Loaded, meter) is small
    # Another data set replaces the last and what was made of it.
    first = shared.loaded("first", Loaded)
    assert shared.loaded("first", Loaded) is first
    assert shared.loaded("other", Loaded) is not first
    assert shared.made("small", 6, Loaded, meter) is not small
