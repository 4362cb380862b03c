"""A scripted model that writes a graph and takes every branch, and a conversation for it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.eval.run.llm_runs.keeping import written
from tests.eval.run.llm_runs.served import Model, text_of
from tests.memsys.knowledge.relations.models import TOOLS, relation
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.faults import calls
from tests.memsys.llm.server import Behaviour

SAID = [
    ["I like badminton.", "I love pizza.", "Mind the gap."],
    ["I do not like badminton any more.", "I also like burgers."],
    [
        *("I bought a kite.", "I have an owl.", "I met a fox.", "I grew a fern."),
        *("I ate a fig.", "I saw a crab.", "I own 500 stamps.", "I keep a newt."),
    ],
    ["I swim.", "I play a lute.", "I like badminton again."],
]
Rows = list[dict[str, Any]]


def said_in(text: str) -> str:
    """The one message of an exchange."""
    material = text.rpartition("It never tells you what to do.")[2]  # behind the examples
    return re.findall(r"(?m)^1\. (?:Ada: )?(.+?)[.?]$", material)[0]


def object_of(said: str) -> str:
    """What Ada speaks of, one word."""
    return said.removesuffix(" any more").removesuffix(" again").split()[-1]


def entities(text: str) -> Rows | str | Behaviour:
    """Of every message its last word; some are refused, broken, or five hundred."""
    said = said_in(text)
    if said.startswith(("Does", "What", "Where")):
        return [{"entity": "badminton", "entity_type": "activity"}]
    planned: dict[str, Rows | str | Behaviour] = {
        "gap": [],
        "kite": '{"entities": [{"entity": "ki',
        "owl": faults.status(400, "no talk of owls"),
        "stamps": [{"entity": f"stamp {n}", "entity_type": "thing"} for n in range(500)],
    }
    found = [{"entity": object_of(said), "entity_type": "thing"}]
    return next((reply for word, reply in planned.items() if word in said), found)


def relations(text: str) -> Rows | str | Behaviour:
    said = said_in(text)
    name = " ".join(said.split()[1 : 3 if " not " not in said else 4]) or "is"
    right = relation("I", name.replace(object_of(said), "").strip() or "does", object_of(said))
    planned: dict[str, Rows | str | Behaviour] = {
        "fox": [right, relation("Ada", "rides", "dragon")],
        "fern": [{"source": "Ada", "relationship": "grew"}, right],
        "crab": faults.reset,
        "stamps": [relation("Ada", "owns", "stamp 3"), relation("Ada", "owns", "stamp 499")],
        "newt": [relation("Ada", "keeps", "newt", 9)],
    }
    return next((reply for word, reply in planned.items() if word in said), [right])


def conflicts(text: str) -> Rows | str | Behaviour:
    said = said_in(text)
    if "any more" in said or "again" in said:
        old = "likes? badminton" if "any more" in said else "do not like badminton"
        (number,) = re.findall(rf"(?m)^(\d+)\. Ada {old} \(stated ", text)
        return [{"relation": int(number), "why": "a change of mind"}]
    if "lute" in said:
        return [{"relation": 77, "why": "made up"}]
    if "swim" in said:
        return faults.says(None)
    return []


SCRIPT: dict[str, Callable[[str], Rows | str | Behaviour]] = {
    **{"entities": entities, "relations": relations, "conflicts": conflicts}
}


class GraphModel(Model):
    """Writes facts of nothing and the graph by SCRIPT."""

    def __call__(self, body: Body) -> Behaviour | None:
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        tool = body["tools"][0]["function"]["name"] if "tools" in body else None
        kind = TOOLS.get(str(tool), form)
        if kind == "facts":
            return faults.says('{"facts": []}')
        if kind not in SCRIPT:
            return faults.says("Ada talks.")
        reply = SCRIPT[kind](text_of(body))
        if callable(reply):
            return reply
        value = reply if isinstance(reply, str) else json.dumps({kind: reply})
        if tool is None:  # bound to the names it was shown, no server writes another
            return faults.says(value.replace('"I"', '"Ada"'))
        also = [("paint", "{}")] if said_in(text_of(body)) == "I ate a fig" else []
        return calls(*also, (tool, value))


def graph_talk(folder: Path) -> tuple[str, ...]:
    """Options for a conversation of four sessions with two questions."""
    asked = [("Does Ada like badminton?", "D2:1"), ("What did Ada meet?", "D3:3")]
    own = ("strategy=mem0_graph", "strategy.facts.exchange=1", "reader=extractive", "judge=none")
    return (*own, "k=9", "llm.retries=0", *written(folder, SAID, *asked))
