"""The page of options on the site, from conf: by group, each setting with default and comment."""

from collections.abc import Iterable, Sequence
from pathlib import Path

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


def page(conf: Path = CONF) -> str:
    """Return the page, in markdown."""
    of_every_run = _table(settings(conf / "config.yaml", ""))
    parts = [_INTRODUCTION, "## Settings of every run\n", of_every_run]
    defaults = default_options(conf / "config.yaml")
    for folder in sorted(path for path in conf.iterdir() if any(path.glob("*.yaml"))):
        group, files = folder.name, sorted(folder.glob("*.yaml"))
        parts.append(f"## {group}\n")
        default = f"Default: `{group}={defaults.get(group) or 'null'}`."
        parts.append(f"{_GROUPS.get(group, '')} {default}\n".lstrip())
        if group in ("experiment", "debug"):
            rows = [(f"`{group}={path.stem}`", title(path)) for path in files]
            parts.append(table((group, "what it is"), rows))
            continue
        options = {path: list(settings(path, group)) for path in files}
        meanings = _meanings([setting for of_option in options.values() for setting in of_option])
        for path, of_option in options.items():
            parts.append(f"### {group}={path.stem}\n")
            parts.append(_sentence(path, group, and_these=bool(of_option)))
            if of_option:
                shown = [s._replace(comment=s.comment or meanings[s.name]) for s in of_option]
                parts.append(_table(shown))
    return "\n".join(parts)


def _meanings(every: Sequence[Setting]) -> dict[str, str]:
    """Return the comment of each setting of a group: one option of it explains a setting for all.

    Raises ValueError where an option leaves out a comment and others have none, or several.
    """
    by_name = {
        name: {setting.comment for setting in every if setting.name == name and setting.comment}
        for name in {setting.name for setting in every if not setting.comment}
    }
    if unclear := sorted(name for name, comments in by_name.items() if len(comments) != 1):
        raise ValueError(f"conf: no single comment says what these mean: {', '.join(unclear)}")
    return {name: comment for name, (comment,) in by_name.items()}


def default_options(config: Path) -> dict[str, str | None]:
    """Return the default option of each group in `config`."""
    options: dict[str, str | None] = {}
    for entry in yaml.safe_load(read_text(config))["defaults"]:
        if isinstance(entry, dict):
            options |= {name: option for name, option in entry.items() if " " not in name}
    return options


def _sentence(path: Path, group: str, *, and_these: bool) -> str:
    """Return what the option of a file is, the options that it extends, and the class it builds."""
    text, target = f"{title(path)}.", yaml.safe_load(read_text(path)).get("_target_")
    if extends := bases(path):
        links = [f"[{group}={name}](#{group}{name})" for name in extends]
        text += f" Has the settings of {', '.join(links)}{', and these' * and_these}."
    return f"{text} Class: `{target}`.\n" if target else f"{text}\n"


def _table(entries: Iterable[Setting]) -> str:
    rows = [(f"`{entry.name}`", f"`{entry.value}`", entry.comment) for entry in entries]
    return table(("setting", "default", "meaning"), rows)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in markdown whose columns are aligned at the left."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [header, ["---"] * len(header), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
