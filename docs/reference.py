"""The page of options on the site, from conf: by group, each setting with default and comment."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from eval.run.option_help import Setting, bases, settings, title
from memsys.core.files import read_text
from memsys.core.places import CONF

_INTRODUCTION = """# Options

Which options and settings does `memsys run` accept, and what are the defaults?

An option is a file `conf/GROUP/OPTION.yaml`, chosen by `GROUP=OPTION`; a setting is a value in it,
set by its full name. `memsys run --help` prints the options, and `--cfg job --resolve` the values
of one run. Options of your own: [adding a part](extend.md).
"""
_GROUPS = {
    "context": "How retrieved memories are written for the reader.",
    "dataset": "Conversations and questions; [data](../data/README.md) describes the sets.",
    "debug": "Settings to try out a configuration.",
    "embedder": "The model that turns texts into vectors.",
    "experiment": "The sweeps behind the tables of the docs ([findings](findings.md)), "
    "started by `-m experiment=NAME`. Each sets values of other groups.",
    "graph": "The nodes and edges between memories ([graphs](strategies.md#the-graph)).",
    "index": "How a store of memories is searched.",
    "judge": "Who decides whether an answer is right ([judges](judges.md)).",
    "llm": "The language model ([models](models.md)). `judge_llm` has the same options, for a "
    "judge other than the reader's model: `llm@judge_llm=openai`.",
    "memory": "The unit that is stored as one memory.",
    "reader": "Who answers the questions from the retrieved memories.",
    "relation_store": "Where relations are stored ([stores](stores.md)).",
    "strategy": "How memories are stored and retrieved.",
    "vector_store": "Where vectors are stored ([stores](stores.md)).",
}


class Option(NamedTuple):
    """A file of a group: its comment, the class that it builds, the options that it extends, and
    the settings that it sets.
    """

    name: str
    title: str
    target: str
    extends: tuple[str, ...]
    settings: tuple[Setting, ...]


def page(conf: Path = CONF) -> str:
    """Return the page, in markdown."""
    of_every_run = _table(settings(conf / "config.yaml", ""))
    parts = [_INTRODUCTION, "## Settings of every run\n", of_every_run]
    defaults = chosen(conf / "config.yaml")
    for folder in sorted(path for path in conf.iterdir() if any(path.glob("*.yaml"))):
        group = folder.name
        parts.append(f"## {group}\n")
        default = f"Default: `{group}={defaults.get(group) or 'null'}`."
        parts.append(f"{_GROUPS.get(group, '')} {default}\n".lstrip())
        options = [read(path, group) for path in sorted(folder.glob("*.yaml"))]
        if group in ("experiment", "debug"):
            rows = [(f"`{group}={one.name}`", one.title) for one in options]
            parts.append(table((group, "what it is"), rows))
            continue
        meanings = _meanings(options)
        for one in options:
            parts.append(f"### {group}={one.name}\n")
            parts.append(_sentence(one, group))
            if one.settings:
                shown = [s._replace(comment=s.comment or meanings[s.name]) for s in one.settings]
                parts.append(_table(shown))
    return "\n".join(parts)


def _meanings(options: Sequence[Option]) -> dict[str, str]:
    """Return the comment of each setting of a group: one option of it explains a setting for all.

    Raises ValueError where an option leaves out a comment and others have none, or several.
    """
    every = [one for option in options for one in option.settings]
    found = {
        name: {one.comment for one in every if one.name == name and one.comment}
        for name in {one.name for one in every if not one.comment}
    }
    if unclear := sorted(name for name, comments in found.items() if len(comments) != 1):
        raise ValueError(f"conf: no single comment says what these mean: {', '.join(unclear)}")
    return {name: comment for name, (comment,) in found.items()}


def chosen(config: Path) -> dict[str, str | None]:
    """Return the default option of each group in `config`."""
    found: dict[str, str | None] = {}
    for entry in yaml.safe_load(read_text(config))["defaults"]:
        if isinstance(entry, dict):
            found |= {name: option for name, option in entry.items() if " " not in name}
    return found


def read(path: Path, group: str) -> Option:
    """Return the option that the file at `path` defines."""
    value = yaml.safe_load(read_text(path))
    found = tuple(settings(path, group))
    return Option(path.stem, title(path), value.get("_target_", ""), tuple(bases(path)), found)


def _sentence(option: Option, group: str) -> str:
    text = f"{option.title}."
    if option.extends:
        links = [f"[{group}={name}](#{group}{name})" for name in option.extends]
        text += f" Has the settings of {', '.join(links)}{', and these' * bool(option.settings)}."
    return f"{text} Class: `{option.target}`.\n" if option.target else f"{text}\n"


def _table(found: Iterable[Setting]) -> str:
    rows = [(f"`{one.name}`", f"`{one.value}`", one.comment) for one in found]
    return table(("setting", "default", "meaning"), rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in markdown whose columns are aligned at the left."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [header, ["---"] * len(header), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
