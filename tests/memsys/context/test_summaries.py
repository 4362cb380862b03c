from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from memsys.context.writers import Flat
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.llm.base import LLMError
from memsys.strategies.plain import VectorOnly
from memsys.strategies.strategy import Strategy
from tests.memsys.build import BagOfWords, MakeParts, query, session
from tests.memsys.strategies.asked import Asked

LONG = "the ferry to the island was late again because of the fog and so we had tea " * 2
OTHER = "the bakery beside the mill sells rye bread from six o'clock in the morning on " * 2
TALK = session(
    1, datetime(2024, 3, 2), ("Mara", LONG), ("Theo", "The ferry again!"), ("Mara", OTHER)
)
SHORT = "Mara: the ferry\n was late"


def strategy(parts: MakeParts, model: Asked | None, **change: Any) -> Strategy:
    budget = change.pop("budget", None)
    writer = Flat("flat", **{"summarise": "llm", "longer_than": 20, **change})
    made = VectorOnly(parts(BagOfWords(), context=writer, llm=model), 3, budget)
    made.ingest(TALK)
    return made


def test_long_memories_are_summarised_once_and_the_trace_says_so(parts):
    model = Asked(lambda text: {"summary": SHORT if "fog" in text else "Mara: rye bread"})
    made = strategy(parts, model)
    retrieval = made.retrieve(query("Was the ferry late?"))
    shown = {one.memory.id: one.memory.content for one in retrieval.candidates}
    assert shown == {
        "D1:1": "Mara: the ferry was late",  # on one line
        "D1:2": "Theo: The ferry again!",
        "D1:3": "Mara: rye bread",
    }
    assert all(content in retrieval.context for content in shown.values())
    assert retrieval.context_tokens == count_tokens(retrieval.context)
    tokens = [count_tokens(text) for text in (f"Mara: {LONG}", "Mara: the ferry was late")]
    assert retrieval.trace["summarised"]["D1:1"] == tokens
    assert set(retrieval.trace["summarised"]) == {"D1:1", "D1:3"}
    # A request depends on one memory only, and none is sent twice.
    assert sorted(LONG.strip() in text for text in model.texts) == [False, True]
    assert made.retrieve(query("Was the ferry late?")) == retrieval
    assert len(model.texts) == 2
    assert set(made.prompts) == {"memory_summary"}
    # A summary that is not shorter is not used.
    longer = strategy(parts, Asked(lambda _: {"summary": LONG * 2})).retrieve(query("ferry?"))
    assert f"Mara: {LONG}" in longer.context
    assert longer.trace == {}


def test_more_memories_fit_the_budget(parts):
    model = Asked(lambda text: {"summary": re.findall(r"ferry|bakery", text)[-1]})
    room = count_tokens("[2 March 2024, 00:00] Theo: The ferry again!\n") * 3
    found = [
        strategy(parts, model, summarise=way, budget=room).retrieve(query("Was the ferry late?"))
        for way in (None, "llm")
    ]
    assert [len(one.candidates) for one in found] == [1, 3]
    assert all(one.context_tokens <= room for one in found)


@pytest.mark.parametrize("reply", [{"summary": " "}, {"summary": 3}, {}])
def test_no_summary_is_an_error(parts, reply):
    with pytest.raises(LLMError, match=r"asked: the (summary|reply)"):
        strategy(parts, Asked(lambda _: reply)).retrieve(query("ferry?"))


def test_summaries_take_a_model_and_a_length(parts):
    model = Asked(lambda _: {})
    with pytest.raises(InputError, match=r"context\.summarise=llm: no model .*; add llm="):
        strategy(parts, None)
    with pytest.raises(InputError, match=r"context\.longer_than: 0; use a whole number"):
        strategy(parts, model, longer_than=0)
    with pytest.raises(InputError, match=r"context\.summarise: 'gpt'; use one of llm"):
        strategy(parts, model, summarise="gpt")
