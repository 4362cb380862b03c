"""Entities and relations of an exchange: what a model is shown, what of its reply holds good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from memsys.context.base import stamp
from memsys.facts.base import Event, fault, plain
from memsys.llm.base import LLM, LLMError
from memsys.relations.base import Entity, Triple, is_self, shown
from memsys.relations.forms import (
    KINDS,
    LONGEST,
    ask,
    conflicts_form,
    entities_form,
    relations_form,
)
from memsys.relations.settings import GraphSettings
from memsys.text.terms import terms
from memsys.text.turns import line
from memsys.types import Turn

_ENDS = ("source", "destination")


class Extractor:
    """Asks a model for entities, for relations between them, and for those that ended.

    Every method raises LLMError without a reply, and gives None where nothing of the reply can be
    used; calls and faults go into `log`.
    """

    def __init__(self, llm: LLM, settings: GraphSettings) -> None:
        """Raises InputError where a prompt cannot be used."""
        self._llm, self._calls, self.prompts = llm, settings.calls, settings.prompts

    def entities(
        self, turns: Sequence[Turn], time: datetime, log: list[Event]
    ) -> list[Entity] | None:
        """What `turns` speak of, and then who speaks; nothing where they speak of nothing."""
        text = self.prompts["entities"].fill(messages=_numbered(turns), time=stamp(time))
        ids = [turn.id for turn in turns]
        rows = ask(self._llm, entities_form(len(turns)), text, self._calls, log, turns=ids)
        if rows is None:
            return None
        found = _named(rows, log)
        speakers = {plain(turn.speaker): Entity(turn.speaker, "person") for turn in turns}
        return [*({**found, **speakers}.values())] if rows else []

    def asked_for(self, question: str) -> list[str]:
        """Names of what `question` speaks of. Raises LLMError if the model does not say."""
        log: list[Event] = []
        text = self.prompts["entities"].fill(messages=f"1. {question}", time="an unknown day")
        rows = ask(self._llm, entities_form(1), text, self._calls, log)
        if rows is None:
            raise LLMError(f"{self._llm.name}: does not name a question's entities: {log[0]}")
        return [entity.name for entity in _named(rows, log).values()]

    def triples(
        self,
        turns: Sequence[Turn],
        time: datetime,
        entities: Sequence[Entity],
        log: list[Event],
    ) -> list[Triple] | None:
        """The relations that `turns` tell of, between `entities`."""
        names = [entity.name for entity in entities]
        messages = _numbered(turns)
        text = self.prompts["relations"].fill(
            messages=messages, entities="\n".join(f"- {name}" for name in names), time=stamp(time)
        )
        form = relations_form(len(turns), names if self._calls == "schema" else None)
        ids = [turn.id for turn in turns]
        rows = ask(self._llm, form, text, self._calls, log, turns=ids)
        if rows is None:
            return None
        known = {plain(entity.name): entity for entity in entities}
        return list(_triples(rows, turns, known, set(terms(messages)), log))

    def ended(
        self,
        turns: Sequence[Turn],
        time: datetime,
        stored: Sequence[str],
        new: Sequence[Triple],
        log: list[Event],
    ) -> dict[int, str] | None:
        """Rows of `stored`, relations as sentences, that do not hold any more by what `turns` say,
        and why. A number that was not shown is a fault and nothing else.
        """
        text = self.prompts["conflicts"].fill(
            messages=_numbered(turns),
            stored="\n".join(f"{n}. {one}" for n, one in enumerate(stored, 1)),
            new="\n".join(f"- {one.text}" for one in new) or "(none)",
            time=stamp(time),
        )
        ids = [turn.id for turn in turns]
        rows = ask(self._llm, conflicts_form(len(stored)), text, self._calls, log, turns=ids)
        if rows is None:
            return None
        found: dict[int, str] = {}
        for row in rows:
            number = int(row["relation"])
            if 1 <= number <= len(stored):
                found.setdefault(number - 1, row["why"])
            else:
                log.append(fault("conflicts", "unknown_relation", f"{number} of {len(stored)}"))
        return found


def _numbered(turns: Sequence[Turn]) -> str:
    return "\n".join(f"{number}. {line(turn)}" for number, turn in enumerate(turns, 1))


def _named(rows: Sequence[Mapping[str, Any]], log: list[Event]) -> dict[str, Entity]:
    """Each name once; who speaks is no find."""
    found: dict[str, Entity] = {}
    for row in rows:
        name, kind = shown(row["name"]), row["type"].strip().casefold()
        if not plain(name) or len(name) > LONGEST:
            log.append(fault("entities", "bad_argument", f"{name!r} is no name"))
        elif not is_self(name):
            found.setdefault(plain(name), Entity(name, kind if kind in KINDS else "other"))
    return found


def _triples(
    rows: Sequence[Mapping[str, Any]],
    turns: Sequence[Turn],
    known: Mapping[str, Entity],
    heard: set[str],
    log: list[Event],
) -> Iterator[Triple]:
    """The relations of `rows`, each once, resting on all turns that are named for it."""
    found: dict[tuple[str, str, str], Triple] = {}
    for row in rows:
        told = f"{row['source']} - {row['relation']} - {row['destination']}"
        numbers = dict.fromkeys(int(number) for number in row["turns"])
        said = [turns[number - 1] for number in numbers if 1 <= number <= len(turns)]
        if len(said) < max(len(numbers), 1):
            log.append(fault("relations", "unknown_turn", f"{told}: {list(numbers)}"))
        speakers = {turn.speaker for turn in said or turns}
        ends = [_end(row[end], speakers, known, heard, told, log) for end in _ENDS]
        name = shown(row["relation"]).casefold()
        source, destination = ends
        if source is None or destination is None:
            continue
        if source == destination or not plain(name) or len(name) > LONGEST:
            log.append(
                fault("relations", "bad_argument", f"{told}: needs a short name and two ends")
            )
            continue
        key = plain(source.name), name, plain(destination.name)
        before = found[key].turns if key in found else ()
        ids = tuple(dict.fromkeys((*before, *(turn.id for turn in said))))
        found[key] = Triple(source, name, destination, ids)
    yield from found.values()


def _end(
    name: str,
    speakers: set[str],
    known: Mapping[str, Entity],
    heard: set[str],
    told: str,
    log: list[Event],
) -> Entity | None:
    """The entity that `name` is. One that was not extracted is added where the messages name it:
    the first call overlooked it. What they do not name is made up.
    """
    if is_self(name):
        if len(speakers) == 1:
            return Entity(min(speakers), "person")
        log.append(fault("relations", "unknown_speaker", told))
        return None
    if plain(name) in known:
        return known[plain(name)]
    own = set(terms(shown(name)))
    if own and own <= heard:
        log.append(fault("relations", "unlisted_entity", f"{told}: {name} is added"))
        return Entity(shown(name), "other")
    log.append(fault("relations", "unknown_entity", f"{told}: {name}"))
    return None
