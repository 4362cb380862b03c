"""Where a configuration comes from: a run, a file or a mapping, in our form or in mem0's."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from pydantic import BaseModel

from memsys.core.errors import InputError, problems
from memsys.core.files import read_text
from memsys.core.json_text import parse_json
from memsys.core.places import CONF, find_run
from memsys.core.trusted import check_references
from memsys.core.yaml_text import load_table, load_yaml
from memsys.service.arguments import Arguments, either, path_of

_GROUPS = "embedder index memory graph context strategy llm vector_store relation_store".split()
# The options and numbers of conf/config.yaml that make a memory, as defaults.
_RUN = load_table(CONF / "config.yaml")
_OPTIONS = {name: row[name] for row in _RUN["defaults"] if isinstance(row, dict) for name in row}
OPTIONS = {name: _OPTIONS[name] for name in _GROUPS}
NUMBERS = {name: _RUN[name] for name in ("k", "budget")}
# Further settings of a memory, which no option of conf/ has.
SETTINGS = ("weights", "facts", "update", "summary", "procedure", "instructions")
VARIABLE = "MEMSYS_CONFIG"  # of the environment: the configuration of Memory()
Source = str | Path | Mapping[str, Any]
_FILES = (".yaml", ".yml", ".json")
_BYTES = 10_000_000  # of a manifest
_MEM0_GROUPS = {  # of mem0 -> ours
    **{name: name for name in ("llm", "embedder", "vector_store")},
    "graph_store": "relation_store",
}
_MEM0_SETTINGS = {"openai_base_url": "base_url", "collection_name": "collection"}


def read(source: Source | None) -> tuple[str, Mapping[str, Any], bool]:
    """Return the name of `source` for error messages, its groups and numbers, and whether they are
    those of a run, which somebody else may have made. None: what MEMSYS_CONFIG names, if it is set.
    """
    source = os.environ.get(VARIABLE) or None if source is None else source
    if source is None:
        return "memory", {}, False
    if isinstance(source, Mapping):
        where, run, settings = "configuration", False, dict(source)
    else:
        path = _path_of(path_of(source, "configuration"))
        where, run, settings = str(path), path.suffix == ".json", _load_settings(path)
    if run:  # it has no settings of a memory, unless somebody wrote them into it
        return where, {name: item for name, item in settings.items() if name not in SETTINGS}, True
    settings = _translate(settings, where)
    check_names(settings, {*OPTIONS, *NUMBERS, *SETTINGS}, where)
    return where, settings, False


def _path_of(path: Path) -> Path:
    """Return the file of a configuration; InputError for any other file, whose text no error is to
    repeat.
    """
    if not path.exists() and path.suffix not in _FILES:
        path = find_run(path)
    if path.is_dir():
        return path / "manifest.json"
    if path.suffix not in _FILES:
        raise InputError(f"{path}: no configuration; name a run, or a file that ends in .yaml")
    return path


def _load_settings(path: Path) -> dict[str, Any]:
    """Return the settings in the file of a configuration, or in the manifest of a run."""
    try:
        if path.suffix == ".json":
            settings = parse_json(read_text(path, _BYTES))["config"]
        else:
            check_references(load_yaml(path), str(path))  # bounded, unlike the next step
            settings = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
        return dict(settings)
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path}: cannot be read as a configuration ({type(error).__name__}: {error})"
        ) from error


def check_names(given: Iterable[Any], names: Iterable[str], place: str) -> None:
    """Raise InputError on a name that is none of `names`."""
    if unknown := sorted(set(given) - set(names), key=str):
        raise InputError(
            f"{place}: {unknown[0]}: no such setting; there are {', '.join(sorted(names))}"
        )


class _Provider(BaseModel, extra="forbid"):
    """A group in mem0's form."""

    provider: str
    config: dict[str, Any] | None = None


def _translate(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return `settings` with what is in mem0's form in ours: groups with a provider are options of
    the same name; the text `custom_fact_extraction_prompt` is the system prompt of extractions, and
    `custom_instructions` are instructions. With a model or a graph in mem0's form, and no strategy,
    the strategy is mem0, or mem0_graph. Raises InputError on an invalid value.
    """
    config = dict(settings)
    theirs = [
        n for n in _MEM0_GROUPS if isinstance(config.get(n), Mapping) and "provider" in config[n]
    ]
    for name in theirs:
        with problems(f"{where}: {name}"):
            group = _Provider.model_validate(config.pop(name))
        own = {
            _MEM0_SETTINGS.get(n, n): value
            for n, value in (group.config or {}).items()
            if value is not None
        }
        if "api_key" in own:
            raise InputError(
                f"{where}: {name}.config.api_key: no key is written into a configuration; put it "
                "into the environment variable that the option's key_variable names"
            )
        config[_MEM0_GROUPS[name]] = own | {"option": group.provider}
    if {"llm", "graph_store"} & set(theirs):
        config.setdefault("strategy", "mem0_graph" if "graph_store" in theirs else "mem0")
    with problems(where):
        Arguments(version=config.pop("version", None))
    if (text := config.pop("custom_fact_extraction_prompt", None)) is not None:
        facts = config.get("facts") or {}
        if not isinstance(facts, Mapping) or "system" in facts:
            raise InputError(f"{where}: custom_fact_extraction_prompt: give it or facts, not both")
        config["facts"] = {**facts, "system": text}
    if (text := config.pop("custom_instructions", None)) is not None:
        config["instructions"] = either(
            "custom_instructions", text, "instructions", config.get("instructions")
        )
    return config
