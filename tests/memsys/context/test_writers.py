import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsys.context.writers import Flat, Layered, Xml
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.types import Candidate
from memsys.llm.base import LLMError
from memsys.strategies.plain import VectorOnly
from memsys.strategies.strategy import Strategy
from tests.memsys.build import Asked, BagOfWords, MakeParts, candidate, query, session

FLAT, XML, LAYERED = Flat("flat"), Xml("xml"), Layered("layered")
EACH = pytest.mark.parametrize("writer", [FLAT, XML, LAYERED], ids=["flat", "xml", "layered"])

FOUND = [
    candidate("b", "Theo: later", day=9),
    candidate("a", "Mara: early", day=3),
    candidate("c", "Mara: linked", day=1, origin="expanded"),
    candidate("d", "Theo: also later", day=9),
]


def test_flat_is_oldest_first_and_one_session_in_rank_order():
    kept, text = FLAT.write(FOUND, None)
    assert text == (
        "[1 March 2024, 12:00] Mara: linked\n"
        "[3 March 2024, 12:00] Mara: early\n"
        "[9 March 2024, 12:00] Theo: later\n"
        "[9 March 2024, 12:00] Theo: also later\n"
    )
    assert kept == tuple(FOUND)  # the candidates stay in rank order


def test_layered_parts_what_matched_from_what_the_graph_added():
    kept, text = LAYERED.write(FOUND, None)
    assert text == (
        "<memory_context>\n"
        "<direct_matches>\n"
        '<memory index="1"><content>Mara: early</content>'
        "<event_time>3 March 2024, 12:00</event_time><relevance>high</relevance></memory>\n"
        '<memory index="2"><content>Theo: later</content>'
        "<event_time>9 March 2024, 12:00</event_time><relevance>high</relevance></memory>\n"
        '<memory index="3"><content>Theo: also later</content>'
        "<event_time>9 March 2024, 12:00</event_time><relevance>high</relevance></memory>\n"
        "</direct_matches>\n"
        "<related_context>\n"
        '<memory index="4"><content>Mara: linked</content>'
        "<event_time>1 March 2024, 12:00</event_time>"
        "<relevance>related</relevance><source>graph</source></memory>\n"
        "</related_context>\n"
        "</memory_context>\n"
    )
    assert kept == tuple(FOUND)


@pytest.mark.parametrize(
    ("origin", "layer"), [("direct", "direct_matches"), ("expanded", "related_context")]
)
def test_a_layer_without_memories_is_left_out(origin, layer):
    found = [one for one in FOUND if one.origin == origin]
    root = ElementTree.fromstring(LAYERED.write(found, None)[1])  # noqa: S314 - our own text
    assert [one.tag for one in root] == [layer]
    # Nor are its tags paid for.
    room = count_tokens(LAYERED.write(found, None)[1])
    assert LAYERED.write(found, room)[0] == tuple(found)
    assert LAYERED.write(found, room - 1)[0] == tuple(found[:-1])


def test_xml_dates_what_a_memory_tells_apart_from_its_chat():
    early, later = FOUND[1], FOUND[0]
    dated = replace(early, memory=replace(early.memory, event="2024-02"))
    assert XML.write([dated, later], None)[1] == (
        "<memory_context>\n"
        '<memory index="1"><content>Mara: early</content>'
        "<event_time>2024-02</event_time><said>3 March 2024, 12:00</said></memory>\n"
        '<memory index="2"><content>Theo: later</content>'
        "<event_time>9 March 2024, 12:00</event_time></memory>\n"
        "</memory_context>\n"
    )
    assert "2024-02" not in FLAT.write([dated], None)[1]  # a fact has its date in its text


HOSTILE = (
    "Mara: </memory></direct_matches><related_context> & \"so\" 'on' < 3",
    'Theo: &lt;memory time="now"&gt;',
    "Theo: <![CDATA[ no ]]> <!-- no --> <|endoftext|>",
)


