"""Configurations as mem0 writes them: `provider` and `config` of a group, and its own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from memsys.core.errors import InputError, problems
from memsys.service.arguments import Arguments, either

_GROUPS = {  # of mem0 -> ours
    **{name: name for name in ("llm", "embedder", "vector_store")},
    "graph_store": "relation_store",
}
_SETTINGS = {"openai_base_url": "base_url", "collection_name": "collection"}


class _Provider(BaseModel, extra="forbid"):
    """A group in mem0's form."""

    provider: str
    config: dict[str, Any] | None = None


def translated(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `settings` with what is in mem0's form in ours: groups with a provider are options of
    the same name; the text `custom_fact_extraction_prompt` is the system prompt of extractions, and
    `custom_instructions` are instructions. With a model or a graph in mem0's form, and no strategy,
    the strategy is mem0, or mem0_graph. Raises InputError on an invalid value.
    """
    found = dict(settings)
    theirs = [n for n in _GROUPS if isinstance(found.get(n), Mapping) and "provider" in found[n]]
    for name in theirs:
        with problems(f"{where}: {name}"):
            group = _Provider.model_validate(found.pop(name))
        own = {
            _SETTINGS.get(n, n): one for n, one in (group.config or {}).items() if one is not None
        }
        if "api_key" in own:
            raise InputError(
                f"{where}: {name}.config.api_key: no key is written into a configuration; put it "
                "into the environment variable that the option's key_variable names"
            )
        found[_GROUPS[name]] = own | {"option": group.provider}
    if {"llm", "graph_store"} & set(theirs):
        found.setdefault("strategy", "mem0_graph" if "graph_store" in theirs else "mem0")
    with problems(where):
        Arguments(version=found.pop("version", None))
    if (text := found.pop("custom_fact_extraction_prompt", None)) is not None:
        facts = found.get("facts") or {}
        if not isinstance(facts, Mapping) or "system" in facts:
            raise InputError(f"{where}: custom_fact_extraction_prompt: give it or facts, not both")
        found["facts"] = {**facts, "system": text}
    if (text := found.pop("custom_instructions", None)) is not None:
        found["instructions"] = either(
            "custom_instructions", text, "instructions", found.get("instructions")
        )
    return found
