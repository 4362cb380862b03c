"""The rules by which tools and their arguments are recognised, and templates of the arguments.

The rules (rules.yaml) are words of names, nothing else. A template is derived from the JSON schema
of a tool.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from memsys.core.yaml_text import load_table

Role = Literal["add", "search", "delete"]


def _by_word(rows: Mapping[str, str]) -> dict[str, str]:
    return {word: value for value, words in rows.items() for word in words.split()}


_RULES = load_table(Path(__file__).with_name("rules.yaml"))
VERBS: Mapping[Role, Mapping[str, int]] = _RULES["verbs"]
OPTIONAL: Mapping[Role, Mapping[str, str]] = {
    role: _by_word(rows) for role, rows in _RULES["optional"].items()
}
REQUIRED: Mapping[Role, Mapping[str, str]] = {
    role: _by_word(rows) for role, rows in _RULES["required"].items()
}
IDS = {name: fields.split() for name, fields in _by_word(_RULES["ids"]).items()}
NOUNS, OWNERS, LISTS, TEXTS, SCORES = (
    _RULES[name].split() for name in ("nouns", "owners", "lists", "texts", "scores")
)
_TEXT = _RULES["optional"]["add"]["{text}"].split()

PLACES = ("text", "speaker", "time", "owner", "turn", "turns", "query", "words", "k", "id")
_PLACE = re.compile(r"\{(\w+)\}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NONE = object()  # nothing fills the argument
_ONCE = ("{text}", "{query}", "{id}")  # optional arguments of these take turns
_DEEPEST = 6  # of nested schemas
Schema = Mapping[str, Any]


def snake(name: str) -> str:
    """Return `name` in lower case with underscores: entityType is entity_type."""
    return re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", name).lower()).strip("_")


def owner_of(schema: Schema) -> list[str]:
    """Return the owner arguments of a tool, likeliest first, in snake case and singular."""
    present = {_singular(snake(name)) for name in schema.get("properties") or {}}
    return [name for name in OWNERS if name in present]


def template_of(schema: Schema, role: Role, owner: str | None) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a tool with placeholders, and the required arguments that no rule
    fills. `owner`: the argument that takes the owner (see `owner_of`), if one does.
    """
    deriving = _Deriving(schema, role, owner)
    template = deriving.fields(schema)
    return (template if isinstance(template, dict) else {}), deriving.missing


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Return `template` with each {name} replaced. A text that is one placeholder becomes the value
    itself, of any type.
    """
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        if whole and whole[1] in values:
            return values[whole[1]]
        return _PLACE.sub(lambda m: str(values.get(m[1], m[0])), template)
    if isinstance(template, Mapping):
        return {name: fill(value, values) for name, value in template.items()}
    if isinstance(template, Sequence):
        return [fill(value, values) for value in template]
    return template


def places_in(template: Any) -> set[str]:
    """Return the names of the placeholders in `template`."""
    return set(_PLACE.findall(json.dumps(template, ensure_ascii=False)))


class _Deriving:
    """Walks the schema of one tool."""

    def __init__(self, root: Schema, role: Role, owner: str | None) -> None:
        self._root, self._role, self._owner = root, role, owner
        self.missing: list[str] = []
        self._has_text = False

    def fields(self, schema: Schema, depth: int = 0) -> Any:
        """Return the filled properties of an object; _NONE if nothing is to be filled."""
        properties = schema.get("properties") or {}
        required = set(schema.get("required") or ())
        rank = {name: place for place, name in enumerate(_TEXT)}
        order = sorted(
            properties, key=lambda name: (name not in required, rank.get(snake(name), len(rank)))
        )
        filled = {}
        for name in order:
            value = self._value(name, self._resolve(properties[name]), name in required, depth)
            if value is not _NONE:
                filled[name] = value
            elif name in required and "default" not in properties[name]:
                self.missing.append(name)
        return {name: filled[name] for name in properties if name in filled} or _NONE

    def _value(self, name: str, schema: Schema, needed: bool, depth: int) -> Any:
        """Return what fills an argument; _NONE if nothing does."""
        slot, kind = self._slot(snake(name), needed), schema.get("type")
        if slot in _ONCE and self._has_text and not needed:
            return _NONE
        if kind == "array":
            items = self._resolve(schema.get("items") or {})
            if "properties" not in items and (slot == "{words}" or slot is _NONE):
                return slot
            value = self._value(name, items, needed, depth) if items else slot
            return _NONE if value is _NONE else [value]
        if "properties" in schema:
            filled = (slot == "{text}" or needed) and depth <= _DEEPEST
            return self.fields(schema, depth + 1) if filled else _NONE
        if kind == "object":
            free = self._role == "add" and snake(name) == "metadata"
            return {"turns": "{turns}"} if free else _NONE
        if slot == "{k}":
            return "{k}" if kind in {"integer", "number"} else _NONE
        if slot == "{words}" or (kind not in {"string", None} and slot != "{id}"):
            return _NONE
        if "const" in schema:
            return schema["const"]
        if schema.get("enum") and slot not in schema["enum"]:
            return _NONE
        self._has_text |= slot in _ONCE
        return slot

    def _slot(self, name: str, needed: bool) -> Any:
        single = _singular(name)
        if single == self._owner or (needed and single in OWNERS):
            return "{owner}"
        if self._role == "delete" and single in IDS:
            return "{id}"
        slot = OPTIONAL[self._role].get(name, _NONE)
        return REQUIRED[self._role].get(name, _NONE) if slot is _NONE and needed else slot

    def _resolve(self, schema: Any) -> Schema:
        """Return `schema` without references, and the first alternative that is not null."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, Mapping):
                return {}
            if isinstance(reference := schema.get("$ref"), str):
                node: Any = self._root
                for part in reference.removeprefix("#/").split("/"):
                    node = node.get(part, {}) if isinstance(node, Mapping) else {}
                schema = node
                continue
            if isinstance(kinds := schema.get("type"), list):
                kind = next((name for name in kinds if name != "null"), None)
                return {**schema, "type": kind}
            options = [
                option
                for name in ("anyOf", "oneOf", "allOf")
                for option in schema.get(name) or ()
                if isinstance(option, Mapping) and option.get("type") != "null"
            ]
            if not options:
                return schema
            schema = options[0]
        return {}


def id_name(template: Mapping[str, Any]) -> str:
    """Return the argument that {id} fills, in snake case and singular; "" if there is none."""
    named = (name.rpartition(".")[2] for name, value in leaves(template) if value == "{id}")
    return next((_singular(snake(name)) for name in named), "")


def leaves(template: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values in `template` with their dotted names; those of a list have its name."""
    if isinstance(template, Mapping):
        for part, value in template.items():
            yield from leaves(value, f"{name}.{part}" if name else part)
    elif isinstance(template, list):
        for value in template:
            yield from leaves(value, name)
    else:
        yield name, template


def most_k(schema: Schema, template: Mapping[str, Any]) -> int | None:
    """Return the largest number of results that the schema of a search allows, None: any."""
    for name, value in template.items():
        if value == "{k}":
            most = (schema.get("properties") or {}).get(name, {}).get("maximum")
            return int(most) if isinstance(most, int | float) else None
    return None


def _singular(name: str) -> str:
    """Return the singular of a name of ids, names or hashes."""
    if name.endswith("hashes"):
        return name.removesuffix("es")
    return name.removesuffix("s") if name.endswith(("ids", "names")) else name
