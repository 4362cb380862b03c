"""What every strategy must do. A test class inherits `Contract` and says how to make one."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import pytest

from memsys.context.writers import Layered
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.types import Memory, Observation, Retrieval, Session
from memsys.graph.build import GraphSettings
from memsys.knowledge.memory.observations import Observations
from memsys.knowledge.memory.turns import Turns
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.memsys.build import SESSIONS, TURN_IDS, query
from tests.memsys.left import mentions

QUERIES = [
    query(text, f"talk/{i}")
    for i, text in enumerate(
        [
            "Where did Mara sell a bowl?",
            "What other news of the tomato seedlings?",
            "Who will drain the field?",
            "还有什么？",
            "",
        ]
    )
]

GONE = ("D1:3", "D1:4", "D2:2")  # all that was said of seedlings, and a turn of another session
MEMORIES = [
    Turns("turns"),
    Turns("windows", before=1, after=1, lead=0),
    Observations("observations"),
]
GRAPH = GraphSettings(8, 0.5, 0.7, 1.0, speaker_weight=0.2, date_weight=0.3, adjacent_weight=0.4)


def with_facts(session: Session) -> Session:
    """`session` with an observation for each two neighbours among the turns."""
    facts = [
        Observation(one.speaker, f"{one.text} {other.text}", (one.id, other.id))
        for one, other in pairwise(session.turns)
    ]
    return replace(session, observations=tuple(facts))


class LoggingTurns(Turns):
    """Turns whose builder has a state, its log: each conversation has its own."""

    def opened(self) -> "LoggingTurns":
        return LoggingTurns(self.name)

    def build(self, session: Session) -> list[Memory]:
        self.events.append({"step": "split", "turns": len(session.turns)})
        return super().build(session)


class Contract:
    """Ingested are the three sessions of `build.SESSIONS`, ten turns."""

    cut_by_k: ClassVar[bool] = True
    remembers: ClassVar[bool] = True
    # Whether a memory of several turns is written anew without a forgotten one; else it is deleted.
    rewrites: ClassVar[bool] = True

    def make(self, parts: Parts, k: int = 3, budget: int | None = None) -> Strategy:
        raise NotImplementedError

    def ingested(
        self, parts: Parts, sessions: Sequence[Session] = SESSIONS, **own: int
    ) -> Strategy:
        """A strategy that has ingested `sessions`."""
        strategy = self.make(parts, **own)
        for session in sessions:
            strategy.ingest(session)
        return strategy

    def test_an_empty_store_gives_an_empty_retrieval(self, parts):
        empty = Retrieval((), "", 0, {})
        shared = parts()
        self.ingested(shared)  # another conversation
        assert self.make(shared).retrieve(QUERIES[0]) == empty
        layered = self.make(parts(context=Layered("layered")), budget=50)
        assert layered.retrieve(QUERIES[0]) == empty

    def test_what_the_memory_option_logs_is_in_the_log_of_the_strategy(self, parts):
        strategy = self.ingested(parts(memory=LoggingTurns("turns")))
        logged = [one["turns"] for one in strategy.events if one["step"] == "split"]
        assert logged == ([4, 3, 3] if self.remembers else [])

    def test_asking_changes_nothing(self, parts):
        strategy = self.ingested(parts())
        first = [strategy.retrieve(one) for one in QUERIES]
        held = strategy.size()
        assert held["memories"] == (10 if self.remembers else 0)
        assert [strategy.retrieve(one) for one in QUERIES] == first
        assert strategy.size() == held
        measured_first = self.ingested(parts())
        measured_first.size()
        assert [measured_first.retrieve(one) for one in QUERIES] == first
        backwards = [self.ingested(parts()).retrieve(one) for one in reversed(QUERIES)]
        assert backwards[::-1] == first
        asked_early = self.make(parts())
        for session in SESSIONS:
            asked_early.ingest(session)
            asked_early.retrieve(QUERIES[1])
        assert [asked_early.retrieve(one) for one in QUERIES] == first

    def test_only_sessions_so_far_are_found(self, parts):
        strategy = self.make(parts(), k=99) if self.cut_by_k else self.make(parts())
        known: set[str] = set()
        counts = []
        for session in SESSIONS:
            counts.append(strategy.ingest(session))
            known |= {turn.id for turn in session.turns}
            for one in QUERIES:
                found = {candidate.memory.id for candidate in strategy.retrieve(one).candidates}
                assert found <= known
        assert counts == ([4, 3, 3] if self.remembers else [0, 0, 0])
        found = {candidate.memory.id for candidate in strategy.retrieve(QUERIES[0]).candidates}
        assert ("D3:1" in found) is bool(found) is self.remembers

    @pytest.mark.parametrize("memory", MEMORIES, ids=lambda builder: builder.name)
    def test_a_store_that_forgot_turns_is_one_that_never_had_them(self, parts, memory):
        if not self.rewrites and memory.name != "turns":
            pytest.skip("memories of several turns are deleted")
        given = parts(memory=memory, depth=5, graph=GRAPH)
        first, *later = map(with_facts, SESSIONS)
        strategy = self.make(given)
        strategy.ingest(first)
        before = [strategy.retrieve(one) for one in QUERIES]  # its indexes are built by now
        assert strategy.forget(["D9:9"]) == 0
        assert [strategy.retrieve(one) for one in QUERIES] == before
        strategy.ingest(later[0])
        changed = strategy.forget(GONE)
        assert changed is not None
        assert (changed > 0) is self.remembers
        assert not mentions(strategy, "seedlings", given.embedder, strategy.parts.llm)
        strategy.ingest(later[1])
        never = self.ingested(given, [one.without(GONE) for one in (first, *later)])
        assert [strategy.retrieve(one) for one in QUERIES] == [
            never.retrieve(one) for one in QUERIES
        ]
        assert strategy.size() == never.size()
        assert strategy.forget(TURN_IDS) is not None
        assert {one.candidates for one in map(strategy.retrieve, QUERIES)} == {()}

    @pytest.mark.parametrize("k", [1, 2, 5])
    def test_at_most_k_are_retrieved(self, parts, k):
        if not self.cut_by_k:
            pytest.skip("k says nothing to this strategy")
        strategy = self.ingested(parts(), k=k)
        sizes = {len(strategy.retrieve(one).candidates) for one in QUERIES}
        assert sizes == {k if self.remembers else 0}

    @pytest.mark.parametrize("layered", [False, True])
    @pytest.mark.parametrize("budget", [1, 25, 70, 120])
    def test_the_budget_is_respected(self, parts, budget, layered):
        given = parts(context=Layered("layered")) if layered else parts()
        strategy = self.ingested(given, budget=budget)
        for one in QUERIES:
            retrieval = strategy.retrieve(one)
            assert count_tokens(retrieval.context) == retrieval.context_tokens <= budget
            if budget < 25 or not self.remembers:
                assert (retrieval.candidates, retrieval.context) == ((), "")
        if budget >= 70 and self.remembers:
            assert strategy.retrieve(QUERIES[0]).candidates

    def test_a_retrieval_is_ranked_unique_shown_and_traced(self, parts):
        strategy = self.ingested(parts())
        for one in QUERIES:
            found = strategy.retrieve(one)
            scores = [candidate.score for candidate in found.candidates]
            assert scores == sorted(scores, reverse=True)
            ids = [candidate.memory.id for candidate in found.candidates]
            assert len(set(ids)) == len(ids) == len(found.context.splitlines())
            assert all(c.memory.content in found.context for c in found.candidates)
            assert json.loads(json.dumps(found.trace)) == found.trace
            if not strategy.sees_evidence:  # the question's id says nothing
                assert strategy.retrieve(replace(one, id="talk/99")) == found

    @pytest.mark.parametrize("wrong", [{"k": 0}, {"k": -1}, {"k": 2.5}, {"budget": 0}])
    def test_wrong_numbers_are_named(self, parts, wrong):
        (name,) = wrong
        if name == "k" and not self.cut_by_k:
            pytest.skip("k says nothing to this strategy")
        with pytest.raises(InputError, match=rf"^strategy\.{name}: "):
            self.make(parts(), **wrong)
