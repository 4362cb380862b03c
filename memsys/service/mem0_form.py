"""Configurations as mem0 writes them: `provider` and `config` of a group, and its own names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from memsys.core.errors import InputError, check_choice
from memsys.service.arguments import Version

_GROUPS = {
    "llm": "llm",
    "embedder": "embedder",
    "vector_store": "vector_store",
    "graph_store": "relation_store",
}
_SETTINGS = {"openai_base_url": "base_url", "collection_name": "collection"}
_PROMPT = "custom_fact_extraction_prompt"
_INSTRUCTIONS = "custom_instructions"


def translated(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `settings` with what is in mem0's form in ours: groups with a provider are options of
    the same name; the text `custom_fact_extraction_prompt` is the system prompt of extractions, and
    `custom_instructions` are instructions. With a model or a graph in mem0's form, and no strategy,
    the strategy is mem0, or mem0_graph. Raises InputError on an invalid value.
    """
    found = dict(settings)
    of_mem0 = [name for name in _GROUPS if _has_provider(settings.get(name))]
    for name in of_mem0:
        group: Mapping[str, Any] = found.pop(name)
        found[_GROUPS[name]] = _option(group, f"{where}: {name}")
    if {"llm", "graph_store"} & set(of_mem0):
        found.setdefault("strategy", "mem0_graph" if "graph_store" in of_mem0 else "mem0")
    if (version := found.pop("version", None)) is not None:
        check_choice(f"{where}: version", version, get_args(Version))
    if (text := found.pop(_PROMPT, None)) is not None:
        facts = found.get("facts") or {}
        if not isinstance(text, str) or not isinstance(facts, Mapping) or "system" in facts:
            raise InputError(f"{where}: {_PROMPT}: use text, and no facts.system beside it")
        found["facts"] = {**facts, "system": text}
    if (text := found.pop(_INSTRUCTIONS, None)) is not None:
        if found.get("instructions") is not None:
            raise InputError(f"{where}: {_INSTRUCTIONS}: give it or instructions, not both")
        found["instructions"] = text
    return found


def _has_provider(group: Any) -> bool:
    return isinstance(group, Mapping) and "provider" in group


def _option(group: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a group in mem0's form as an option with settings."""
    config: Any = group.get("config") or {}
    if unknown := sorted(group.keys() - {"provider", "config"}):
        raise InputError(f"{place}.{unknown[0]}: not beside provider and config")
    if not isinstance(config, Mapping):
        raise InputError(f"{place}.config: {type(config).__name__}; give names with values")
    if config.get("api_key") is not None:
        raise InputError(
            f"{place}.config.api_key: no key is written into a configuration; put it into the "
            "environment variable that the option's key_variable names, such as OPENAI_API_KEY"
        )
    own: dict[str, Any] = {
        _SETTINGS.get(str(name), str(name)): one for name, one in config.items() if one is not None
    }
    return {**own, "option": group["provider"]}