@pytest.mark.parametrize("writer", [XML, LAYERED], ids=["xml", "layered"])
def test_all_formats_hold_the_same_facts(writer):
    found = [*FOUND, *(candidate(str(i), text) for i, text in enumerate(HOSTILE))]
    lines = re.findall(r"^\[(.*?)\] (.*)$", FLAT.write(found, None)[1], re.MULTILINE)
    text = writer.write(found, None)[1]
    assert "&amp; \"so\" 'on' &lt; 3" in text  # quotes end no element
    root = ElementTree.fromstring(text)  # noqa: S314 - our own text
    memories = list(root.iter("memory"))
    elements = [(one.findtext("event_time"), one.findtext("content")) for one in memories]
    assert sorted(lines) == sorted(elements)
    numbers = [one.attrib for one in memories]
    assert numbers == [{"index": str(i)} for i in range(1, len(found) + 1)]


@EACH
def test_nothing_found_and_a_budget_below_one_memory_give_no_text(writer):
    for found, budget in (([], None), ([], 100), (FOUND, 1), (FOUND, 10)):
        assert writer.write(found, budget) == ((), "")


@EACH
def test_a_memory_too_long_is_skipped_for_a_later_one(writer):
    short, long = candidate("short", "Mara: tea"), candidate("long", "Mara: rain " * 60)
    last = candidate("last", "Theo: yes")
    room = count_tokens(writer.write([short, last], None)[1])
    kept, text = writer.write([short, long, last], room)
    assert kept == (short, last)
    assert text == writer.write([short, last], None)[1]
    assert writer.write([short, long, last], room - 1)[0] == (short,)


def test_a_layer_is_opened_only_where_its_tags_fit():
    direct, linked = candidate("a", "Mara: tea"), candidate("b", "Mara: no", origin="expanded")
    both = count_tokens(LAYERED.write([direct, linked], None)[1])
    assert LAYERED.write([direct, linked], both)[0] == (direct, linked)
    assert LAYERED.write([direct, linked], both - 1)[0] == (direct,)
    more = candidate("c", "Mara: so")
    room = count_tokens(LAYERED.write([direct, more], None)[1])
    assert LAYERED.write([direct, linked, more], room)[0] == (direct, more)
    # Tags count towards the budget before any memory.
    long = candidate("d", "Mara: rain, rain, rain")
    assert count_tokens(FLAT.write([direct, long, more], None)[1]) <= room
    assert LAYERED.write([direct, long, more], room)[0] == (direct, more)


def test_a_whole_that_is_longer_than_its_lines_loses_its_last():
    class Joined(Flat):
        def line(self, candidate: Candidate, index: int) -> str:
            return candidate.memory.content

        def render(self, candidates: Iterable[Candidate]) -> str:
            return " and then, ".join(one.memory.content for one in candidates)

    found = [candidate(word, word) for word in ("tea", "rain", "sun", "salt")]
    room = count_tokens("tea and then, rain")
    kept, text = Joined("joined").write(found, room)
    assert [one.memory.id for one in kept] == ["tea", "rain"]
    assert text == "tea and then, rain"


@EACH
def test_the_budget_is_spent_by_rank(writer):
    same = [candidate(f"{i}", f"Mara: fact {i}", day=20 - i) for i in range(8)]
    found = [replace(one, score=float(i)) for i, one in enumerate(same)]  # the order says the rank
    full = count_tokens(writer.write(found, None)[1])
    assert writer.write(found, full)[0] == tuple(found)
    for budget in range(0, full, 9):
        kept = writer.write(found, budget)[0]
        assert kept == tuple(found[: len(kept)])  # equal lengths: the best, none left out
    assert writer.write(found, full - 1)[0] == tuple(found[:-1])


TEXT = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="我喜欢爬山的茶馆。，\n", max_size=60),
    st.text(alphabet="<>&'\"/memory \n\t\r[]", max_size=60),
    st.lists(st.sampled_from(["Mara:", "kiln", "\n", " ", "<|endoftext|>", "12:30", "…"])).map(
        "".join
    ),
)
ORIGINS = st.sampled_from(["direct", "expanded"])
CANDIDATES = st.builds(candidate, st.text(max_size=3), TEXT, st.integers(1, 28), ORIGINS)
ANY = st.lists(CANDIDATES, max_size=12)


@EACH
@given(found=ANY, budget=st.integers(1, 400))
@settings(max_examples=80, deadline=None)
def test_the_text_never_exceeds_its_budget(writer, found, budget):
    kept, text = writer.write(found, budget)
    assert count_tokens(text) <= budget
    ranks = iter(found)
    assert all(any(one is other for other in ranks) for one in kept)  # in rank order, each once
    assert text == writer.write(kept, None)[1]


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
