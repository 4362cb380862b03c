"""docs/options.md from conf: each group, option and setting with its default and its comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from memsys.core.files import read_text
from memsys.core.places import CONF

_INTRODUCTION = """# Options

For everyone who starts runs: each value that `python -m eval.run` accepts, with its default. An
option is a file `conf/GROUP/OPTION.yaml`, chosen by `GROUP=OPTION`; a setting is a value in it, set
by its full name. `python -m eval.run --help` prints the options, and `--cfg job --resolve` the
values of one run. Options of your own: [adding a part](extend.md).

This page is generated from `conf` by `python -m eval.studies.reference`.
"""
_GROUPS = {
    "context": "How retrieved memories are written for the reader.",
    "dataset": "Conversations and questions; [data](../data/README.md) describes the sets.",
    "debug": "Settings to try out a configuration.",
    "embedder": "The model that turns texts into vectors.",
    "experiment": "The sweeps behind the tables of the docs ([experiments](experiments.md)), "
    "started by `-m experiment=NAME`. Each sets values of other groups.",
    "graph": "The nodes and edges between memories ([graphs](graph.md)).",
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
_FIXED = {"_target_", "_partial_", "_convert_", "_recursive_", "defaults", "hydra"}


class Setting(NamedTuple):
    """A setting: its full name, its default as YAML, and the comment on its line."""

    name: str
    default: str
    comment: str


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
    """Return docs/options.md."""
    parts = [_INTRODUCTION, "## Settings of every run\n", _table(_general(conf / "config.yaml"))]
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
    settings = [one for option in options for one in option.settings]
    found = {
        name: {one.comment for one in settings if one.name == name and one.comment}
        for name in {one.name for one in settings if not one.comment}
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
    text = read_text(path)
    lines = text.splitlines()[text.startswith("# @package") :]
    comments = []
    for line in lines:
        if not line.startswith("#") or line.startswith("# to run:"):
            break
        comments.append(line.removeprefix("#").strip())
    root = yaml.compose(text)
    values = yaml.safe_load(text)
    extends = [
        one for one in values.get("defaults", ()) if isinstance(one, str) and one != "_self_"
    ]
    settings = _settings(root, text.splitlines(), group)
    return Option(
        path.stem, " ".join(comments), values.get("_target_", ""), tuple(extends), tuple(settings)
    )


def _general(config: Path) -> list[Setting]:
    text = read_text(config)
    return list(_settings(yaml.compose(text), text.splitlines(), ""))


def _settings(node: yaml.Node | None, lines: Sequence[str], prefix: str) -> Iterator[Setting]:
    """Yield the settings of a mapping, those of nested mappings by their full names."""
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value in _FIXED:
            continue
        name = f"{prefix}.{key.value}" if prefix else key.value
        comment = _comment(key, value, lines)
        if not isinstance(value, yaml.MappingNode) or not value.value:
            yield Setting(name, f"`{_source(value)}`", comment)
            continue
        target = next((v.value for k, v in value.value if k.value == "_target_"), None)
        if target:
            yield Setting(name, f"`{target}`", comment)
        for inner in _settings(value, lines, name):
            # {a: 1, b: 2} on one line has one comment for all of them.
            yield inner._replace(comment=comment) if value.flow_style else inner


def _comment(key: yaml.Node, value: yaml.Node, lines: Sequence[str]) -> str:
    """Return the comment behind a setting, or the lines of comment above it; "" without one."""
    line, column = value.end_mark.line, value.end_mark.column
    if value.start_mark.line > key.end_mark.line:  # a block: its comment follows the key
        line, column = key.end_mark.line, key.end_mark.column + 1
    behind = lines[line][column:].strip() if line < len(lines) else ""
    if behind.startswith("#"):
        return behind.removeprefix("#").strip()
    above: list[str] = []
    for one in reversed(lines[1 : key.start_mark.line]):  # the first line is of the file
        if not one.strip().startswith("#"):
            return " ".join(above)
        above.insert(0, one.strip().removeprefix("#").strip())
    return ""  # of the file


def _source(node: yaml.Node) -> str:
    """Return a default as one would write it on the command line."""
    if isinstance(node, yaml.SequenceNode):
        return "[" + ",".join(_source(one) for one in node.value) + "]"
    if isinstance(node, yaml.MappingNode):
        return "{}"
    return str(node.value) or ("''" if getattr(node, "style", None) else "null")


def _sentence(option: Option, group: str) -> str:
    text = f"{option.title}."
    if option.extends:
        links = [f"[{group}={name}](#{group}{name})" for name in option.extends]
        text += f" Has the settings of {', '.join(links)}{', and these' * bool(option.settings)}."
    return f"{text} Class: `{option.target}`.\n" if option.target else f"{text}\n"


def _table(settings: Sequence[Setting]) -> str:
    return table(
        ("setting", "default", "meaning"),
        [(f"`{one.name}`", one.default, one.comment) for one in settings],
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in markdown whose columns are aligned at the left."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [header, ["---"] * len(header), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
