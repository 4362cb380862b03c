"""expansion.judge=llm: a model drops neighbours that do not help, in one call per question."""

from __future__ import annotations

from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.strategies.plain import VectorOnly
from memsys.strategies.strategy import Strategy
from tests.memsys.build import MakeParts, Planned, query
from tests.memsys.strategies.asked import Asked
from tests.memsys.strategies.make import graph_expand, hybrid_gate
from tests.memsys.strategies.test_expansion import COSINES, LINKED, SEED, asked, contents, ingested


def judged(parts: MakeParts, model: Asked, k: int = 2, **change: Any) -> Strategy:
    planned = parts(Planned(COSINES), llm=model)
    return ingested(graph_expand(planned, k, judge="llm", **change))


@pytest.mark.parametrize(("numbers", "second"), [([1], LINKED), ([], "Mara: salt")])
def test_irrelevant_neighbours_are_dropped(parts, numbers, second):
    model = Asked(lambda _: {"relevant": numbers})
    strategy = judged(parts, model)
    retrieval = strategy.retrieve(query("Which bowl broke?"))
    assert contents(retrieval) == [SEED, second]
    (step,) = retrieval.trace["expansion"]
    assert (step["memory"], step["relevant"]) == ("D1:16", bool(numbers))
    (text,) = model.texts
    assert "\nWhich bowl broke?\n" in text
    assert f"\n1. [2 March 2024, 00:00] {LINKED}\n" in text
    assert SEED not in text  # a direct result is not judged
    assert model.schemas[0]["properties"]["relevant"]["items"]["enum"] == [1]
    assert set(strategy.prompts) == {"expansion_judge"}
    # A reserved place that is left goes to the next direct result.
    dropped = judged(parts, Asked(lambda _: {"relevant": []}), k=4, reserved=1)
    plain = asked(VectorOnly(parts(Planned(COSINES)), 4))
    assert contents(dropped.retrieve(query("?"))) == contents(plain)


def test_nothing_is_asked_about_no_neighbour(parts):
    model = Asked(lambda _: {"relevant": []})
    assert "relevant" not in judged(parts, model, threshold=2).retrieve(query("?")).trace
    found_directly = judged(parts, model, k=16).retrieve(query("?"))
    assert "relevant" not in found_directly.trace["expansion"][0]
    assert model.texts == []


@pytest.mark.parametrize("reply", [{"relevant": [2]}, {"relevant": ["1"]}, {}, []])
def test_a_reply_outside_of_the_schema_is_an_error(parts, reply):
    with pytest.raises(LLMError, match="asked: the reply is not"):
        judged(parts, Asked(lambda _: reply)).retrieve(query("?"))


def test_a_judge_takes_a_model(parts):
    for make in (graph_expand, hybrid_gate):
        with pytest.raises(InputError, match=r"expansion\.judge=llm: no model .*; add llm="):
            make(parts(), judge="llm")
        make(parts(), judge="llm", use_graph_expansion=False)  # nothing to judge
    with pytest.raises(InputError, match=r"expansion\.judge: 'gpt'; use one of llm, or null"):
        graph_expand(parts(), judge="gpt")
