"""The resolvers that conf/config.yaml uses: names of run folders and the text of `--help`."""

from __future__ import annotations

from pathlib import Path

from omegaconf import OmegaConf

from eval.records.folder import run_folder, run_id
from memsys.core.places import CONF, cache_folder
from memsys.core.program import as_started

_USAGE = """memsys: benchmark the long-term memory of a conversational agent

  python -m eval.run strategy=graph_expand                   on the bundled sample
  python -m eval.run dataset=locomo strategy=graph_expand    on LoCoMo
  python -m eval.run dataset=locomo dataset.path=my.json     on your own conversations
  python -m eval.run -m strategy=vector_only,graph_expand    several runs and a table of them
  python -m eval.run -m experiment=NAME                      all runs of an experiment listed below:
                                                             docs/experiments.md
  python -m eval.run -m hydra/launcher=joblib strategy=...   several processes, or a cluster:
                                                             docs/distributed.md
  python -m eval.run ... debug=default                       try it on five questions first
  python -m eval.run ... resume=RUN_ID                       resume a run that stopped
  python -m eval.run --help strategy=graph_expand            the settings of an option
  python -m eval.run --wide ...                              each table in one block

All values of the configuration can be set on the command line (k=5, strategy.start=hybrid);
`python -m eval.run --cfg job --resolve ...` prints all of them.

"""


def help_text() -> str:
    """Return usage, options of every group with the first line of their file, and settings."""
    name, indent = "python -m eval.run", "\n" + " " * 61
    text = as_started(_USAGE).replace(indent, indent[: 62 + len(as_started(name)) - len(name)])
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


def register() -> None:
    """Register the resolvers that conf/config.yaml uses."""
    OmegaConf.register_new_resolver("memsys_run_folder", run_folder, replace=True)
    OmegaConf.register_new_resolver("memsys_run_id", run_id, replace=True)
    OmegaConf.register_new_resolver("memsys_cache", lambda: str(cache_folder()), replace=True)
    OmegaConf.register_new_resolver("memsys_help", help_text, replace=True)


def title(path: Path) -> str:
    """Return the first line of an option's file, after the package that it may name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[lines[0].startswith("# @package")].removeprefix("#").strip()
