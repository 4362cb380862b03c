"""Extraction of entities and relations: the model's input, and the check of its reply."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memsys.context.writers import stamp
from memsys.core.terms import terms
from memsys.core.turns import line
from memsys.core.types import Turn
from memsys.knowledge.facts.fact import Event, fault, plain
from memsys.knowledge.relations.forms import (
    LONGEST,
    Form,
    RelationGraphSettings,
    ask,
    checked,
    conflicts_form,
    entities_form,
    relations_form,
    reply_forms,
)
from memsys.knowledge.relations.triples import Entity, Triple, is_self, names_self, shown
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import load_prompt

Rows = Sequence[Mapping[str, Any]]  # of a form, as a model filled it in


class RelationExtractor:
    """Asks a model for entities, for relations between them, and for relations that ended. Every
    method raises LLMError without a reply, and returns None if nothing of the reply can be used;
    calls and faults are logged.

    `self_name` is the user whose memory it is, if any: the speaker of messages without a name (of
    the role `user`), and anyone who says "I" where that could be several people.
    """

    def __init__(
        self, llm: LLM, settings: RelationGraphSettings, self_name: str | None = None
    ) -> None:
        """Raises InputError if a prompt cannot be used."""
        self._llm, self._calls, self.prompts = llm, settings.calls, settings.prompts
        self._self_name = self_name

    def entities(
        self, turns: Sequence[Turn], time: datetime, log: list[Event]
    ) -> list[Entity] | None:
        """Return the entities that `turns` mention, then the speakers; [] if they mention none."""
        rows = self._ask(entities_form(len(turns)), turns, time, log)
        return None if rows is None else self.entities_of(rows, turns, log)

    def question_entities(self, question: str) -> list[str]:
        """Return the entity names in `question`. Raises LLMError without a usable reply."""
        log: list[Event] = []
        text = self.prompts["entities"].fill(messages=f"1. {question}", time="an unknown day")
        rows = ask(self._llm, entities_form(1), text, self._calls, log)
        if rows is None:
            raise LLMError(f"{self._llm.name}: does not name a question's entities: {log[0]}")
        return [entity.name for entity in _entities_by_name(rows, log).values()]

    def self_names(self, question: str) -> list[str]:
        """Return the user's name if there is one and `question` is about "me", else []."""
        name = self._self_name
        return [] if name is None or not names_self(question) else [name]

    def triples(
        self,
        turns: Sequence[Turn],
        time: datetime,
        entities: Sequence[Entity],
        log: list[Event],
    ) -> list[Triple] | None:
        """Return the relations between `entities` that `turns` state."""
        names = [entity.name for entity in entities]
        form = relations_form(len(turns), names if self._calls == "schema" else None)
        listed = "\n".join(f"- {name}" for name in names)
        rows = self._ask(form, turns, time, log, entities=listed)
        return None if rows is None else self.triples_of(rows, turns, entities, log)

    def ended(
        self,
        turns: Sequence[Turn],
        time: datetime,
        stored: Sequence[str],
        new: Sequence[Triple],
        log: list[Event],
    ) -> dict[int, str] | None:
        """Return the relations that ended according to `turns`, as row in `stored` (relations as
        sentences with their dates) to reason. A number that was not shown is logged and ignored.
        """
        listed = "\n".join(f"{n}. {sentence}" for n, sentence in enumerate(stored, 1))
        stated = "\n".join(f"- {triple.text}" for triple in new) or "(none)"
        form = conflicts_form(len(stored))
        rows = self._ask(form, turns, time, log, stored=listed, new=stated)
        if rows is None:
            return None
        reasons: dict[int, str] = {}
        for row in rows:
            number = int(row["relation"])
            if 1 <= number <= len(stored):
                reasons.setdefault(number - 1, row["why"])
            else:
                log.append(fault("conflicts", "unknown_relation", f"{number} of {len(stored)}"))
        return reasons

    def _ask(
        self, form: Form, turns: Sequence[Turn], time: datetime, log: list[Event], **values: str
    ) -> list[dict[str, Any]] | None:
        """Ask the model to fill in the form; the prompt is that of its step, with `turns`, `time`
        and `values` inserted.
        """
        messages = _numbered_lines(self._named_turns(turns))
        text = self.prompts[form.step].fill(messages=messages, time=stamp(time), **values)
        return ask(self._llm, form, text, self._calls, log, turns=[turn.id for turn in turns])

    def entities_of(self, rows: Rows, turns: Sequence[Turn], log: list[Event]) -> list[Entity]:
        """Return the entities of valid `rows`, if there are any, then the speakers of `turns`."""
        named = _entities_by_name(rows, log)
        names = [turn.speaker for turn in self._named_turns(turns)]
        speakers = {plain(name): Entity(name, "person") for name in names}
        return [*({**named, **speakers}.values())] if rows else []

    def triples_of(
        self, rows: Rows, turns: Sequence[Turn], entities: Sequence[Entity], log: list[Event]
    ) -> list[Triple]:
        """Return the relations of valid `rows` without duplicates, each with all turns named for
        it; number n is the turn turns[n - 1].
        """
        turns = self._named_turns(turns)
        by_name = {plain(entity.name): entity for entity in entities}
        message_terms = set(terms(_numbered_lines(turns)))
        triples: dict[tuple[str, str, str], Triple] = {}
        for row in rows:
            label = f"{row['source']} - {row['relationship']} - {row['destination']}"
            numbers = dict.fromkeys(int(number) for number in row["turns"])
            sources = [turns[number - 1] for number in numbers if 1 <= number <= len(turns)]
            if len(sources) < max(len(numbers), 1):
                log.append(fault("relations", "unknown_turn", f"{label}: {list(numbers)}"))
            speakers = {turn.speaker for turn in sources or turns}
            if len(speakers) > 1 and self._self_name is not None:
                speakers = {self._self_name}
            ends = (row["source"], row["destination"])
            source, destination = (
                _end(end, speakers, by_name, message_terms, label, log) for end in ends
            )
            if source is None or destination is None:
                continue
            name = shown(row["relationship"]).casefold()
            if source == destination or not plain(name) or len(name) > LONGEST:
                wrong = f"{label}: needs a short name and two ends"
                log.append(fault("relations", "bad_argument", wrong))
                continue
            key = plain(source.name), name, plain(destination.name)
            before = triples[key].turns if key in triples else ()
            ids = tuple(dict.fromkeys((*before, *(turn.id for turn in sources))))
            triples[key] = Triple(source, name, destination, ids)
        return list(triples.values())

    def _named_turns(self, turns: Sequence[Turn]) -> list[Turn]:
        """Return `turns` with the user's name for a speaker without one."""
        name = self._self_name
        if name is None:
            return list(turns)
        return [replace(turn, speaker=name) if is_self(turn.speaker) else turn for turn in turns]


