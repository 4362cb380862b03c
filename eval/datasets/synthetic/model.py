"""A model that knows the grammar of `dataset=synthetic` and extracts every fact it is asked for.

It sees only the prompts that write memories, as any model does: so all errors but its `misses` are
errors of the strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.languages import VISIT, WorldFact, parse_question
from eval.datasets.synthetic.reading import (
    MissingPartError,
    day_in,
    entities_of,
    messages,
    numbered,
    part,
    read,
    stated,
    triple,
)

Rows = list[dict[str, Any]]
_SUMMARY = "They tell each other of people, firms, towns and dishes."


class UnknownPromptError(Exception):
    """Raised for a prompt that this model cannot answer."""


def answer(step: str, prompt: str, misses: float = 0.0) -> str | Rows:
    """Return the reply to a `prompt` of `step`.

    The reply is a text for `summary`, else the rows of the requested list (`facts`, `operations`,
    `entities`, `relations`, `conflicts`). A share `misses` of the messages is overlooked, a
    different one in each step, but the same in all calls of a step.

    Raises UnknownPromptError if the prompt lacks a part or the step is unknown.
    """
    try:
        return _STEPS[step](prompt, misses)
    except (KeyError, MissingPartError) as error:
        raise UnknownPromptError(f"no prompt of {', '.join(_STEPS)}") from error


def _facts(prompt: str, misses: float) -> Rows:
    rows = []
    said = messages(part(prompt, "new_messages"), None)
    for message, language, fact in stated(said, "facts", misses):
        day = language.parse(fact.value) if fact.relation.startswith(VISIT) else None
        rows.append(
            {
                "title": fact.relation.split()[0],
                "content": language.restate(fact),
                "when": day.isoformat() if day else "",
                "speaker": message.speaker,
                "turns": [message.number],
            }
        )
    return rows


def _operations(prompt: str, misses: float) -> Rows:
    """Update the first fact with a replaced value; delete further ones."""
    del misses  # facts in the prompt cannot be overlooked
    facts = list(read(part(prompt, "new_fact"), date.max))
    rows: Rows = []
    for number, text in numbered(part(prompt, "stored_facts")):
        for _, old in read(text, date.max):
            for language, new in facts:
                if (old.subject, old.relation) != (new.subject, new.relation):
                    continue
                if old.value == new.value:
                    return [_operation("NOOP", why="known already")]
                kind, content = ("DELETE", "") if rows else ("UPDATE", language.restate(new))
                rows.append(_operation(kind, number, content, why="another value holds now"))
    return rows or [_operation("ADD", why="not known yet")]


def _operation(kind: str, number: int = 0, content: str = "", *, why: str) -> dict[str, Any]:
    return {"operation": kind, "id": number, "content": content, "why": why}


def _entities(prompt: str, misses: float) -> Rows:
    text = _material(prompt, "text")
    kinds: dict[str, str] = {}
    for _, line in numbered(text):
        if (question := parse_question(line)) is not None:
            subject, (first, *_), _ = question[1]
            kinds |= entities_of(WorldFact(subject, first, ""))
    said = day_in(prompt, r"The text is of (.+?)\.")
    if not kinds and (said is not None or text.startswith("[")):
        for _, _, fact in stated(messages(text, said), "entities", misses):
            kinds |= entities_of(fact)
    return [{"entity": name, "entity_type": kind} for name, kind in kinds.items()]


def _relations(prompt: str, misses: float) -> Rows:
    said = day_in(prompt, r"The messages are of (.+?)\.")
    return [
        {"source": source, "relationship": name, "destination": end, "turns": [message.number]}
        for message, language, fact in stated(
            messages(_material(prompt, "messages"), said), "relations", misses
        )
        for source, name, end in [triple(language, fact)]
    ]


def _material(prompt: str, name: str) -> str:
    """Return the messages of a prompt for the graph alone, or of one for facts and graph."""
    try:
        return part(prompt, name)
    except MissingPartError:
        return part(prompt, "new_messages")


def _conflicts(prompt: str, misses: float) -> Rows:
    del misses
    new = {(f.subject, f.relation): f.value for _, f in read(part(prompt, "new_relations"))}
    return [
        {"relation": number, "why": "another one holds now"}
        for number, text in numbered(part(prompt, "stored_relations"))
        for _, old in read(text.partition(" (stated ")[0])
        if new.get((old.subject, old.relation), old.value) != old.value
    ]


def _summary(prompt: str, misses: float) -> str:
    del misses
    part(prompt, "latest_conversation")
    return _SUMMARY


_STEPS: Final[Mapping[str, Callable[[str, float], str | Rows]]] = {
    "facts": _facts,
    "operations": _operations,
    "entities": _entities,
    "relations": _relations,
    "conflicts": _conflicts,
    "summary": _summary,
}
