"""Answers to libraries that store memories as texts. Where a prompt has no time, relative days
remain as stated.
"""

import json
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final, NamedTuple

from eval.datasets.synthetic.languages import LANGUAGES, VISIT
from eval.datasets.synthetic.reading import (
    ANY_DAY,
    PROMPTS,
    Message,
    Request,
    Stated,
    calling,
    entities_asked_for,
    entities_of,
    json_message,
    read,
)

_LANGMEM: Final = {name: re.compile(pattern) for name, pattern in PROMPTS["langmem"].items()}


class _Fact(NamedTuple):
    key: tuple[str, str]  # subject and relation
    value: str
    words: str  # the fact as a sentence


def langmem(asked: Request) -> Message | None:
    """Return the answer to a request of langmem 0.0.30's memory manager, else None. The prompt has
    messages, similar stored memories, and tools that create a memory or patch one.

    Patches each stored memory of a changed fact and creates one of each new fact. If nothing
    changes but a tool call is required, returns a patch without edits.
    """
    session = _LANGMEM["session"].search(asked.contents[-1])
    if "Memory" not in asked.tools or session is None:
        return None
    shown = _LANGMEM["stored"].findall(asked.contents[0])  # memories are Python literals
    stored = [(name, fact) for name, row in shown for fact in _facts(literal_eval(row)["content"])]
    messages = asked.noticed(session[2], "langmem")
    latest = {fact.key: fact for message in messages for fact in _facts(message.text)}
    calls: list[tuple[str, dict[str, Any]]] = []
    for new in latest.values():
        old = [(name, fact) for name, fact in stored if fact.key == new.key]
        if not old:
            calls.append(("Memory", {"content": new.words}))
        edit = {"op": "replace", "path": "/content", "value": new.words}
        calls += [_patch(name, [edit]) for name, fact in old if fact.value != new.value]
    if not calls and shown and asked.body.get("tool_choice") == "required":
        calls = [_patch(shown[0][0], [])]
    return calling(calls, "Nothing new.")


def _patch(name: str, edits: list[dict[str, str]]) -> tuple[str, dict[str, Any]]:
    why = "another value holds now" if edits else "nothing new"
    return "PatchDoc", {"json_doc_id": name, "planned_edits": why, "patches": edits}


def _facts(text: str) -> Iterator[_Fact]:
    """Yield the facts in `text`; a visit's key includes its day, so only equal words are equal."""
    for stated in read(text, ANY_DAY):
        if not stated.fact.place:
            yield _Fact(stated.fact.key, stated.fact.value, stated.sentence)
    for language in LANGUAGES.values():
        for match in re.finditer(language.visit.format(**language.patterns), text):
            key = match["s"], f"{VISIT}{match['v']} {match['d']}"
            yield _Fact(key, match["d"], language.frames[0].format(match[0]))


_INSERT: Final = "archival_memory_insert"


def letta(asked: Request) -> Message | None:
    """Return the answer to a request of a Letta 0.16 agent that can insert into its archive, else
    None.

    The agent inserts the facts of the last user message, one per step, in their own words: its
    request says neither the day of the session nor what the archive contains.
    """
    if _INSERT not in asked.tools:
        return None
    messages = [message for message in asked.body["messages"] if message["role"] != "system"]
    last = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=0)
    calls = [call for message in messages[last:] for call in message.get("tool_calls") or ()]
    inserted = {json.loads(call["function"]["arguments"])["content"] for call in calls}
    for message, _ in asked.stated(str(messages[last]["content"]), "letta"):
        if message.text not in inserted:
            answer = calling([(_INSERT, {"content": message.text})], "")
            answer["tool_calls"][0]["id"] = f"call_{len(messages)}"  # the library merges equal ids
            return answer
    return calling([], "Noted.")


Rows = list[dict[str, Any]]
_MEM0AI: Final = {name: re.compile(pattern) for name, pattern in PROMPTS["mem0ai"].items()}


