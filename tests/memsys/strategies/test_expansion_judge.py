"""The gate before an expansion, and a model that judges expansions or decomposes questions."""

from datetime import datetime
from functools import partial
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from memsys.strategies.hybrid_gate import Decision, Gate, spans_domains
from memsys.strategies.plain import VectorOnly
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import Asked, MakeParts, Planned, ingest_all, query, session
from tests.memsys.contract import QUERIES
from tests.memsys.strategies.make import graph_expand, hybrid_gate, option, settings
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


BOTH = "What do Mara and Theo sell?"
TALK = session(
    1,
    datetime(2024, 3, 2),
    ("Mara", "I sell bowls."),
    ("Theo", "I sell seedlings."),
    ("Mara", "We ate at Salt and Pepper."),
    ("Theo", "Salt was scarce. Pepper too."),
)


decompose = partial(option, "decompose")


@pytest.mark.parametrize("start", ["vector", "lexical", "hybrid"])
def test_without_conjuncts_the_start_ranking_is_exact(parts, start):
    strategy = ingest_all(decompose(parts(), 10, start=start))
    for one in QUERIES:
        ranked, trace = strategy.rank(one)
        assert ranked == strategy.best(strategy.store.ranking(one.text, start))
        assert trace == {}


@pytest.mark.parametrize("whole", [True, False])
def test_rankings_take_turns_without_repeats(parts, whole):
    strategy = ingest_all(decompose(parts(), 10, whole=whole))
    found, trace = strategy.rank(query(BOTH))
    alone = ["What do Mara sell?", "What do Theo sell?"]
    assert trace == {"conjuncts": alone}
    asked = [BOTH, *alone] if whole else alone
    rankings = [strategy.best(strategy.store.ranking(text, "vector")) for text in asked]
    expected = [one.memory.id for place in zip(*rankings, strict=True) for one in place]
    assert [one.memory.id for one in found] == list(dict.fromkeys(expected))
    assert [one.score for one in found] == [1 / n for n in range(1, 11)]
    recorded = ingest_all(decompose(parts(depth=5), 2, whole=whole))
    assert len(recorded.rank(query(BOTH))[0]) == 5


def split(parts: Parts, text: str, **change: Any) -> bool:
    strategy = decompose(parts, **change)
    strategy.ingest(TALK)
    return "conjuncts" in strategy.rank(query(text))[1]


def test_a_unit_of_the_memories_is_not_split_and_noun_phrases_only_if_asked_for(parts):
    assert split(parts(), BOTH)
    assert not split(parts(), "Who ate at Salt and Pepper?")
    assert split(parts(), "Who likes Salt or Pepper?")  # not a unit: these words are not together
    assert not split(parts(), "Who sells bowls and seedlings?")
    assert split(parts(), "Who sells bowls and seedlings?", conjuncts="all")


GATE = Gate(
    english=["suggest", "other", "also", "how about"], chinese=["建议", "其他"], similarity=0.7
)
FOUND = (0.9, 0.8)  # mean .85: similarity keeps the gate shut


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("What other sport did she try?", "word:other"),
        ("OTHER sports", "word:other"),
        ("Which others? Otherwise another bother", "closed"),
        ("It was suggested", "closed"),  # a whole word, not a form of it
        ("How about dinner?", "word:how about"),
        ("How, about noon? Somehow about it", "word:how about"),
        ("About how many? How was it about?", "closed"),
        ("", "closed"),
        ("她有其他爱好吗", "word:其他"),  # within a run of characters
        ("有什么建议吗", "word:建议"),
        ("她also喜欢什么", "word:also"),
        ("其他, also this", "word:also"),  # English first
        ("also suggest", "word:suggest"),  # then in the order of the list
        ("其他建议", "word:建议"),
    ],
)
def test_association_words(query, rule):
    decision = GATE.decide(query, FOUND, typical=0.1)
    assert decision == Decision(rule != "closed", rule, pytest.approx(0.85))


def test_a_low_mean_similarity_or_nothing_found_opens_after_the_words():
    assert GATE.decide("Where?", [0.9, 0.4], 0.1) == Decision(True, "similarity", 0.65)
    assert GATE.decide("Where?", [0.7, 0.7], 0.1) == Decision(False, "closed", 0.7)
    assert GATE.decide("Where?", [], 0.1) == Decision(True, "similarity", 0.0)
    assert GATE.decide("Which other one?", [0.1], 0.9).rule == "word:other"


def test_without_a_number_the_embedder_s_typical_similarity_decides():
    gate = Gate(english=[], chinese=[], similarity=None)
    assert gate.decide("also", [0.5], typical=0.6).rule == "similarity"
    assert gate.decide("also", [0.5], typical=0.4).rule == "closed"
    zero = Gate(english=[], chinese=[], similarity=0.0)  # a number, although it is 0
    assert zero.decide("also", [0.5], typical=0.6).rule == "closed"


def test_the_words_that_are_shipped_can_match():
    shipped = settings("hybrid_gate")["gate"]
    gate = Gate(**shipped)
    for word in shipped["english"]:
        assert gate.decide(f"So {word.capitalize()}, then?", FOUND, 0.1).rule == f"word:{word}"
    for word in shipped["chinese"]:
        assert gate.decide(f"她{word}？", FOUND, 0.1).rule == f"word:{word}"
    assert gate.decide("When did Theo plant the beans?", FOUND, 0.1).rule == "closed"


@pytest.mark.parametrize("reply", ["", [], {}])
def test_a_reply_without_a_decision_is_an_error(reply):
    with pytest.raises(LLMError, match="the reply is not"):
        spans_domains("Why?", Asked(lambda _: reply), load_prompt("gate_domains", ["question"]))
