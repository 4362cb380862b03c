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

from eval.datasets.synthetic.reading import (
    Message,
    Request,
    Stated,
    calling,
    entities_asked_for,
    entities_of,
    json_message,
    read,
)

Rows = list[dict[str, Any]]
_TODAY: Final = re.compile(r"Today's date is (\d{4}-\d\d-\d\d)")
_LIST: Final = re.compile(r"```\s*(\[.*?\])\s*```", re.DOTALL)
_ROLE: Final = re.compile(r"^(?:user|assistant|system): ", re.MULTILINE)
_SECTION: Final = re.compile(r"^## ", re.MULTILINE)


def mem0ai(asked: Request) -> Message | None:
    """Return the answer to a request of the library, else None.

    In version 1, a new value replaces the former one in facts and graph. Both are written by
    separate calls, which overlook messages independently.
    """
    contents, last = asked.contents, asked.contents[-1]
    parts = (one.partition("\n") for one in _SECTION.split(last)[1:])
    sections = {name: text.strip() for name, _, text in parts}
    if {"Existing Memories", "New Messages", "Observation Date"} <= sections.keys():
        return json_message({"memory": list(_added(asked, sections))})
    if len(contents) > 1:  # memsys offers tools of the same names, in one message
        for name in asked.tools:
            if name in _TOOLS:
                return _TOOLS[name](asked, last)
    today = _TODAY.search(contents[0])
    if today is not None and last.startswith("Input:\n"):
        facts = _stated(asked, last, "facts", date.fromisoformat(today[1]))
        return json_message({"facts": list(dict.fromkeys(one.sentence for one in facts))})
    if "retrieved facts" in last and (lists := _LIST.findall(last)):
        *shown, new = map(ast.literal_eval, lists)
        return json_message({"memory": _memories(shown[0] if shown else [], new)})
    return None


def _added(asked: Request, sections: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the memories that version 2 adds: facts of the new messages that none contains. Each
    links to the memories with the same subject.
    """
    shown = json.loads(sections["Existing Memories"])
    known = [(row["id"], fact) for row in shown for _, fact in read(row["text"])]
    day = date.fromisoformat(sections["Observation Date"])
    facts = {fact for _, fact in known}
    said = _ROLE.sub("", sections["New Messages"])
    new = {one.fact: one for _, one in asked.stated(said, "mem0ai", day) if one.fact not in facts}
    for number, one in enumerate(new.values()):
        linked = dict.fromkeys(name for name, old in known if old.subject == one.fact.subject)
        row = {"id": str(number), "text": one.sentence}
        yield row | {"attributed_to": "user", "linked_memory_ids": list(linked)}


def _stated(asked: Request, text: str, step: str, day: date = date.max) -> Iterator[Stated]:
    """Yield the facts in lines such as `user: Ada: content`, with or without the role."""
    for _, one in asked.stated(_ROLE.sub("", text), f"mem0ai_graph/{step}", day):
        yield one


def _memories(shown: Rows, new: list[str]) -> Rows:
    """Return all memories with their events. If several shown memories have former values of a
    fact, the first is updated and the others are deleted.
    """
    latest = {one.fact.key: one for text in new for one in read(text)}
    old = [[one.fact for one in read(row["text"])] for row in shown]
    stated = {one.fact for one in latest.values()}
    placed = {fact.key for facts in old for fact in facts if fact in stated}
    rows: Rows = []
    for row, facts in zip(shown, old, strict=True):
        rows.append({"id": row["id"], "text": row["text"], "event": "NONE"})
        for fact in facts:
            if fact.key not in latest or fact in stated:
                continue
            if fact.key in placed:
                rows[-1]["event"] = "DELETE"
            else:
                placed.add(fact.key)
                text = latest[fact.key].sentence
                rows[-1] |= {"text": text, "event": "UPDATE", "old_memory": row["text"]}
    for key, one in latest.items():
        if key not in placed:
            rows.append({"id": str(len(rows)), "text": one.sentence, "event": "ADD"})
    return rows


def _entities(asked: Request, text: str) -> Message:
    kinds = entities_asked_for(text)
    for one in _stated(asked, text, "entities"):
        kinds |= entities_of(one.fact)
    rows = [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]
    return calling([("extract_entities", {"entities": rows})], "")


def _relations(asked: Request, text: str) -> Message:
    stated = _stated(asked, text.partition("Text: ")[2], "relations")
    rows = [dict(zip(_ENDS, one.triple, strict=True)) for one in stated]
    return calling([("establish_relationships", {"entities": rows})], "")


def _outdated(asked: Request, text: str) -> Message:
    """Return the stored relations, in the library's spelling, that a new one replaces."""
    stored, _, new = text.partition("New Information: ")
    ends: dict[tuple[str, ...], str] = {}
    for one in _stated(asked, new, "outdated"):
        if not one.fact.place:
            *start, end = (name.lower().replace(" ", "_") for name in one.triple)
            ends[tuple(start)] = end
    calls = [
        ("delete_graph_memory", dict(zip(_ENDS, row, strict=True)))
        for row in dict.fromkeys(re.findall(r"(\S+) -- (\S+) -- (\S+)", stored))
        if ends.get(row[:2], row[2]) != row[2]
    ]
    return calling(calls, "Nothing has changed.")


_ENDS: Final = ("source", "relationship", "destination")
_TOOLS: Final[Mapping[str, Callable[[Request, str], Message]]] = {
    "extract_entities": _entities,
    "establish_relationships": _relations,
    "delete_graph_memory": _outdated,
}
