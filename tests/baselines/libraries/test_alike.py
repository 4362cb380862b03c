"""What the real libraries do alike: without a model, and with one that gives no answer."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from baselines.libraries.pipe import LibraryError
from tests.baselines.libraries.real import MADE, TALK, asking, ingested, needs
from tests.memsys.build import SESSIONS, query
from tests.memsys.llm import faults
from tests.memsys.llm.server import FaultyServer


class Plain(NamedTuple):
    """A library without a model. `unit`: of its size; `degraded`: the beginnings of what it lacks;
    `forgets`: whether that is tested here, and not in test_forgotten.
    """

    degraded: tuple[str, ...]
    unit: str = "memories"
    forgets: bool = False
    timeout_s: float = 120


SLOW_START = 600.0  # seconds: the imports of some
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


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in PLAIN])
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


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(name)) for name in ("graphiti", "hipporag")]
)
def test_what_needs_a_model_says_so(name, parts):
    wanted = pytest.raises(LibraryError, match=r"without a model; use strategy\.infer=true")
    with wanted, ingested(name, parts(), infer=False):
        pass


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param(name, words, marks=needs(name))
        for name, words in (("cognee", "cognee"), ("letta", "letta"), ("lightrag", "FAILED"))
    ],
)
def test_an_unanswered_call_is_an_error_of_its_session(name, words, parts, tmp_path):
    with (
        FaultyServer(lambda _: faults.status(400, "no such model")) as server,
        pytest.raises(LibraryError, match=words),
        ingested(name, asking(parts, server, tmp_path), TALK[:1], timeout_s=SLOW_START),
    ):
        pass
