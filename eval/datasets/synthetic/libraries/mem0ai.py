"""Answers to the prompts of mem0ai. Version 1 asks for facts, operations on them, entities and
relations; version 2 asks once per exchange, for new memories only.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.languages import VISIT, WorldFact, parse_question
from eval.datasets.synthetic.reading import (
    PromptMessage,
    calling,
    contents_of,
    entities_of,
    json_message,
    lines_as_messages,
    read,
    stated,
    tool_names,
    triple,
)

Rows = list[dict[str, str]]
_TODAY: Final = re.compile(r"Today's date is (\d{4}-\d\d-\d\d)")
_LIST: Final = re.compile(r"```\s*(\[.*?\])\s*```", re.DOTALL)
_ROLE: Final = re.compile(r"(?:user|assistant|system): ")


def mem0ai(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    In version 1, a new value replaces the former one in facts and graph. Both are written by
    separate calls, which overlook messages independently.
    """
    if (added := _added(body, misses)) is not None:
        return added
    contents = contents_of(body)
    if len(contents) > 1:  # memsys offers tools of the same names, in one message
        for name in _TOOLS.keys() & tool_names(body):
            return _TOOLS[name](contents[-1], misses)
    today = _TODAY.search(contents[0])
    if today is not None and contents[-1].startswith("Input:\n"):
        return _facts(contents[-1], date.fromisoformat(today[1]), misses)
    if "retrieved facts" in contents[-1] and (lists := _LIST.findall(contents[-1])):
        *shown, new = map(ast.literal_eval, lists)
        return json_message({"memory": _memories(shown[0] if shown else [], new)})
    return None


def _added(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer of version 2, or None: facts of the new messages that no memory contains.

    Each links to the memories with the same subject.
    """
    parts = _sections(str(body["messages"][-1]["content"]))
    if not {"Existing Memories", "New Messages", "Observation Date"} <= parts.keys():
        return None
    day = date.fromisoformat(parts["Observation Date"])
    shown = json.loads(parts["Existing Memories"])
    known = [(row["id"], fact) for row in shown for _, fact in read(row["text"])]
    facts = {fact for _, fact in known}
    rows: list[dict[str, Any]] = []
    said = _messages(parts["New Messages"], day)
    for _, language, fact in stated(said, "mem0ai", misses):
        if fact not in facts:
            facts.add(fact)
            linked = dict.fromkeys(name for name, old in known if old.subject == fact.subject)
            row = {"id": str(len(rows)), "text": language.restate(fact)}
            rows.append(row | {"attributed_to": "user", "linked_memory_ids": list(linked)})
    return json_message({"memory": rows})


def _messages(text: str, day: date) -> Iterator[PromptMessage]:
    """Yield the lines `user: Ada: content`, with or without the role, as messages."""
    return lines_as_messages(
        "\n".join(_ROLE.sub("", line, count=1) for line in text.splitlines()), day
    )


def _sections(prompt: str) -> dict[str, str]:
    _, *rest = re.split(r"^## ", prompt, flags=re.MULTILINE)
    parts = (one.partition("\n") for one in rest)
    return {name: text.strip() for name, _, text in parts}


def _facts(text: str, day: date, misses: float) -> dict[str, Any]:
    facts = stated(_messages(text, day), "mem0ai_graph/facts", misses)
    sentences = [language.restate(fact) for _, language, fact in facts]
    return json_message({"facts": list(dict.fromkeys(sentences))})


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
    kinds: dict[str, str] = {}
    if (question := parse_question(text)) is not None:
        subject, (first, *_), _ = question[1]
        kinds |= entities_of(WorldFact(subject, first, ""))
    for _, _, fact in stated(_messages(text, date.max), "mem0ai_graph/entities", misses):
        kinds |= entities_of(fact)
    rows = [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]
    return calling([("extract_entities", {"entities": rows})], "")


def _relations(text: str, misses: float) -> dict[str, Any]:
    rows = _triples(text.partition("Text: ")[2], "relations", misses)
    return calling([("establish_relationships", {"entities": rows})], "")


def _outdated(text: str, misses: float) -> dict[str, Any]:
    """Return the stored relations, in the library's spelling, that a new one replaces."""
    stored, _, new = text.partition("New Information: ")
    destinations = {
        (_spelt(row["source"]), _spelt(row["relationship"])): _spelt(row["destination"])
        for row in _triples(new, "outdated", misses, visits=False)
    }
    rows = dict.fromkeys(re.findall(r"(\S+) -- (\S+) -- (\S+)", stored))
    return calling(
        (
            ("delete_graph_memory", {"source": source, "relationship": name, "destination": end})
            for source, name, end in rows
            if destinations.get((source, name), end) != end
        ),
        "Nothing has changed.",
    )


def _triples(text: str, step: str, misses: float, visits: bool = True) -> Rows:
    rows = []
    said = _messages(text, date.max)
    for _, language, fact in stated(said, f"mem0ai_graph/{step}", misses):
        if visits or not fact.relation.startswith(VISIT):
            names = ("source", "relationship", "destination")
            rows.append(dict(zip(names, triple(language, fact), strict=True)))
    return rows


def _spelt(name: str) -> str:
    return name.lower().replace(" ", "_")


_TOOLS: Final[Mapping[str, Callable[[str, float], dict[str, Any]]]] = {
    "extract_entities": _entities,
    "establish_relationships": _relations,
    "delete_graph_memory": _outdated,
}
