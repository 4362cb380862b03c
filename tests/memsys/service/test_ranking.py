"""Words, both, and what else speaks for a memory."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.core.turns import importance
from memsys.service.setup import SearchWeights
from tests.memsys.build import SESSIONS
from tests.memsys.service.made import memory, messages, texts

NOW = datetime(2024, 7, 1)
WORDS = ("Where did Mara sell a bowl?", "What other news of the tomato seedlings?", "kiln", "")


def fill(store: Any) -> None:
    """The sessions of build.SESSIONS, as messages."""
    for session in SESSIONS:
        store.add(messages(session), user_id="talk", time=session.time)


def test_an_unknown_start_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"^strategy.start: 'nearest' is none of"):
        memory(tmp_path, start="nearest")


def test_the_score_is_the_weighted_sum(tmp_path):
    weights = SearchWeights(
        relevance=0.5, access=0.2, recency=0.2, importance=0.1, decay_per_day=0.1
    )
    with memory(tmp_path, weights=weights) as store:
        store.add("kiln", user_id="mara", time=datetime(2024, 6, 21))
        (found,) = store.search("kiln", user_id="mara", time=NOW)
        expected = 0.5 + 0.2 * math.exp(-1) + 0.1 * importance("kiln")
        assert found.score == pytest.approx(expected, abs=1e-6)
        (again,) = store.search("kiln", user_id="mara", time=NOW)  # accessed since, now
        assert again.score == pytest.approx(
            0.5 + 0.2 * math.log(2) / math.log(101) + 0.2 + 0.1 * importance("kiln"), abs=1e-6
        )


@pytest.mark.parametrize("start", [None, "lexical"])
def test_weights_reorder_the_pool(tmp_path, start):
    old, new = datetime(2020, 1, 1), datetime(2024, 6, 30)
    with memory(tmp_path, start=start, weights=SearchWeights(relevance=0.1, recency=1)) as store:
        store.add("kiln", user_id="mara", time=old)
        store.add("kiln bowl", user_id="mara", time=new)
        assert texts(store.search("kiln", user_id="mara", time=NOW, top_k=1)) == ["kiln bowl"]
