"""A model that knows the grammar of `dataset=synthetic`: what it is asked to remember, it does.

It is given the prompts by which memories are written and nothing else, as any model is: what a
strategy makes of its answers is the strategy's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from eval.datasets.synthetic.language import VISIT, Fact
from eval.datasets.synthetic.languages import asked
from eval.datasets.synthetic.reading import (
    NoPlaceError,
    day_in,
    ends,
    heard,
    messages,
    numbered,
    part,
    read,
    triple,
)

Rows = list[dict[str, Any]]
_SUMMARY = "They tell each other of people, firms, towns and dishes."


class UnknownPromptError(Exception):
    """A prompt that this model has no answer to."""


def answer(step: str, prompt: str, misses: float = 0.0) -> str | Rows:
    """The reply to a `prompt` of `step`: a text for `summary`, else the rows of the list that was
    asked for (`facts`, `operations`, `entities`, `relations`, `conflicts`). It overlooks a share
    `misses` of the messages, in each step others, but in a step always the same.

    Raises UnknownPromptError.
    """
    unknown = UnknownPromptError(f"no prompt of {', '.join(_STEPS)}")
    if step not in _STEPS:
        raise unknown
    try:
        return _STEPS[step](prompt, misses)
    except NoPlaceError as error:
        raise unknown from error


def _facts(prompt: str, misses: float) -> Rows:
    rows = []
    for message in heard(messages(part(prompt, "new_messages"), None), "facts", misses):
        for language, fact in read(message.text, message.day):
            visit = fact.relation.startswith(VISIT)
            day = language.parse(fact.value) if visit else None
            rows.append(
                {
                    "title": fact.relation.split()[0],
                    "content": language.stated(fact),
                    "when": day.isoformat() if day else "",
                    "speaker": message.speaker,
                    "turns": [message.number],
                }
            )
    return rows


def _operations(prompt: str, misses: float) -> Rows:
    """What replaces a value updates it; further facts of the same kind, if any, are dropped."""
    del misses  # who is shown a fact has it before him
    facts = list(read(part(prompt, "new_fact"), date.max))
    rows: Rows = []
    for number, text in numbered(part(prompt, "stored_facts")):
        for _, old in read(text, date.max):
            for language, new in facts:
                if (old.subject, old.relation) != (new.subject, new.relation):
                    continue
                if old.value == new.value:
                    return [_operation("NOOP", why="known already")]
                if rows:
                    rows.append(_operation("DELETE", number, why="another value holds now"))
                else:
                    content, why = language.stated(new), "another value holds now"
                    rows.append(_operation("UPDATE", number, content, why))
    return rows or [_operation("ADD", why="not known yet")]


def _operation(kind: str, number: int = 0, content: str = "", why: str = "") -> dict[str, Any]:
    return {"operation": kind, "id": number, "content": content, "why": why}


def _entities(prompt: str, misses: float) -> Rows:
    """Of messages, or of a question."""
    text = part(prompt, "text")
    found: dict[str, str] = {}
    for _, line in numbered(text):
        if (question := asked(line)) is not None:
            subject, (first, *_), _ = question[1]
            found |= ends(Fact(subject, first, ""))
    said = day_in(prompt, r"The text is of (.+?)\.")
    if not found and said is not None:
        for message in heard(messages(text, said), "entities", misses):
            for _, fact in read(message.text, said):
                found |= ends(fact)
    return [{"name": name, "type": kind} for name, kind in found.items()]


def _relations(prompt: str, misses: float) -> Rows:
    said = day_in(prompt, r"The messages are of (.+?)\.")
    return [
        {"source": source, "relation": name, "destination": end, "turns": [message.number]}
        for message in heard(messages(part(prompt, "messages"), said), "relations", misses)
        for language, fact in read(message.text, message.day)
        for source, name, end in [triple(language, fact)]
    ]


def _conflicts(prompt: str, misses: float) -> Rows:
    """Stored relations that a new one puts another end in the place of."""
    del misses
    new = {(f.subject, f.relation): f.value for _, f in read(part(prompt, "new_relations"))}
    return [
        {"relation": number, "why": "another one holds now"}
        for number, text in numbered(part(prompt, "stored_relations"))
        for _, old in read(text)
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
