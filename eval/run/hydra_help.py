"""Names of runs, and what `--help` prints: both are asked for by conf/config.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from eval.records.folder import run_id

CONF = Path(__file__).parents[2] / "conf"
_USAGE = """memsys: benchmark the long-term memory of a conversational agent

  python -m eval.run strategy=graph_expand                   on the bundled sample
  python -m eval.run dataset=locomo strategy=graph_expand    on LoCoMo
  python -m eval.run dataset=locomo dataset.path=my.json     on your own conversations
  python -m eval.run -m strategy=vector_only,graph_expand    several runs and a table of them
  python -m eval.run -m experiment=NAME                      an experiment of those below, all its
                                                             runs: docs/experiments.md,
                                                             docs/maintained-memory.md
  python -m eval.run -m hydra/launcher=joblib strategy=...   in several processes, or on a cluster:
                                                             docs/distributed.md
  python -m eval.run ... resume=RUN_ID                       go on where a run stopped

Any value of the configuration can be set on the command line (k=5, strategy.start=hybrid);
`python -m eval.run --cfg job --resolve ...` prints it whole.

"""


def help_text() -> str:
    """Usage, then every group with a line for each option, in its file's own words."""
    text = _USAGE
    for group in sorted(folder for folder in CONF.iterdir() if folder.is_dir()):
        options = sorted(group.glob("*.yaml"))
        if not options:
            continue
        text += f"{group.name}=\n"
        width = max(14, *(len(path.stem) for path in options))
        text += "".join(f"  {path.stem:<{width}} {title(path)}\n" for path in options)
    values = (CONF / "config.yaml").read_text(encoding="utf-8").split("  - override")[-1]
    settings = values.split("\n\n")[1]
    text += "\nSettings and their defaults:\n" + settings + "\n"
    return text.replace("$", "$$")  # Hydra fills the help in as a string.Template


def no_such_setting(given: str) -> str:
    """One line on a setting that there is not: which options of its group have it, or else the
    setting of the nearest name, if one is near. Names are those of conf/ alone.
    """
    group, _, name = given.partition(".")
    if given == "metric":
        return "metric: no such option; --config-dir names the folder with yours (docs/extend.md)"
    if name and (CONF / group).is_dir():
        options = {path.stem: set(_settings(path)) for path in (CONF / group).glob("*.yaml")}
        if owners := sorted(option for option in options if name in options[option]):
            having = ", ".join(owners)
            return f"{given}: the {group} that is chosen has none; it is a setting of {having}"
        near = [f"{group}.{one}" for one in get_close_matches(name, set().union(*options.values()))]
    else:
        groups = {folder.name for folder in CONF.iterdir() if folder.is_dir()}
        near = get_close_matches(given, groups | set(_settings(CONF / "config.yaml")))
    hint = f"; did you mean {near[0]}?" if near else ""
    return (
        f"{given}: no such setting{hint} (python -m eval.run --cfg job prints all; a new one that "
        f"a part would take: +{given}=...)"
    )


def _settings(path: Path) -> Iterator[str]:
    def names(node: Mapping[Any, Any], before: str) -> Iterator[str]:
        for name, value in node.items():
            yield f"{before}{name}"
            if isinstance(value, Mapping):
                yield from names(value, f"{before}{name}.")

    node = OmegaConf.to_container(OmegaConf.load(path))
    if isinstance(node, Mapping):
        yield from names(node, "")


def register() -> None:
    """Make the two known to the configuration."""
    OmegaConf.register_new_resolver("memsys_run_id", run_id, replace=True)
    OmegaConf.register_new_resolver("memsys_help", help_text, replace=True)


def title(path: Path) -> str:
    """What an option's file says of itself: its first line, after the package it may name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[lines[0].startswith("# @package")].removeprefix("#").strip()
