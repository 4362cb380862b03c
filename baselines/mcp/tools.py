"""Which tools of a server add, search and delete: chosen by name and schema, or set."""

from __future__ import annotations

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
    description: str = ""


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
    """The tools of one server. `owners`: the argument that takes the owner, or PROCESS. `id_name`:
    the argument of `delete` that names a memory, in snake case.
    """

    add: Choice
    search: Choice
    delete: Choice | None
    owners: str
    id_name: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the entries of the manifest."""
        roles = {"add": self.add, "search": self.search, "delete": self.delete}
        return {
            "owners": self.owners,
            "tools": {role: one and one.as_json() for role, one in roles.items()},
        }


def choose(tools: Sequence[Tool], wanted: Wanted) -> Chosen:
    """Return the tools of a server for each role.

    Raises InputError with the tools and the setting, if a role has no tool or two that are equally
    good, or if a setting does not fit.
    """
    add = _one(tools, "add", wanted.add_tool, wanted.add_arguments)
    search = _one(tools, "search", wanted.search_tool, wanted.search_arguments)
    owner = _owner(add[0], search[0], wanted)
    delete, id_name = _delete(tools, wanted, owner)
    return Chosen(
        _filled(add, "add", wanted.add_arguments, owner),
        _filled(search, "search", wanted.search_arguments, owner),
        delete,
        owner or PROCESS,
        id_name,
    )


def points(tool: Tool, role: Role) -> tuple[int, str]:
    """Return the points of a tool's name for `role`, 0 for none, and their explanation."""
    words = [word for word in snake(tool.name).split("_") if word]
    verb = max(words, key=lambda word: VERBS[role].get(word, 0), default="")
    worth = VERBS[role].get(verb, 0)
    if not worth:
        return 0, f"no word for a tool that {_DOES[role]}"
    noun = next((word for word in words if word in NOUNS), None)
    others = [word for word in words if word != verb and word not in NOUNS]
    parts = [f"{verb} {worth:+d}", *([f"{noun} +1"] if noun else [])]
    parts += [f"{word} -1" for word in others]
    total = worth + (noun is not None) - len(others)
    return max(total, 0), f"{', '.join(parts)}"


def why_not(tool: Tool, role: Role) -> str:
    """Return why the arguments of a tool do not fit `role`; "" if they do."""
    owner = next(iter(owner_of(tool.schema)), None)
    template, missing = template_of(tool.schema, role, owner)
    if missing:
        return f"no rule fills its required {', '.join(missing)}"
    if not places_in(template) & _NEEDS[role]:
        return f"has no argument for {' or '.join(sorted(_NEEDS[role]))}"
    return ""


def _best(tools: Sequence[Tool], role: Role, free: bool) -> list[tuple[Tool, str]]:
    """Return the tools of most points for `role`, and why; `free`: any arguments fit."""
    rated = [(tool, *points(tool, role)) for tool in tools]
    fitting = [one for one in rated if one[1] and (free or not why_not(one[0], role))]
    most = max((worth for _, worth, _ in fitting), default=0)
    return [(tool, f"{most} points: {words}") for tool, worth, words in fitting if worth == most]


def _one(
    tools: Sequence[Tool], role: Role, named: str | None, arguments: Mapping[str, Any] | None
) -> tuple[Tool, str]:
    """Return the tool of `role` and why."""
    setting = f"strategy.{role}_tool"
    if named is not None:
        for tool in tools:
            if tool.name == named:
                return tool, f"set by {setting}"
        raise InputError(f"{setting}: the server has no tool {named!r:.60}; {_listed(tools)}")
    best = _best(tools, role, arguments is not None)
    if not best:
        raise InputError(
            f"{setting}: no tool that {_DOES[role]} was found; name one: {_listed(tools)}"
        )
    if len(best) > 1:
        names = " and ".join(tool.name for tool, _ in best)
        raise InputError(f"{setting}: {names} fit equally well; name one of them: {_listed(tools)}")
    return best[0]


def _filled(
    found: tuple[Tool, str], role: Role, arguments: Mapping[str, Any] | None, owner: str | None
) -> Choice:
    tool, why = found
    if arguments is None:
        template, missing = template_of(tool.schema, role, owner)
        if missing or not places_in(template) & _NEEDS[role]:
            raise InputError(
                f"strategy.{role}_tool={tool.name}: {why_not(tool, role)}; set "
                f"strategy.{role}_arguments, such as {{{', '.join(_names(tool))}: ...}}"
            )
        return Choice(tool, template, why)
    setting = f"strategy.{role}_arguments"
    if unknown := places_in(arguments) - set(PLACES):
        raise InputError(f"{setting}: no placeholder {{{min(unknown)}}}; use {', '.join(PLACES)}")
    if not places_in(arguments) & _NEEDS[role]:
        raise InputError(
            f"{setting}: needs {' or '.join(f'{{{n}}}' for n in sorted(_NEEDS[role]))}"
        )
    return Choice(tool, dict(arguments), f"{why}; arguments set")


def _owner(add: Tool, search: Tool, wanted: Wanted) -> str | None:
    """Return the owner argument that both tools have, or None."""
    both = [name for name in owner_of(add.schema) if name in owner_of(search.schema)]
    if wanted.owners == PROCESS:
        return None
    if wanted.owners is None:
        return both[0] if both else None
    name = snake(wanted.owners)
    have = [{snake(one) for one in tool.schema.get("properties") or {}} for tool in (add, search)]
    if not all(name in one for one in have):
        raise InputError(
            f"strategy.owners: {add.name} and {search.name} do not both have the argument "
            f"{wanted.owners!r:.60}; use {', '.join([*both, PROCESS])}"
        )
    return name


def _delete(tools: Sequence[Tool], wanted: Wanted, owner: str | None) -> tuple[Choice | None, str]:
    """Return the tool that deletes, if there is exactly one, and its id argument."""
    best = _best(tools, "delete", free=False)
    if wanted.delete_tool is None and len(best) != 1:
        return None, ""
    choice = _filled(_one(tools, "delete", wanted.delete_tool, None), "delete", None, owner)
    return choice, id_name(choice.arguments)


def _names(tool: Tool) -> list[str]:
    return list(tool.schema.get("properties") or ())[:8]


def _listed(tools: Sequence[Tool]) -> str:
    return f"tools: {', '.join(re.sub(r'[^ -~]', '?', tool.name)[:60] for tool in tools) or 'none'}"