def mem0ai(asked: Request) -> Message | None:
    """Return the answer to a request of mem0ai, else None. Version 1 asks for facts, operations on
    them, entities and relations; version 2 asks once per exchange, for new memories only.

    In version 1, a new value replaces the former one in facts and graph. Both are written by
    separate calls, which overlook messages independently.
    """
    contents, last = asked.contents, asked.contents[-1]
    parts = (section.partition("\n") for section in _MEM0AI["section"].split(last)[1:])
    sections = {name: text.strip() for name, _, text in parts}
    if {"Existing Memories", "New Messages", "Observation Date"} <= sections.keys():
        return json_message({"memory": list(_added(asked, sections))})
    if len(contents) > 1:  # memsys offers tools of the same names, in one message
        for name in asked.tools:
            if name in _TOOLS:
                return _TOOLS[name](asked, last)
    today = _MEM0AI["today"].search(contents[0])
    if today is not None and last.startswith("Input:\n"):
        facts = _stated(asked, last, "facts", date.fromisoformat(today[1]))
        return json_message({"facts": list(dict.fromkeys(stated.sentence for stated in facts))})
    if "retrieved facts" in last and (lists := _MEM0AI["list"].findall(last)):
        *shown, new = map(literal_eval, lists)
        return json_message({"memory": _memories(shown[0] if shown else [], new)})
    return None


def _added(asked: Request, sections: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the memories that version 2 adds: facts of the new messages that none contains. Each
    links to the memories with the same subject.
    """
    shown = json.loads(sections["Existing Memories"])
    stored = [(row["id"], fact) for row in shown for _, fact in read(row["text"])]
    day = date.fromisoformat(sections["Observation Date"])
    facts = {fact for _, fact in stored}
    pairs = asked.stated(_MEM0AI["role"].sub("", sections["New Messages"]), "mem0ai", day)
    new = {stated.fact: stated for _, stated in pairs if stated.fact not in facts}
    for number, stated in enumerate(new.values()):
        linked = dict.fromkeys(name for name, old in stored if old.subject == stated.fact.subject)
        row = {"id": str(number), "text": stated.sentence}
        yield row | {"attributed_to": "user", "linked_memory_ids": list(linked)}


def _stated(asked: Request, text: str, step: str, day: date = date.max) -> Iterator[Stated]:
    """Yield the facts in lines such as `user: Ada: content`, with or without the role."""
    for _, stated in asked.stated(_MEM0AI["role"].sub("", text), f"mem0ai_graph/{step}", day):
        yield stated


def _memories(shown: Rows, new: list[str]) -> Rows:
    """Return all memories with their events. If several shown memories have former values of a
    fact, the first is updated and the others are deleted.
    """
    latest = {stated.fact.key: stated for text in new for stated in read(text)}
    old = [[stated.fact for stated in read(row["text"])] for row in shown]
    current = {stated.fact for stated in latest.values()}
    placed = {fact.key for facts in old for fact in facts if fact in current}
    rows: Rows = []
    for row, facts in zip(shown, old, strict=True):
        rows.append({"id": row["id"], "text": row["text"], "event": "NONE"})
        for fact in facts:
            if fact.key not in latest or fact in current:
                continue
            if fact.key in placed:
                rows[-1]["event"] = "DELETE"
            else:
                placed.add(fact.key)
                text = latest[fact.key].sentence
                rows[-1] |= {"text": text, "event": "UPDATE", "old_memory": row["text"]}
    for key, stated in latest.items():
        if key not in placed:
            rows.append({"id": str(len(rows)), "text": stated.sentence, "event": "ADD"})
    return rows


def _entities(asked: Request, text: str) -> Message:
    kinds = entities_asked_for(text)
    for stated in _stated(asked, text, "entities"):
        kinds |= entities_of(stated.fact)
    rows = [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]
    return calling([("extract_entities", {"entities": rows})], "")


def _relations(asked: Request, text: str) -> Message:
    stated = _stated(asked, text.partition("Text: ")[2], "relations")
    rows = [dict(zip(_ENDS, fact.triple, strict=True)) for fact in stated]
    return calling([("establish_relationships", {"entities": rows})], "")


def _outdated(asked: Request, text: str) -> Message:
    """Return the stored relations, in the library's spelling, that a new one replaces."""
    stored, _, new = text.partition("New Information: ")
    ends: dict[tuple[str, ...], str] = {}
    for stated in _stated(asked, new, "outdated"):
        if not stated.fact.place:
            *start, end = (name.lower().replace(" ", "_") for name in stated.triple)
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