def _numbered_lines(turns: Sequence[Turn]) -> str:
    return "\n".join(f"{number}. {line(turn)}" for number, turn in enumerate(turns, 1))


def _entities_by_name(rows: Rows, log: list[Event]) -> dict[str, Entity]:
    """Return the entities of `rows` by normalised name, without first-person names."""
    by_name: dict[str, Entity] = {}
    for row in rows:
        name, kind = shown(row["entity"]), shown(row["entity_type"]).casefold()
        if not plain(name) or len(name) > LONGEST:
            log.append(fault("entities", "bad_argument", f"{name!r} is no name"))
        elif not is_self(name):
            by_name.setdefault(plain(name), Entity(name, kind[:LONGEST] or "other"))
    return by_name


def _end(
    name: str,
    speakers: set[str],
    by_name: Mapping[str, Entity],
    message_terms: set[str],
    label: str,
    log: list[Event],
) -> Entity | None:
    """Return the entity called `name`. One that the first call overlooked is added if the messages
    contain its name; otherwise the model invented it, which is logged.
    """
    name_terms = set(terms(shown(name)))
    if is_self(name):
        if len(speakers) == 1:
            return Entity(min(speakers), "person")
        log.append(fault("relations", "unknown_speaker", label))
    elif plain(name) in by_name:
        return by_name[plain(name)]
    elif name_terms and name_terms <= message_terms:
        log.append(fault("relations", "unlisted_entity", f"{label}: {name} is added"))
        return Entity(shown(name), "other")
    else:
        log.append(fault("relations", "unknown_entity", f"{label}: {name}"))
    return None


class SameReply:
    """Lists of entities and relations that the model returns beside the facts, in the same JSON
    object (`relations: same_reply`), which saves their calls. They are checked like those of
    separate calls, and wait for the writer of the graph. `prompt` describes them and is appended to
    the prompt for facts.

    The messages are numbered from 1 in the order in which they are shown: earlier ones, then the
    new ones of the exchange.
    """

    def __init__(self, extractor: RelationExtractor) -> None:
        self._extractor = extractor
        self.prompt = load_prompt("graph_same_reply", [])
        self._by_exchange: dict[tuple[Turn, ...], tuple[list[Entity], list[Triple]]] = {}

    def properties(self, new: int, shown: int) -> Mapping[str, Any]:
        """Return the JSON schema of each list by name; the last `new` of `shown` messages are those
        to extract from.
        """
        lists = [form.parameters["properties"] for form in reply_forms(new, shown)]
        return {name: rows for properties in lists for name, rows in properties.items()}

    def read(
        self,
        reply: Mapping[str, Any],
        shown: Sequence[Turn],
        new: Sequence[Turn],
        log: list[Event],
    ) -> None:
        """Take the lists of a `reply` of the schema; faults are logged. It is called once for each
        exchange `new` whose facts could be read, before these are stored.
        """
        forms = reply_forms(len(new), len(shown))
        rows, relations = (checked(reply[form.step], form, log) for form in forms)
        entities = self._extractor.entities_of(rows, new, log)
        triples = self._extractor.triples_of(relations, shown, entities, log) if entities else []
        self._by_exchange[tuple(new)] = entities, triples
        counted = {"entities": len(entities), "relations": len(triples)}
        log.append({"step": "same_reply", "turns": [turn.id for turn in new], **counted})

    def forget(self, turns: Collection[str]) -> None:
        """Delete what was found in exchanges with one of `turns`."""
        for exchange in list(self._by_exchange):
            if any(turn.id in turns for turn in exchange):
                del self._by_exchange[exchange]

    def pop(self, turns: Sequence[Turn]) -> tuple[list[Entity] | None, list[Triple] | None]:
        """Return what was found in the exchange `turns`, and forget it; (None, None) if no reply on
        just these turns could be read.
        """
        return self._by_exchange.pop(tuple(turns), (None, None))
