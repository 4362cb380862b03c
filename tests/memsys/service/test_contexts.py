"""Search results have weighted scores and say what a graph did; a context is the text that a
benchmark's reader gets.
"""

import json
import math
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import pytest
from hydra.utils import instantiate

from memsys.context.writers import Flat, Xml
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.turns import importance
from memsys.llm.client import NoModel
from memsys.service.setup import SearchWeights
from tests.memsys.build import BagOfTokens, ingest_all, query
from tests.memsys.knowledge.facts.models import Planned, call, fact, facts
from tests.memsys.service.made import fill, memory, said, texts
from tests.memsys.service.test_relations import model
from tests.memsys.service.test_strategies import opened, option, settings_of, strategy_of

pytestmark = pytest.mark.usefixtures("trusting", "composed_once")
NOW = datetime(2024, 7, 1)
ASKED = "Where was the bowl from the kiln sold?"
LOOSE = {"threshold": -1.0, "seeds": 2, "edge_weight": 3.0}


def expanding(**more: Any) -> dict[str, Any]:
    chosen = settings_of("graph_expand") | {"k": 6, "budget": 120}
    return chosen | {"expansion": {**chosen["expansion"], **LOOSE, **more}}


@pytest.mark.parametrize(
    ("layout", "strategy"),
    [*((layout, "graph_expand") for layout in ("flat", "xml", "layered")), ("xml", "full_context")],
)
def test_a_context_is_that_of_the_benchmark(tmp_path, parts, layout, strategy):
    """Of the same sessions, strategy, k and budget: the same text, tokens and origins."""
    chosen = expanding() if strategy == "graph_expand" else settings_of(strategy) | {"budget": 120}
    written = instantiate(json.loads(option(context=layout))["context"])
    benchmarked = ingest_all(strategy_of(chosen, parts, BagOfTokens(), context=written))
    expected = benchmarked.retrieve(query(ASKED, time=NOW))
    assert 0 < len(expected.candidates) < 6  # the budget counts
    with opened(tmp_path, chosen, context=layout) as store:
        fill(store)
        written = store.context(ASKED, user_id="talk", time=NOW)
        asked = store.context(ASKED, user_id="talk", time=NOW, budget=120)
        whole = store.context(ASKED, user_id="talk", time=NOW, budget=10_000)
        found = store.search(ASKED, user_id="talk", time=NOW)
    assert (written.text, written.tokens) == (expected.context, expected.context_tokens)
    assert [one.turns for one in written.results] == [c.memory.turns for c in expected.candidates]
    assert asked.text == written.text
    assert [one.origin for one in found] == [one.origin for one in whole.results]
    assert ("expanded" in {one.origin for one in found}) == (strategy == "graph_expand")
    assert count_tokens(whole.text) == whole.tokens > written.tokens


def test_results_name_the_path_and_the_terms_by_which_a_graph_found_them(tmp_path, parts):
    chosen = expanding() | {"rescore": "memory_score"}
    with opened(tmp_path, chosen) as store:
        fill(store)
        found = store.search(ASKED, user_id="talk", time=NOW)
        by_id = {one.id: one for one in store.get_all(user_id="talk")}
    for one in found:
        assert {"similarity", "g", "n", "e", "w"} <= one.trace.keys()
        assert ("path" in one.trace) >= (one.origin == "expanded")
    added = next(one for one in found if one.origin == "expanded")
    path = added.trace["path"]
    assert path.keys() == {"seed", "via", "edge", "relevance", "score"}
    assert by_id[path["seed"]].id in {one.id for one in found[:6]}
    assert path["via"] in ("bowl", "kiln", "market", "lantern market", "lantern")
    assert added.as_json()["trace"] == added.trace
    with memory(tmp_path / "plain") as plain:
        fill(plain)
        found = plain.search(ASKED, user_id="talk")
        assert {(one.origin, str(one.trace)) for one in found} == {("direct", "{}")}


def test_the_memories_in_a_context_count_as_accessed_and_others_do_not(store):
    for text in ("the kiln is hot", "the kiln is old and made of many bricks"):
        store.add(text, user_id="mara", time=NOW)
    one = store.context("the kiln is hot", user_id="mara", time=NOW, budget=20)
    assert texts(one.results) == ["the kiln is hot"]
    assert one.text == "[1 July 2024, 00:00] the kiln is hot\n"
    assert [record.accesses for record in store.get_all(user_id="mara")] == [1, 0]
    nothing = {"text": "", "tokens": 0, "results": [], "relations": [], "trace": {}}
    assert store.context("kiln", user_id="mara", budget=1).as_json() == nothing
    with pytest.raises(InputError, match=r"^context: budget: "):
        store.context("kiln", user_id="mara", budget=0)


def test_relations_that_an_expansion_followed_are_in_the_context(tmp_path, monkeypatch):
    monkeypatch.setattr(NoModel, "open", lambda *_: model())
    chosen = expanding(relations=3) | {"budget": 2048}
    relations = {"graph": "relations", "context": "layered"}
    with opened(tmp_path, chosen, **relations) as store:
        for text in ("Mara - owns - kiln", "Theo - repairs - kiln"):
            store.add(said(text), user_id="mara")
        written = store.context("Who repairs the kiln?", user_id="mara")
        assert set(written.relations) == {"Mara owns kiln", "Theo repairs kiln"}
        both = store.context("Who repairs the kiln?", user_id="mara", enable_graph=True)
        assert sorted(both.relations) == sorted(written.relations)  # each once
        root = ElementTree.fromstring(written.text)  # noqa: S314 - our own text
        contents = {one.text for one in root.iterfind("related_context/*/content")}
        assert contents >= set(written.relations)
        assert len(store.search("kiln", user_id="mara")) == 2
    with pytest.raises(InputError, match="takes a graph with relations"):
        opened(tmp_path, chosen)


