"""What each strategy retrieves for "What should I eat?" and "Are there any films you would
recommend lately?" among 32 turns, at k = 4, in English and in Chinese.

Letters are the turns that answer: J Japanese cuisine, S the seafood allergy; I Interstellar, N
Nolan, W The Wandering Earth. None of them shares a word with its question.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memsys.core.terms import terms
from memsys.graph.build import GraphSettings, build_graph
from tests.eval.composing import quick_composition
from tests.memsys.build import memory
from tests.memsys.strategies.associations import (
    FILM,
    FOOD,
    LETTERS,
    Writer,
    conversation,
    found,
    turns,
)
from tests.shared import made_once

# English; Chinese with the vectors of the translation; Chinese with those of an English model
RULES = {
    "vector_only": ("S", "IN", "S", "IN", "", ""),
    "bm25": ("", "", "", "", "", ""),
    "hybrid_rank": ("S", "", "S", "", "", ""),
    "graph_score": ("S", "INW", "S", "INW", "", ""),
    "graph_expand": ("S", "IN", "S", "IN", "", ""),
    "graph_expand_hybrid": ("S", "", "S", "", "", ""),
    "graph_follow": ("J", "IW", "S", "I", "", "IW"),
    "graph_walk": ("JS", "", "S", "", "", ""),
    "hybrid_gate": ("S", "IN", "S", "IN", "", ""),
    "graph_expand, rescored": ("JS", "INW", "S", "INW", "", ""),
    "graph_expand, halves": ("JS", "INW", "JS", "INW", "", "W"),
    "graph_expand, reweighted": ("S", "INW", "S", "INW", "", "W"),
}
# The first four columns of the rules, over the graph that a model writes, and over a model's facts
WRITTEN = {
    "graph_score": ("S", "INW", "S", "INW"),
    "graph_expand": ("S", "IN", "S", "IN"),
    "hybrid_gate": ("S", "IN", "S", "IN"),
    "graph_expand, rescored": ("S", "INW", "JS", "INW"),
    "graph_expand, halves": ("JS", "INW", "JS", "INW"),
}
FACTS = {
    "vector_only": ("S", "NW", "S", "NW"),
    "graph_score": ("JS", "NW", "JS", "NW"),
    "graph_expand, rescored": ("JS", "NW", "JS", "NW"),
    "graph_expand, halves": ("JS", "N", "JS", "N"),
}


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Most of the time would go into configurations."""
    with quick_composition():
        yield


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of MiniLM's vectors, which all tests share."""

    def embed(made: Path) -> None:
        for language in ("en", "zh"):
            for translated in {False, language == "zh"}:
                found("vector_only", language, made, translated=translated)

    return made_once(tmp_path_factory, "associations", embed)


@pytest.mark.parametrize("row", RULES)
def test_over_the_graph_made_by_rules(row, folder):
    cells = [
        *found(row, "en", folder),
        *found(row, "zh", folder, translated=True),
        *found(row, "zh", folder),
    ]
    assert tuple(cells) == RULES[row]


def written(row: str, folder: Path, settings: Sequence[str]) -> tuple[str, ...]:
    english = found(row, "en", folder, llm=Writer("en"), settings=settings)
    chinese = found(row, "zh", folder, llm=Writer("zh"), settings=settings, translated=True)
    return (*english, *chinese)


@pytest.mark.parametrize("row", WRITTEN)
def test_over_the_graph_that_a_model_writes(row, folder):
    assert written(row, folder, ["graph=relations"]) == WRITTEN[row]


@pytest.mark.parametrize("row", FACTS)
def test_over_the_facts_and_the_graph_that_a_model_writes(row, folder):
    assert written(row, folder, ["graph=relations", "memory=facts"]) == FACTS[row]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_answers_share_no_word_with_the_questions(language):
    said, questions = turns(language), conversation(language)["qa"]
    assert len(said) == 32
    for question, letters in zip(questions, (FOOD, FILM), strict=True):
        assert {LETTERS[turn] for turn in question["evidence"]} == set(letters)
        for turn in question["evidence"]:
            assert set(terms(said[turn])).isdisjoint(terms(question["question"]))


def test_chinese_memories_are_linked_by_topics_and_not_by_function_words():
    said = turns("zh")
    memories = [memory(id_, text, speaker=text[:2]) for id_, text in said.items()]
    store = build_graph(memories, GraphSettings(8, 0.1, 0.7, 1.0)).store

    def linked(turn: str) -> set[str]:
        entities = [edge.node for edge in store.neighbours([f"m:{turn}"])[0]]
        return {e.node[2:] for edges in store.neighbours(entities, True) for e in edges} - {turn}

    assert linked("D1:4") == {"D3:2", "D3:3"}  # hot pot; Sichuan cooking
    assert linked("D3:5") == {"D3:3"}  # Japanese cuisine
    assert linked("D2:2") == {"D2:4", "D2:8"}  # science fiction
