"""What each strategy retrieves for "What should I eat?" and "Are there any films you would
recommend lately?" among 32 turns, at k = 4, in English and in Chinese.

Letters are the turns that answer: J Japanese cuisine, S the seafood allergy; I Interstellar, N
Nolan, W The Wandering Earth. None of them shares a word with its question.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.datasets.locomo import LoCoMo
from eval.run.composing import composed
from memsys.core.terms import terms
from memsys.core.types import Query, Usage, Vectors
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.graph.build import GraphSettings, build_graph
from memsys.llm.base import LLM, Completion, Message
from memsys.llm.meter import Meter
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy
from tests.eval.composing import quick_composition
from tests.memsys.build import memory
from tests.memsys.knowledge.facts.models import completion, fact
from tests.memsys.knowledge.relations.models import Scripted, entity, relation
from tests.shared import made_once

HERE = Path(__file__).parent
DATA = HERE.parents[2] / "data" / "associations"
K = 4
# The letters of the table: the turns that are to be found.
LETTERS = {"D3:3": "J", "D3:5": "S", "D2:4": "I", "D2:8": "W", "D2:6": "N"}
FOOD, FILM = "JS", "INW"
Rows = Mapping[str, Sequence[Sequence[str]]]  # by turn: English fields, then Chinese ones
RELATIONS: Rows = yaml.safe_load((HERE / "association_relations.yaml").read_text("utf-8"))
FACTS: Rows = yaml.safe_load((HERE / "association_facts.yaml").read_text("utf-8"))


def expansion(**numbers: float) -> list[str]:
    return [f"strategy.expansion.{name}={value}" for name, value in numbers.items()]


BY_SCORE = "strategy.rescore=memory_score"
ROWS: Mapping[str, Sequence[str]] = {  # the others are as shipped
    "graph_follow": expansion(reserved=2),  # half of k
    # One memory per direct result; all of them in the order of the memory score
    "graph_expand, rescored": [*expansion(per_seed=1, threshold=0.1), BY_SCORE],
    # Two direct results, and two that they lead to, however little these resemble the question
    "graph_expand, halves": expansion(seeds=2, reserved=2, threshold=0.1),
    # In the order of the memory score, in which the graph outweighs the cosine
    "graph_expand, reweighted": [
        *(BY_SCORE, "strategy.weights.similarity=0.3", "strategy.weights.graph=0.4")
    ],
}


class Writer(Scripted):
    """Replies with the facts and relations of the turns that it is to read."""

    def __init__(self, language: str) -> None:
        super().__init__(entities=self._entities, relations=self._relations, facts=self._facts)
        self._second = language == "zh"
        self._said = {text: id_ for id_, text in turns(language).items()}

    def complete(self, messages: Sequence[Message], **form: Any) -> Completion:
        if "tools" not in form and "schema" not in form:
            return completion("A summary.", self.name)
        return super().complete(messages, **form)

    def _rows(self, table: Rows, prompt: str) -> list[tuple[int, str, Sequence[str]]]:
        """The number and the speaker of a turn, and a row of the table."""
        numbered = re.findall(
            r"^(\d+)\. (.+)$", prompt.rpartition("<new_messages>")[2], re.MULTILINE
        )
        return [
            (int(number), text.partition(": ")[0], row[len(row) // 2 :] if self._second else row)
            for number, text in numbered
            for row in table.get(self._said.get(text, ""), ())
        ]

    def _facts(self, prompt: str) -> list[Any]:
        rows = self._rows(FACTS, prompt)
        return [fact(row[1], speaker, n, title=row[0]) for n, speaker, row in rows]

    def _relations(self, prompt: str) -> list[Any]:
        return [relation(*row[:3], n) for n, _, row in self._rows(RELATIONS, prompt)]

    def _entities(self, prompt: str) -> list[Any]:
        rows = self._relations(prompt)
        return [entity(name) for row in rows for name in (row["source"], row["destination"])]


class Translated(Embedder):
    """Embeds each Chinese text and entity as the English one in its place: vectors of an embedder
    that understands Chinese as well as MiniLM understands English.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = f"{embedder.name}-translated"
        self.typical_similarity = embedder.typical_similarity
        self._embedder = embedder
        self._english = dict(zip(_texts("zh"), _texts("en"), strict=True))
        for row in chain.from_iterable(RELATIONS.values()):
            self._english |= {row[3]: row[0], row[5]: row[2]}
        for _, english, _, chinese in chain.from_iterable(FACTS.values()):
            self._english[chinese] = english

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        return self._embedder.embed([self._english.get(text, text) for text in texts])


def conversation(language: str) -> dict[str, Any]:
    """The conversation in the layout of LoCoMo."""
    (loaded,) = json.loads((DATA / f"{language}.json").read_text(encoding="utf-8"))
    return dict(loaded)


def turns(language: str) -> dict[str, str]:
    """What was said, by id."""
    sessions = conversation(language)["conversation"].values()
    said = [turn for one in sessions if isinstance(one, list) for turn in one]
    return {turn["dia_id"]: f"{turn['speaker']}: {turn['text']}" for turn in said}


def _texts(language: str) -> list[str]:
    return [*turns(language).values(), *(qa["question"] for qa in conversation(language)["qa"])]


@cache
def _config(row: str, *settings: str) -> DictConfig:
    name = row.partition(",")[0]
    config, _ = composed([f"strategy={name}", f"k={K}", *ROWS.get(row, ()), *settings])
    return config


@cache
def _cached(translated: bool, folder: Path) -> CachedEmbedder:
    """One cache for all strategies."""
    made: Embedder = instantiate(composed(["embedder=minilm"])[0].embedder)
    return CachedEmbedder(Translated(made) if translated else made, folder, Meter())


def found(
    row: str,
    language: str,
    folder: Path,
    *,
    translated: bool = False,
    llm: LLM | None = None,
    settings: Sequence[str] = (),
) -> list[str]:
    """The letters of what is retrieved for food and for the film, in the order of the letters."""
    config = _config(row, *settings)
    parts = Parts(
        **{name: instantiate(config[name]) for name in ("memory", "context", "index", "graph")},
        embedder=_cached(translated, folder),
        llm=llm,
    )
    strategy: Strategy = instantiate(config.strategy, _convert_="all")(parts=parts)
    data = LoCoMo(name="associations", path=str(DATA / f"{language}.json")).load()
    (talk,) = data.conversations
    for session in talk.sessions:
        strategy.ingest(session)
    results = []
    for question in data.questions:
        query = Query(question.id, question.text, talk.id, talk.sessions[-1].time)
        got = {turn for one in strategy.retrieve(query).candidates for turn in one.memory.turns}
        results.append("".join(LETTERS[turn] for turn in LETTERS if turn in got))
    food, film = results
    return ["".join(filter(food.__contains__, FOOD)), "".join(filter(film.__contains__, FILM))]


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
OVER_FACTS = {
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


@pytest.mark.parametrize("row", OVER_FACTS)
def test_over_the_facts_and_the_graph_that_a_model_writes(row, folder):
    assert written(row, folder, ["graph=relations", "memory=facts"]) == OVER_FACTS[row]


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
