"""What each baseline does by itself."""

from __future__ import annotations

from datetime import datetime
from math import log

import pytest

from baselines.rankings import BM25, HybridRank, NoMemory, Oracle
from memsys.index.rank import IndexSettings
from memsys.memory.turns import Turns
from memsys.types import Retrieval
from tests.memsys.build import (
    SESSIONS,
    BagOfWords,
    MakeParts,
    Planned,
    ids,
    ingest_all,
    query,
    session,
)

COSINES = {"Mara: salt": 0.1, "Mara: kiln": 0.3, "Mara: wool": 0.5, "Mara: fern": -0.3}
TALK = session(
    1, datetime(2024, 3, 2), *(("Mara", content.removeprefix("Mara: ")) for content in COSINES)
)
FILLER = session(2, datetime(2024, 3, 3), *[("Theo", "rain")] * 4)


def test_bm25_ranks_by_words_and_embeds_nothing(parts: MakeParts) -> None:
    embedder = BagOfWords()
    strategy = ingest_all(BM25(parts(embedder), 3))
    asked = query("Whose seedlings were sold at a market?")
    assert ids(strategy.retrieve(asked))[0] == "D3:1"  # sold and market
    assert set(ids(strategy.retrieve(asked))[1:]) <= {"D1:3", "D1:4", "D3:3"}
    assert embedder.batches == []


def test_bm25_scores_by_the_formula(parts: MakeParts) -> None:
    strategy = BM25(parts(Planned(COSINES)), 2)
    strategy.ingest(TALK)
    strategy.ingest(FILLER)
    first, second = strategy.retrieve(query("Which kiln?")).candidates
    # idf ln((8 - 1 + .5) / (1 + .5)), once in a text of mean length (speaker and one word)
    assert (first.memory.id, first.score) == ("D1:2", pytest.approx(log(7.5 / 1.5)))
    assert (second.memory.id, second.score) == ("D1:1", 0)


@pytest.mark.parametrize(
    ("alpha", "order", "scores"),
    [
        # cosines scaled: .5 .75 1 0; words: kiln 1, else 0
        (0.5, ["D1:2", "D1:3", "D1:1", "D1:4"], [0.875, 0.5, 0.25, 0]),
        (1.0, ["D1:3", "D1:2", "D1:1", "D1:4"], [1, 0.75, 0.5, 0]),
        (0.0, ["D1:2", "D1:1", "D1:3", "D1:4"], [1, 0, 0, 0]),
    ],
)
def test_hybrid_rank_mixes_by_alpha(
    parts: MakeParts, alpha: float, order: list[str], scores: list[float]
) -> None:
    strategy = HybridRank(parts(Planned(COSINES), index=IndexSettings(0.9, 0.4, alpha)), 4)
    strategy.ingest(TALK)
    found = strategy.retrieve(query("Which kiln?"))
    assert ids(found) == order
    assert [one.score for one in found.candidates] == pytest.approx(scores, abs=1e-6)


def test_no_memory_finds_nothing_and_embeds_nothing(parts: MakeParts) -> None:
    embedder = BagOfWords()
    strategy = NoMemory(parts(embedder))
    assert [strategy.ingest(one) for one in SESSIONS] == [0, 0, 0]
    assert strategy.retrieve(query("Where was the bowl sold?")) == Retrieval((), "", 0, {})
    assert embedder.batches == []


EVIDENCE = {"talk/0": ("D1:2", "D3:1"), "talk/1": ("D2:2",), "talk/2": ()}


@pytest.mark.parametrize(
    ("question", "expected"),
    [("talk/0", ["D1:2", "D3:1"]), ("talk/1", ["D2:2"]), ("talk/2", []), ("talk/9", [])],
)
def test_the_oracle_sees_its_question_s_evidence_alone(
    parts: MakeParts, question: str, expected: list[str]
) -> None:
    strategy = ingest_all(Oracle(parts(), None, EVIDENCE))
    retrieval = strategy.retrieve(query("The words do not matter", question))
    assert ids(retrieval) == expected
    assert retrieval.context.count("\n") == len(expected)
    assert {one.score for one in retrieval.candidates} <= {1.0}


def test_the_oracle_takes_every_memory_with_evidence(parts: MakeParts) -> None:
    windows = parts(memory=Turns("windows", before=1, after=1, lead=0))
    strategy = ingest_all(Oracle(windows, None, EVIDENCE))
    assert ids(strategy.retrieve(query("?", "talk/1"))) == ["D2:1", "D2:2", "D2:3"]


def test_the_oracle_cannot_see_evidence_that_was_not_said_yet(parts: MakeParts) -> None:
    strategy = Oracle(parts(), None, EVIDENCE)
    strategy.ingest(SESSIONS[0])
    assert ids(strategy.retrieve(query("?", "talk/0"))) == ["D1:2"]
