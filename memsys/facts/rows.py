"""The form of an extraction's reply, and what of it holds good."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memsys.facts.base import Event, Fact, fault, plain
from memsys.facts.dates import resolve
from memsys.text.terms import terms
from memsys.text.turns import line
from memsys.types import Turn

Said = tuple[datetime, Turn]  # a turn and the time of its session
_EXAMPLE = re.compile(r"<example>(.*?)</example>", re.DOTALL)  # in a prompt of one's own
_SPEAKS = re.compile(r"^(?:\d+\. )?(\w[\w ]*): ", re.MULTILINE)
_LONGEST = {"title": 60, "content": 240, "when": 40, "speaker": 40}  # characters of a fact's parts
MOST = 3  # facts a message


def form(new: int, shown: int, most: int | None = None) -> dict[str, Any]:
    """The JSON schema of a reply on so many `new` of the `shown` messages, with `most` facts (None:
    three a message).

    Bounds are for servers that write by the schema: small models end neither a list nor a sentence
    by themselves.
    """
    number = {"type": "integer", "minimum": 1, "maximum": shown}
    sources = {"type": "array", "items": number, "maxItems": 4}
    # By a pattern: servers that write by a schema know it where they do not know maxLength.
    texts = {
        name: {"type": "string", "pattern": rf'^[^"\\\n]{{0,{longest}}}$'}
        for name, longest in _LONGEST.items()
    }
    fields = {**texts, "turns": sources}
    fact = _object(fields)
    return _object({"facts": {"type": "array", "items": fact, "maxItems": most or MOST * new}}) | {
        "title": "facts"
    }


def checked(
    rows: Sequence[Mapping[str, Any]],
    shown: Sequence[Said],
    prompt: str,
    summary: str,
    log: list[Event],
) -> Iterator[Fact]:
    """The facts of a reply's `rows` on the messages `shown`, each once; what is wrong with one goes
    into `log`. `prompt` is the template's text, whose examples are no facts.

    Raises KeyError, TypeError, ValueError or AttributeError on a row of another form.
    """
    examples = " ".join(_EXAMPLE.findall(prompt))
    heard = set(terms(" ".join([summary, *(line(turn) for _, turn in shown)])))
    said_by = {turn.speaker.casefold(): turn.speaker for _, turn in shown}
    known: set[str] = set()
    for row in rows:
        content = " ".join(row["content"].split())
        same = plain(content)
        if not same or same in known:
            continue
        known.add(same)
        if _echoes(content, examples, heard):
            log.append(fault("extract", "prompt_example", content))
            continue
        numbers = dict.fromkeys(int(n) for n in row["turns"])  # 1.0 is a whole number too
        sources = [shown[n - 1] for n in numbers if 1 <= n <= len(shown)]
        if len(sources) < max(len(numbers), 1):
            log.append(fault("extract", "unknown_turn", f"{content}: {list(numbers)}"))
        title = " ".join(row["title"].split())
        time, first = sources[0] if sources else shown[-1]
        yield Fact(
            title="" if _echoes(title, examples, heard) else title,
            content=content,
            event=resolve(row["when"], time.date()),
            speaker=said_by.get(row["speaker"].strip().casefold(), first.speaker),
            turns=tuple(turn.id for _, turn in sources),
        )


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _echoes(content: str, examples: str, heard: set[str]) -> bool:
    """Whether `content` repeats one of the prompt's `examples`, be it in distorted words, as small
    models do: it names somebody who speaks there and was not heard of, or half of its terms stand
    there and were not heard.
    """
    own = set(terms(content))
    borrowed = own.intersection(terms(examples)) - heard
    speakers = terms(" ".join(_SPEAKS.findall(examples)))
    return bool(borrowed.intersection(speakers)) or 2 * len(borrowed) >= max(len(own), 1)
