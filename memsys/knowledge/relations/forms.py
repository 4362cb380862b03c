"""What a model is asked about relations: settings, lists to fill in, the parsing of its reply."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from memsys.core.declared import Cosine, Count, check_fields
from memsys.core.yaml_text import load_table
from memsys.knowledge.facts.fact import Event, fault, tokens
from memsys.knowledge.facts.fact_writer import Calls
from memsys.llm.base import LLM, Completion, Tool
from memsys.llm.prompt import Prompt, load_prompt
from memsys.llm.reply import object_schema, violation

_MOST_A_MESSAGE = 8  # entities, and also relations
LONGEST: Final = 60  # characters of a name or reason
_FORMS = load_table(Path(__file__).with_name("forms.yaml"))
OnConflict = Literal["delete", "invalidate"]


@dataclass(frozen=True, kw_only=True)
class RelationGraphSettings:
    """Settings of extraction and update of a relation graph. `calls`: by tool calls, or by JSON of
    a schema for servers without tools. `on_conflict`: whether a contradicted relation is deleted or
    marked as ended. `exchange`: messages per call. `threshold`: least cosine of names at which a
    stored entity matches a mentioned one; `nodes`: most matches per name; `merge`: least cosine at
    which two names are one entity. `shown`: most stored relations that a model is asked about.
    Prompts are names of shipped prompts or paths. `place`: the name of these settings in error
    messages.
    """

    calls: Calls
    on_conflict: OnConflict
    exchange: Count
    threshold: Cosine
    merge: Cosine
    nodes: Count
    shown: Count
    entities: str = "graph_entities"
    relations: str = "graph_relations"
    conflicts: str = "graph_conflicts"
    place: str = "strategy.graph"

    def __post_init__(self) -> None:
        """Raises InputError on a value out of range."""
        check_fields(self, self.place)

    @cached_property
    def prompts(self) -> dict[str, Prompt]:
        """The prompts by role. Raises InputError if one is missing or lacks a placeholder."""
        return {
            "entities": load_prompt(self.entities, ["messages"]),
            "relations": load_prompt(self.relations, ["messages", "entities"]),
            "conflicts": load_prompt(self.conflicts, ["messages", "stored", "new"]),
        }


@dataclass(frozen=True, slots=True)
class Form:
    """A list of rows that a model fills in. `step`: name of the list and of its events; `tool` and
    `description`: of the tool call; `row`: the properties of a row by name; `most`: rows read.
    """

    step: str
    tool: str
    description: str
    row: Mapping[str, Any]
    most: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of a whole reply, with bounds for servers that decode by it, as small
        models do not end a list by themselves; `ask` checks the replies of other servers.
        """
        rows = {"type": "array", "items": object_schema(self.row), "maxItems": self.most}
        return object_schema({self.step: rows})


def _form(step: str, most: int, **bounded: Any) -> Form:
    """Return the form of a step; `bounded`: properties of a row with bounds of this request."""
    form = _FORMS[step]
    return Form(step, form["tool"], form["description"], form["row"] | bounded, most)


def entities_form(messages: int) -> Form:
    """Return the form for the entities of `messages` messages, each with its type."""
    return _form("entities", _MOST_A_MESSAGE * messages)


def relations_form(messages: int, names: Sequence[str] | None) -> Form:
    """Return the form for the relations in `messages` messages; `names`: allowed ends, if any."""
    number = {"type": "integer", "minimum": 1, "maximum": messages}
    bounded: dict[str, Any] = {"turns": {"type": "array", "items": number, "maxItems": 4}}
    if names is not None:
        end = {"type": "string", "enum": list(names)}
        bounded |= {"source": end, "destination": end}
    return _form("relations", _MOST_A_MESSAGE * messages, **bounded)


def reply_forms(new: int, shown: int) -> tuple[Form, Form]:
    """Return the forms for the entities and relations of the last `new` of `shown` messages, as two
    lists of one reply.
    """
    return entities_form(new), replace(relations_form(shown, None), most=_MOST_A_MESSAGE * new)


def conflicts_form(stored: int) -> Form:
    """Return the form that lists the ended ones among `stored` numbered relations."""
    number = {"type": "integer", "minimum": 1, "maximum": stored}
    return _form("conflicts", stored, relation=number)


def ask(
    llm: LLM, form: Form, text: str, calls: Calls, log: list[Event], **fields: Any
) -> list[dict[str, Any]] | None:
    """Ask a model by `text` to fill in `form` and return its rows, None if none of its reply can be
    used. The call, with `fields`, and the faults of its reply are logged. Raises LLMError without
    a reply.
    """
    messages = [{"role": "user", "content": text}]
    if calls == "tools":
        tool = Tool(form.tool, form.description, form.parameters)
        reply = llm.complete(messages, tools=[tool])
    else:
        reply = llm.complete(messages, schema={"title": form.step, **form.parameters})
    read = list(_lists(reply, form))
    log += [event for event in read if isinstance(event, dict)]
    lists = [rows for rows in read if isinstance(rows, list)]
    valid = checked([row for rows in lists for row in rows], form, log) if lists else None
    counted = {} if valid is None else {form.step: len(valid)}
    log.append({"step": form.step, **fields, **counted, "tokens": tokens(reply.usage)})
    return valid


def checked(rows: Sequence[Any], form: Form, log: list[Event]) -> list[dict[str, Any]]:
    """Return the valid ones of the `rows` that a model returned for `form`; faults are logged."""
    if len(rows) > form.most:
        log.append(fault(form.step, "too_many", f"{len(rows)}; the first {form.most} are read"))
    # Enumerations guide servers that decode by the schema; a name outside of them may be right.
    free = {
        name: {key: value for key, value in schema.items() if key != "enum"}
        for name, schema in form.row.items()
    }
    valid = []
    for row in rows[: form.most]:
        if wrong := violation(row, object_schema(free), form.step):
            log.append(fault(form.step, "bad_argument", wrong))
        else:
            valid.append(row)
    return valid


def _lists(reply: Completion, form: Form) -> Iterator[list[Any] | Event]:
    """Yield the list of every call or its fault; without a call, that in the text or its fault."""
    if not reply.tool_calls:
        rows = None
        with suppress(ValueError, TypeError, KeyError):
            rows = json.loads(reply.text)[form.step]
        if isinstance(rows, list):
            yield rows
        elif form.step == "conflicts":
            yield []  # without a call, no relation ended
        else:
            yield fault(form.step, "no_call", reply.text)
    schema = object_schema({form.step: {"type": "array"}})
    for call in reply.tool_calls:
        if call.name != form.tool:
            yield fault(form.step, "unknown_tool", f"{call.name}: {call.arguments}")
            continue
        try:
            arguments = json.loads(call.arguments)
        except ValueError:
            yield fault(form.step, "broken_json", call.arguments)
            continue
        wrong = violation(arguments, schema, form.tool)
        yield fault(form.step, "bad_argument", wrong) if wrong else arguments[form.step]