LONG = "a very long story about a kiln"


@pytest.mark.parametrize(
    "remove",
    [
        lambda store, id_: store.delete(id_),
        lambda store, id_: store.delete(id_, history=False),
        lambda store, id_: store.update(id_, "short"),
        lambda store, _: store.delete_all(user_id="mara"),
        lambda store, _: store.reset(user_id="mara"),
        lambda store, _: store.reset(),
    ],
    ids=["delete", "erase", "update", "delete_all", "reset", "reset of all"],
)
def test_long_memories_are_summarised_until_they_are_deleted(tmp_path, remove):
    """Those of others remain summarised; what is deleted during the call is not remembered."""
    at_work: list[Any] = []

    def summary(_: str) -> str:
        if at_work:
            at_work.pop()()
        return '{"summary": "A kiln."}'

    llm = Planned(summary)
    layout = Flat("flat", summarise="llm", longer_than=5)
    with memory(tmp_path, llm=llm, context=layout) as store:
        (one,) = store.add(LONG, user_id="mara", infer=False).changes
        store.add(f"{LONG} of Theo", user_id="theo", infer=False)
        for _ in range(2):
            written = store.context("kiln", user_id="mara")
            assert written.text.endswith("] A kiln.\n")
            assert list(written.trace["summarised"]) == [one.id]
            store.context("kiln", user_id="theo")
        assert len(llm.asked["extract"]) == 2
        remove(store, one.id)
        store.context("kiln", user_id="theo", budget=100)
        assert len(llm.asked["extract"]) == 2
        (again,) = store.add(LONG, user_id="mara", infer=False).changes
        at_work.append(lambda: remove(store, again.id))
        store.context("kiln", user_id="mara")
        store.add(LONG, user_id="mara", infer=False)
        store.context("kiln", user_id="mara")
        assert len(llm.asked["extract"]) == 4


def test_a_fact_has_the_date_of_its_event(tmp_path):
    went = fact("Mara went to Bergen", "Mara", 1, when="2031-05-02")
    replies = [facts(went), facts(fact("Mara liked Bergen", "Mara", 1))]
    decision = (call("UPDATE", id=1, content="Mara likes Bergen"),)
    friday = said("I went to Bergen on Friday")
    chat = datetime(2031, 5, 6, 19, 20)
    with memory(tmp_path, llm=Planned(replies, [decision]), context=Xml("xml")) as store:
        store.add(friday, user_id="mara", infer=True, time=chat)
        assert store.get_all(user_id="mara")[0].as_json()["event_time"] == "2031-05-02"
        text = store.context("Bergen", user_id="mara").text
        assert "<event_time>2031-05-02</event_time><said>6 May 2031, 19:20</said></memory>" in text
        store.add(friday, user_id="mara", infer=True, time=chat)  # no date is known of the new text
        assert store.get_all(user_id="mara")[0].event_time is None
        text = store.context("Bergen", user_id="mara").text
        assert "<event_time>6 May 2031, 19:20</event_time></memory>" in text


def test_an_update_may_give_the_date_of_an_event_and_a_new_text_has_none(store):
    (one,) = store.add("Mara likes green tea", user_id="mara").changes

    def date_after(**given: Any) -> Any:
        assert store.update(one.id, **given) is not None
        return store.get_all(user_id="mara")[0].event_time

    for date in ("2031", "2031-05", "2031-05-02", "2031-05-02/2031-05-08"):
        assert date_after(event_time=date) == date
    assert date_after(metadata={"n": 1}, title="Tea") == date
    assert date_after(text="Mara likes coffee") is None
    assert date_after(text="Mara likes tea", event_time="2032") == "2032"
    assert date_after(event_time="") is None
    for wrong in ("May 2031", "2031-02-31", 2031):
        with pytest.raises(InputError, match=r"^update: event_time: "):
            store.update(one.id, event_time=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["search", "context", "get_all"])
def test_ids_may_be_among_the_filters(store, method):
    query = () if method == "get_all" else ("kiln",)
    for user in ("ana", "bob"):
        store.add(f"{user}'s kiln", user_id=user, metadata={"n": 1})

    def found(**given: Any) -> list[str]:
        rows = getattr(store, method)(*query, **given)
        return texts(rows.results if method == "context" else rows)

    assert found(filters={"user_id": "ana", "n": 1}) == ["ana's kiln"]
    assert found(filters={"n": 2}, user_id="ana") == []
    for wrong, reason in (
        ({"filters": {"user_id": "ana"}, "user_id": "ana"}, "here or as user_id, not both"),
        ({"filters": {"user_id": None}, "agent_id": "x"}, r"filters\.user_id: use text"),
        ({"filters": {"user_id": 3}}, r"^filters: user_id: "),
        ({"filters": {"n": 1}}, "owner: give at least one"),
    ):
        with pytest.raises(InputError, match=reason):
            found(**wrong)


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
