"""Which tools of a server add, search and delete: chosen by name and schema, or set."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from baselines.mcp.arguments import (
    NOUNS,
    PLACES,
    VERBS,
    Role,
    Schema,
    id_name,
    owner_of,
    places_in,
    snake,
    template_of,
)
from memsys.core.errors import InputError

_DOES = {"add": "adds a memory", "search": "searches", "delete": "deletes"}
_NEEDS = {"add": {"text"}, "search": {"query", "words"}, "delete": {"id"}}
PROCESS = "process"  # owners are apart because each has a process and a folder of its own


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the server lists it."""

    name: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Choice:
    """A chosen tool, its arguments with placeholders, and why it was chosen."""

    tool: Tool
    arguments: Mapping[str, Any]
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return the entry of the manifest."""
        schema = json.dumps(self.tool.schema, sort_keys=True, ensure_ascii=False)
        return {
            "name": self.tool.name,
            "arguments": self.arguments,
            "why": self.why,
            "schema_sha256": hashlib.sha256(schema.encode()).hexdigest(),
        }


@dataclass(frozen=True, slots=True)
class Wanted:
    """The settings of a user: tools, arguments and what holds owners apart; None: by the rules."""

    add_tool: str | None = None
    search_tool: str | None = None
    delete_tool: str | None = None
    add_arguments: Mapping[str, Any] | None = None
    search_arguments: Mapping[str, Any] | None = None
    owners: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tools of one server. `owners`: the argument that takes the owner, or PROCESS."""

    add: Choice
    search: Choice
    delete: Choice | None
    owners: str

    @property
    def by_role(self) -> dict[Role, Choice | None]:
        """The tool of each role."""
        return {"add": self.add, "search": self.search, "delete": self.delete}

    @property
    def id_name(self) -> str:
        """The argument of `delete` that names a memory, in snake case."""
        return id_name(self.delete.arguments) if self.delete else ""

    def as_json(self) -> dict[str, Any]:
        """Return the entries of the manifest."""
        tools = {role: choice and choice.as_json() for role, choice in self.by_role.items()}
        return {"owners": self.owners, "tools": tools}


def choose(tools: Sequence[Tool], wanted: Wanted) -> Chosen:
    """Return the tools of a server for each role; to delete, the only one there is, if any.

    Raises InputError with the tools and the setting, if a role has no tool or two that are equally
    good, or if a setting does not fit.
    """
    add, search = _tool(tools, "add", wanted), _tool(tools, "search", wanted)
    owner = _owner(add[0], search[0], wanted)
    delete = None
    if wanted.delete_tool is not None or len(_best_tools(tools, "delete", wanted)) == 1:
        delete = _choice(*_tool(tools, "delete", wanted), "delete", wanted, owner)
    return Chosen(
        _choice(*add, "add", wanted, owner),
        _choice(*search, "search", wanted, owner),
        delete,
        owner or PROCESS,
    )


def points(tool: Tool, role: Role) -> tuple[int, str]:
    """Return the points of a tool's name for `role`, 0 for none, and their explanation."""
    words = [word for word in snake(tool.name).split("_") if word]
    verb = max(words, key=lambda word: VERBS[role].get(word, 0), default="")
    worth = VERBS[role].get(verb, 0)
    noun = next((word for word in words if word in NOUNS), None)
    others = [word for word in words if word != verb and word not in NOUNS]
    parts = [f"{verb} {worth:+d}", *([f"{noun} +1"] if noun else [])]
    parts += [f"{word} -1" for word in others]
    total = max(worth + (noun is not None) - len(others), 0) if worth else 0
    return total, f"{total} points: {', '.join(parts)}"


def fitted(tool: Tool, role: Role, owners: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Return the arguments of a tool in `role` by the rules, and why they do not fit, or "".
    `owners`: the arguments that may take the owner, likeliest first.
    """
    template, missing = template_of(tool.schema, role, next(iter(owners), None))
    wrong = f"no rule fills its required {', '.join(missing)}" if missing else ""
    return template, wrong or _fault(template, role)


def _fault(arguments: Mapping[str, Any], role: Role) -> str:
    """Return why `arguments` do not fit `role`, or ""."""
    places = places_in(arguments)
    if unknown := places.difference(PLACES):
        return f"no placeholder {{{min(unknown)}}}; use {', '.join(PLACES)}"
    return "" if places & _NEEDS[role] else f"no argument has {' or '.join(sorted(_NEEDS[role]))}"


def _best_tools(tools: Sequence[Tool], role: Role, wanted: Wanted) -> list[tuple[Tool, str]]:
    """Return the tools of most points for `role`, and why; any arguments fit if they are set."""
    is_free = getattr(wanted, f"{role}_arguments", None) is not None
    rated = [(tool, *points(tool, role)) for tool in tools]
    fitting = [
        (tool, worth, why)
        for tool, worth, why in rated
        if worth and (is_free or not fitted(tool, role, owner_of(tool.schema))[1])
    ]
    most = max((worth for _, worth, _ in fitting), default=0)
    return [(tool, why) for tool, worth, why in fitting if worth == most]


def _tool(tools: Sequence[Tool], role: Role, wanted: Wanted) -> tuple[Tool, str]:
    """Return the tool of `role` and why."""
    setting = f"{role}_tool"
    name = getattr(wanted, setting)
    if name is not None:
        best = [(tool, f"set by strategy.{setting}") for tool in tools if tool.name == name]
        wrong = f"the server has no tool {name!r:.60}"
    else:
        best = _best_tools(tools, role, wanted)
        equal = " and ".join(tool.name for tool, _ in best)
        wrong = f"{equal} fit equally well" if best else f"no tool that {_DOES[role]} was found"
    if len(best) != 1:
        names = ", ".join(re.sub(r"[^ -~]", "?", tool.name)[:60] for tool in tools)
        raise InputError(f"strategy.{setting}: {wrong}; name one of: {names or 'none'}")
    return best[0]


def _choice(tool: Tool, why: str, role: Role, wanted: Wanted, owner: str | None) -> Choice:
    given = getattr(wanted, f"{role}_arguments", None)
    if given is None:
        arguments, wrong = fitted(tool, role, [owner] if owner else [])
    else:
        arguments, wrong, why = dict(given), _fault(given, role), f"{why}; arguments set"
    if wrong:
        names = ", ".join(list(tool.schema.get("properties") or ())[:8])
        raise InputError(
            f"strategy.{role}_tool={tool.name}: {wrong}; set strategy.{role}_arguments, such as "
            f"{{{names}: ...}}"
        )
    return Choice(tool, arguments, why)


def _owner(add: Tool, search: Tool, wanted: Wanted) -> str | None:
    """Return the owner argument that both tools have, or None."""
    both = [name for name in owner_of(add.schema) if name in owner_of(search.schema)]
    if wanted.owners is None:
        return both[0] if both else None
    if wanted.owners == PROCESS:
        return None
    name = snake(wanted.owners)
    for tool in (add, search):
        if name not in map(snake, tool.schema.get("properties") or {}):
            raise InputError(
                f"strategy.owners: {tool.name} does not have the argument {wanted.owners!r:.60}; "
                f"use {', '.join([*both, PROCESS])}"
            )
    return name
