"""Memories over a deterministic embedder, without a model unless one is scripted."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from memsys.core.types import Session
from memsys.graph.build import GraphSettings
from memsys.index.rank import IndexSettings
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.knowledge.facts.fact_writer import UpdateSettings
from memsys.knowledge.memory.turns import Turns
from memsys.service.memory import Memory
from memsys.service.setup import Relevance, Setup, StrategySetup
from tests.memsys.build import SESSIONS, BagOfWords

PROJECT = Path(__file__).parents[3]
GRAPH = GraphSettings(max_entities=1, max_share=0.5, keyword_weight=0, name_weight=0)


def setup(start: Any = None, **own: Any) -> Setup:
    """`start`: ranks by words (lexical) or both (hybrid); None: by vectors."""
    fields: dict[str, Any] = {
        "embedder": BagOfWords(),
        "index": IndexSettings(k1=0.9, b=0.4, alpha=0.5),
        "builder": Turns("turns"),
        "facts": ExtractSettings(
            prompt="facts_extract", summary_prompt="facts_summary", exchange=1, recent=4, retries=0
        ),
        "update": UpdateSettings(calls="tools", similar=3, prompt="mem0_update"),
    }
    if start is not None:
        fields["strategy"] = StrategySetup(partial(Relevance, k=None, start=start), GRAPH, "made")
    return Setup(**{**fields, **own})


def memory(folder: Path, **own: Any) -> Memory:
    return Memory(folder, setup(**own))


def said(text: str, id_: str = "D1:1", name: str = "Mara") -> dict[str, Any]:
    """A message."""
    return {"role": "user", "name": name, "content": text, "id": id_}


def messages(session: Session) -> list[dict[str, Any]]:
    """The turns of a session."""
    return [said(turn.text, turn.id, turn.speaker) for turn in session.turns]


def fill(store: Any) -> None:
    """The sessions of build.SESSIONS, as messages."""
    for session in SESSIONS:
        store.add(messages(session), user_id="talk", time=session.time)


def texts(found: Any) -> list[str]:
    """Of search results or records."""
    return [getattr(one, "record", one).memory for one in found]


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
