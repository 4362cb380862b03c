"""Answers to mem0ai 1: facts, operations on stored facts, entities and relations."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.language import VISIT, WorldFact
from eval.datasets.synthetic.languages import parse_question
from eval.datasets.synthetic.libraries.mem0ai import as_message, messages
from eval.datasets.synthetic.reading import entities_of, noticed, read, triple

Rows = list[dict[str, str]]
_TODAY: Final = re.compile(r"Today's date is (\d{4}-\d\d-\d\d)")
_LIST: Final = re.compile(r"```\s*(\[.*?\])\s*```", re.DOTALL)


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    A new value replaces the former one in facts and graph. Both are written by separate calls,
    which overlook messages independently.
    """
    contents = [str(message["content"]) for message in body["messages"]]
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    for name in tools & _TOOLS.keys():
        return _TOOLS[name](contents[-1], misses)
    today = _TODAY.search(contents[0])
    if today is not None and contents[-1].startswith("Input:\n"):
        return _facts(contents[-1], date.fromisoformat(today[1]), misses)
    if "retrieved facts" in contents[-1] and (lists := _LIST.findall(contents[-1])):
        *shown, new = map(ast.literal_eval, lists)
        return as_message({"memory": _memories(shown[0] if shown else [], new)})
    return None


def _facts(text: str, day: date, misses: float) -> dict[str, Any]:
    said = noticed(messages(text, day), "mem0ai_graph/facts", misses)
    sentences = [language.restate(fact) for one in said for language, fact in read(one.text, day)]
    return as_message({"facts": list(dict.fromkeys(sentences))})


def _memories(shown: Rows, new: list[str]) -> Rows:
    """Return all memories with their events. If several shown memories have former values of a
    fact, the first is updated and the others are deleted.
    """
    latest = {_key(f): (f.value, words.restate(f)) for text in new for words, f in read(text)}
    old = [[fact for _, fact in read(row["text"])] for row in shown]
    placed = {_key(f) for facts in old for f in facts if f.value == latest.get(_key(f), ("",))[0]}
    rows: Rows = []
    for row, facts in zip(shown, old, strict=True):
        rows.append({"id": row["id"], "text": row["text"], "event": "NONE"})
        for fact in facts:
            value, text = latest.get(_key(fact), (fact.value, ""))
            if value == fact.value:
                continue
            if _key(fact) in placed:
                rows[-1]["event"] = "DELETE"
            else:
                placed.add(_key(fact))
                rows[-1] |= {"text": text, "event": "UPDATE", "old_memory": row["text"]}
    for key, (_, text) in latest.items():
        if key not in placed:
            rows.append({"id": str(len(rows)), "text": text, "event": "ADD"})
    return rows


def _key(fact: WorldFact) -> tuple[str, str]:
    return fact.subject, fact.relation


def _entities(text: str, misses: float) -> dict[str, Any]:
    """Return the entities of messages, or of a question."""
    kinds: dict[str, str] = {}
    if (question := parse_question(text)) is not None:
        subject, (first, *_), _ = question[1]
        kinds |= entities_of(WorldFact(subject, first, ""))
    for one in noticed(messages(text, date.max), "mem0ai_graph/entities", misses):
        for _, fact in read(one.text):
            kinds |= entities_of(fact)
    rows = [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]
    return _called(("extract_entities", {"entities": rows}))


def _relations(text: str, misses: float) -> dict[str, Any]:
    rows = _triples(text.partition("Text: ")[2], "relations", misses)
    return _called(("establish_relationships", {"entities": rows}))


def _outdated(text: str, misses: float) -> dict[str, Any]:
    """Return the stored relations, in the library's spelling, that a new one replaces."""
    stored, _, new = text.partition("New Information: ")
    destinations = {
        (_spelt(row["source"]), _spelt(row["relationship"])): _spelt(row["destination"])
        for row in _triples(new, "outdated", misses, visits=False)
    }
    rows = dict.fromkeys(re.findall(r"(\S+) -- (\S+) -- (\S+)", stored))
    return _called(
        *(
            ("delete_graph_memory", {"source": source, "relationship": name, "destination": end})
            for source, name, end in rows
            if destinations.get((source, name), end) != end
        )
    )


def _triples(text: str, step: str, misses: float, visits: bool = True) -> Rows:
    rows = []
    for one in noticed(messages(text, date.max), f"mem0ai_graph/{step}", misses):
        for language, fact in read(one.text):
            if visits or not fact.relation.startswith(VISIT):
                names = ("source", "relationship", "destination")
                rows.append(dict(zip(names, triple(language, fact), strict=True)))
    return rows


def _spelt(name: str) -> str:
    return name.lower().replace(" ", "_")


def _called(*made: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a message that calls tools, or one that says that nothing has changed."""
    if not made:
        return {"role": "assistant", "content": "Nothing has changed."}
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given, ensure_ascii=False)},
        }
        for number, (name, given) in enumerate(made)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


_TOOLS: Final[Mapping[str, Callable[[str, float], dict[str, Any]]]] = {
    "extract_entities": _entities,
    "establish_relationships": _relations,
    "delete_graph_memory": _outdated,
}
