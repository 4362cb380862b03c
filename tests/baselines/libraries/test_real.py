"""The real libraries: without a model, with a scripted one, with one that gives no answer, and what
they leave of a forgotten message.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from baselines.libraries.pipe import LibraryError
from tests.baselines.libraries.conftest import MADE, TALK, asking, ingested, needs, written_with
from tests.baselines.libraries.scripted import MODELS
from tests.memsys.build import SESSIONS, query
from tests.memsys.left import files_with
from tests.memsys.llm import faults
from tests.memsys.llm.server import FaultyServer

SLOW_START = 600.0  # seconds: the imports of some
LIKES = query("What does Ada like or love?")


def each(*names: str) -> list[Any]:
    return [pytest.param(name, marks=needs(name)) for name in names]


class Plain(NamedTuple):
    """A library without a model. `unit`: of its size; `degraded`: the beginnings of what it lacks;
    `forgets`: whether that is tested here, and not with a model.
    """

    degraded: tuple[str, ...]
    unit: str = "memories"
    forgets: bool = False
    timeout_s: float = 120


PLAIN = {
    "cognee": Plain(("no graph and no summaries",), "memories", True, SLOW_START),
    "langmem": Plain(("no memory manager",)),
    "letta": Plain(("no keyword search", "no agent"), "memories", True, SLOW_START),
    "lightrag": Plain(
        ("no reranker", "a token is counted as four characters", "no graph"), "documents", True
    ),
    "mem0ai": Plain(("no keyword search", "no entities and no lemmas")),
    "mem0ai_graph": Plain(("no graph",)),
}


@pytest.mark.parametrize("name", each(*PLAIN))
def test_messages_are_found_with_their_turns_without_a_model(name, parts):
    case = PLAIN[name]
    own = {"infer": False, "timeout_s": case.timeout_s}
    with ingested(name, parts(), SESSIONS, k=3, **own) as strategy:
        asked = query("sold a bowl at the Lantern market")
        first = strategy.retrieve(asked)
        best = first.candidates[0].memory
        assert (best.turns, best.time, best.speaker) == (("D3:1",), SESSIONS[2].time, "Mara")
        scores = [one.score for one in first.candidates]
        assert len(scores) == 3
        assert scores == sorted(scores, reverse=True)
        strategy.retrieve(query("Who will drain the field?"))
        assert strategy.retrieve(asked) == first
        assert strategy.retrieve(query("")).candidates == ()
        assert strategy.size()[case.unit] == 10
        assert strategy.details["version"] == MADE[name]
        assert tuple(why.partition(":")[0] for why in strategy.details["degraded"]) == case.degraded
        assert "blocked" not in strategy.details
        if case.forgets:
            with ingested(name, parts(), SESSIONS[:1], k=30, **own) as other:
                assert other.size()[case.unit] == 4
            assert strategy.forget(["D3:1", "D9:9"]) == 1
            left = strategy.retrieve(asked).candidates
            assert ("D3:1",) not in {one.memory.turns for one in left}
            assert strategy.size()[case.unit] == 9


@pytest.mark.parametrize("name", each("graphiti", "hipporag"))
def test_what_needs_a_model_says_so(name, parts):
    wanted = pytest.raises(LibraryError, match=r"without a model; use strategy\.infer=true")
    with wanted, ingested(name, parts(), infer=False):
        pass


@pytest.mark.parametrize("name", each("cognee", "letta", "lightrag"))
def test_an_unanswered_call_is_an_error_of_its_session(name, parts, tmp_path):
    with (
        FaultyServer(lambda _: faults.status(400, "no such model")) as server,
        pytest.raises(LibraryError, match="FAILED" if name == "lightrag" else name),
        ingested(name, asking(parts, server, tmp_path), TALK[:1], timeout_s=SLOW_START),
    ):
        pass


FIRST, SECOND = ("D1:1", "D1:2"), ("D2:1", "D2:2")  # the turns of the two exchanges
MESSAGES = {
    "Ada: I like badminton.": FIRST,
    "Ada: I love pizza.": FIRST,
    "Ada: I do not like badminton any more.": SECOND,
    "Ada: I also love burgers.": SECOND,
}
ALONE = dict(zip(MESSAGES, [("D1:1",), ("D1:2",), ("D2:1",), ("D2:2",)], strict=True))
FACTS = {text.removesuffix("."): turns for text, turns in MESSAGES.items()}
FOODS = {"Ada: I love pizza": FIRST, "Ada: I also love burgers": SECOND}
NO_MORE = "Ada: I do not like badminton any more"


class Written(NamedTuple):
    """What is found of TALK if a model writes the memory. `expanded`: further texts, without turns
    (None: any). `requests`: calls of chat models (None: any number). `same`: another question may
    be asked in between. `dated`: requests have the day of the session. `scores`: they are those of
    the recording.
    """

    direct: Mapping[str, tuple[str, ...]]
    expanded: Collection[str] | None = ()
    size: Mapping[str, int] | None = None
    requests: int | None = None
    exchange: int = 2
    same: bool = False
    dated: bool = False
    scores: bool = False
    degraded: int | None = None  # number of missing features (None: any)


WRITTEN = {
    "cognee": Written(
        {
            "Ada: I like badminton.\nAda: I love pizza.": FIRST,
            "Ada: I do not like badminton any more.\nAda: I also love burgers.": SECOND,
        },
        FACTS,
        requests=4,  # a graph and a summary for each exchange
    ),
    "graphiti": Written(  # a changed mind ends the old fact
        {"Ada: I like badminton (until 20 May 2023)": FIRST, NO_MORE: SECOND, **FOODS},
        size={"nodes": 4, "edges": 4},
        same=True,
        dated=True,
    ),
    "hipporag": Written(ALONE, exchange=1, same=True, scores=True, degraded=2),
    # A changed mind is patched into the memory that it is about.
    "langmem": Written({NO_MORE: FIRST + SECOND, **FOODS}, requests=2, same=True, degraded=0),
    # Two inserts and a reply for each exchange.
    "letta": Written(MESSAGES, requests=6, dated=True),
    "lightrag": Written(
        ALONE, None, {"documents": 4, "nodes": 4, "edges": 3}, exchange=1, scores=True
    ),
    # The library has only added since version 2: the paper's UPDATE and DELETE are gone.
    "mem0ai": Written(MESSAGES, requests=2, dated=True),
    "mem0ai_graph": Written(
        {NO_MORE: SECOND, **FOODS},
        ("ada -- says -- pizza", "ada -- says -- burgers"),
        same=True,
        dated=True,
    ),
}


@pytest.mark.parametrize("name", each(*WRITTEN))
def test_what_a_model_writes_is_found_with_its_turns(name, parts, tmp_path):
    case, found = WRITTEN[name], []
    things = "badminton, pizza or burgers" if name == "mem0ai_graph" else "or love"
    asked = query(f"What does Ada like {things}?")
    with FaultyServer(MODELS[name]) as server:
        # Mem0 1 names its memories by random ids, which its prompts contain.
        for mode in ("auto", "replay")[: 1 if name == "mem0ai_graph" else 2]:
            given = asking(parts, server, tmp_path, mode)
            with ingested(name, given, exchange=case.exchange, timeout_s=SLOW_START) as strategy:
                first = strategy.retrieve(asked)
                found.append(first.candidates)
                if mode == "replay":
                    continue
                live = server.requests
                if case.same:
                    strategy.retrieve(query("Who plays badminton?"))
                    assert strategy.retrieve(asked) == first
                    live = server.requests
                assert strategy.details["version"] == MADE[name]
                assert "blocked" not in strategy.details
                assert case.degraded in (None, len(strategy.details["degraded"]))
                size = strategy.size()
                assert {unit: size[unit] for unit in case.size or ()} == (case.size or {})
        assert server.requests == live, "a recorded call is not asked again"
    first_run = found[0]
    direct = [one.memory for one in first_run if one.origin == "direct"]
    assert {one.content: one.turns for one in direct} == case.direct
    assert {one.time for one in direct} == {one.time for one in TALK}
    others = {one.memory.content: one.memory.turns for one in first_run if one.origin != "direct"}
    assert set(others.values()) <= {()}
    assert case.expanded is None or set(others) == set(case.expanded)
    assert case.requests in (None, live)
    assert not case.dated or "2023-05-20" in str(server.bodies), "relative dates are the session's"
    ranked = [
        {(one.memory.content, one.score if case.scores else 0) for one in run} for run in found
    ]
    assert ranked == ranked[:1] * len(ranked)


@pytest.mark.parametrize("name", each("mem0ai"))
def test_a_reply_that_the_library_drops_is_logged(name, parts, tmp_path):
    with (
        FaultyServer(lambda _: faults.says("Sorry, no JSON.")) as server,
        ingested(name, asking(parts, server, tmp_path), TALK[:1]) as strategy,
    ):
        assert strategy.retrieve(LIKES).candidates == ()
        assert "Error parsing extraction response" in str(strategy.events)


@pytest.mark.parametrize("name", each("lightrag"))
def test_what_is_forgotten_is_in_no_description_and_in_no_file(name, parts, tmp_path):
    with FaultyServer(MODELS[name]) as server:
        given = asking(parts, server, tmp_path)
        with ingested(name, given, exchange=1) as strategy:
            assert strategy.forget(["D1:1", "D2:1"]) == 2
            shown = strategy.retrieve(LIKES).context
            assert "badminton" not in shown
            assert "pizza" in shown
            assert strategy.size() == {"documents": 2, "nodes": 3, "edges": 2}
            assert written_with("badminton", strategy) == []
            assert written_with("pizza", strategy)


# Files of the working folder that contain a message before and after it is forgotten.
FILES: dict[str, tuple[set[str], set[str]]] = {
    "mem0ai": ({"faiss/memories.json", "history.db"}, {"history.db"}),
    # The entity remains without its relation.
    "mem0ai_graph": ({"faiss/memories.pkl", "history.db", "kuzu.wal"}, {"history.db", "kuzu.wal"}),
    "langmem": (set(), set()),  # in memory only
    "graphiti": (set(), set()),  # its server writes no file here
}


@pytest.mark.parametrize("name", each(*FILES))
def test_a_forgotten_message_is_not_found(name, parts, tmp_path):
    with (
        FaultyServer(MODELS[name]) as server,
        ingested(name, asking(parts, server, tmp_path / "calls"), exchange=1) as strategy,
    ):
        asked = query("Does Ada love pizza or burgers?")
        folder = Path(strategy._open[2].name)  # type: ignore[index]
        assert "pizza" in strategy.retrieve(asked).context
        assert set(files_with(folder, "pizza")) == FILES[name][0]
        assert strategy.forget(["D1:2"]) == 1
        assert set(files_with(folder, "pizza")) == FILES[name][1]
        context = strategy.retrieve(asked).context
        assert "pizza" not in context
        assert "burgers" in context
        assert strategy.forget(["D1:2"]) == 0
