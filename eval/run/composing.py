"""`python -m eval.run`: its arguments composed to a configuration, and what they ask for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from hydra import compose, version
from hydra._internal.hydra import Hydra
from hydra._internal.utils import _run_hydra, create_config_search_path, get_args_parser
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict
from yaml import YAMLError

from eval.cli import WIDE, code_of
from eval.rendering.errors import configuration_errors
from eval.rendering.terminal import widen
from eval.run.arguments import check_arguments, check_folder, flags_first, groups_of
from eval.run.option_help import options_help, title
from eval.run.settings import check_overrides, check_settings
from memsys.core.errors import InputError, as_started
from memsys.core.places import CONF, cache_folder

CONFIG = "config"  # of conf/
_HYDRA_FLAGS = ("help", "hydra_help", "cfg", "info", "resolve", "shell_completion")  # to Hydra
_NAMES = ("hydra.run.dir", "hydra.sweep.subdir")  # settings that name a run's folder
_USAGE = Path(__file__).with_name("usage.txt")  # how the help begins


@dataclass(frozen=True, slots=True)
class Order:
    """A run as it was ordered: its configuration, the chosen option of each group, and its folder.

    `arguments`: those of the command, of a sweep with the values of all its runs. `overrides`:
    those of this run, with the values that an experiment adds. `is_named`: the command names the
    folder. `varied`: settings that the chosen experiment varies.
    """

    config: DictConfig
    choices: dict[str, str]
    folder: Path
    arguments: tuple[str, ...]
    overrides: tuple[str, ...]
    is_named: bool
    varied: frozenset[str]

    @classmethod
    def of(cls, config: DictConfig, hydra: Any, folder: str, arguments: Sequence[str]) -> Order:
        """Return the order of a `config` that was composed with the settings `hydra` of Hydra."""
        return cls(
            config,
            _options(hydra.runtime.choices),
            Path(os.path.abspath(folder)),  # noqa: PTH100 - links are not followed
            tuple(arguments),
            tuple(hydra.overrides.task),
            any(override.startswith(_NAMES) for override in hydra.overrides.hydra),
            frozenset(OmegaConf.select(hydra, "sweeper.params") or ()),
        )


@contextmanager
def composition(own: str | None = None) -> Iterator[Hydra]:
    """Prepare Hydra for `compose`, with the options in the folder `own` beside those of conf/.

    Raises InputError if there is no such folder.
    """
    register()
    path = create_config_search_path(str(CONF))
    if own is not None:
        check_folder(own)
        folder = f"file://{Path(own).resolve()}"
        path.prepend("command-line", folder, SearchPathQuery(provider="schema"))
    of_process, job = GlobalHydra.instance(), HydraConfig.instance()
    before = of_process.hydra, job.cfg
    of_process.clear()
    try:
        yield Hydra.create_main_hydra2("run", path)
    finally:
        of_process.hydra, job.cfg = before


@contextmanager
def readable() -> Iterator[None]:
    """Raise InputError where a file of --config-dir cannot be read; use it around composing."""
    try:
        yield
    except (YAMLError, UnicodeDecodeError, RecursionError) as error:
        why = "it names itself in its defaults" if isinstance(error, RecursionError) else str(error)
        raise InputError(
            f"an option's YAML file cannot be read: {' '.join(why.split())}; correct it"
        ) from error


@contextmanager
def ordered(arguments: Sequence[str]) -> Iterator[Order]:
    """Yield the single run that the `arguments` of `eval.run` order, ready to `compose` more.

    Raises HydraException on an unknown option, InputError on a setting that a run cannot use.
    """
    options = get_args_parser().parse_args(flags_first(arguments))
    check_overrides(options.overrides)
    with composition(options.config_dir):
        name = options.config_name or CONFIG
        with readable():
            config = compose(name, options.overrides, return_hydra_config=True)
        HydraConfig.instance().set_config(config)  # for interpolations of Hydra's settings
        hydra = config.hydra
        with open_dict(config):
            del config["hydra"]
        check_settings(config)
        yield Order.of(config, hydra, hydra.run.dir, arguments)


def check_flags(arguments: Sequence[str]) -> None:
    """Raise InputError on flags other than --config-dir."""
    flags = [arg for arg in arguments if arg.startswith("-") and not arg.startswith("--config-dir")]
    if flags:
        raise InputError(f"{flags[0]}: a single run takes overrides and --config-dir alone")


def composed(arguments: Sequence[str]) -> tuple[DictConfig, dict[str, str]]:
    """Return the configuration and the chosen options of a single run; errors as of `ordered` and
    `check_flags`.
    """
    check_flags(arguments)
    with ordered(arguments) as order:
        return order.config, order.choices


def help_text() -> str:
    """Return usage, options of every group with the first line of their file, and settings."""
    name, indent = "python -m eval.run", "\n" + " " * 61
    text = as_started(_USAGE.read_text(encoding="utf-8"))
    text = text.replace(indent, indent[: 62 + len(as_started(name)) - len(name)])
    for group, options in sorted(groups_of(()).items()):
        width = max(14, *map(len, options))
        titles = (f"  {stem:<{width}} {title(CONF / group / f'{stem}.yaml')}\n" for stem in options)
        text += f"{group}=\n" + "".join(titles)
    values = (CONF / "config.yaml").read_text(encoding="utf-8").split("  - override")[-1]
    settings = values.split("\n\n")[1]
    text += "\nSettings and their defaults:\n" + settings + "\n"
    return text.replace("$", "$$")  # Hydra fills the help in as a string.Template


def register() -> None:
    """Register the resolvers that conf/config.yaml uses, and set the version of Hydra for it."""

    def late(name: str) -> Callable[..., Any]:
        def resolve(*arguments: Any) -> Any:
            return getattr(import_module("eval.records.folder"), name)(*arguments)

        return resolve

    version.setbase("1.3")
    OmegaConf.register_new_resolver("memsys_run_folder", late("run_folder"), replace=True)
    OmegaConf.register_new_resolver("memsys_run_id", late("run_id"), replace=True)
    OmegaConf.register_new_resolver("memsys_cache", lambda: str(cache_folder()), replace=True)
    OmegaConf.register_new_resolver("memsys_help", help_text, replace=True)


def _options(choices: Mapping[str, str | None]) -> dict[str, str]:
    """Return the chosen option of each group of memsys, without Hydra's groups, without `tracker`,
    which cannot change a result, and without `debug` unless it is chosen.
    """
    return {
        name: cast(str, option)
        for name, option in choices.items()
        if "hydra" not in name and name != "tracker" and (name != "debug" or option is not None)
    }


def main(arguments: Sequence[str]) -> int:
    """Do what `arguments` say and return the exit code.

    It is 2 if bad input or a folder that cannot be written prevented every run, 1 if a run failed
    or was refused within a sweep or a worker died, 130 after Ctrl-C, 143 after SIGTERM.
    """
    try:
        return code_of(lambda: _main(arguments))
    finally:
        if jobs := sys.modules.get("eval.run.jobs"):
            jobs.show_end()


def _main(arguments: Sequence[str]) -> int:
    if WIDE in arguments:
        widen()
    arguments = [argument for argument in arguments if argument != WIDE]
    if (help_text := options_help(arguments)) is not None:
        print(help_text)
        return 0
    check_arguments(arguments)
    arguments = flags_first(arguments)
    check_overrides(arguments)
    options = get_args_parser().parse_args(arguments)
    if not options.multirun and any(getattr(options, name) for name in _HYDRA_FLAGS):
        return _ask_hydra(options)
    from eval.run import jobs  # noqa: PLC0415 - half a second that only runs need

    return jobs.sweep(options, arguments) if options.multirun else jobs.single(arguments)


def _ask_hydra(options: Any) -> int:
    """Print what a flag of Hydra asks for, such as --cfg; no run is made."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises what it would print over many lines
    register()
    with configuration_errors(), readable():
        _run_hydra(options, get_args_parser(), _ask_hydra, str(CONF), CONFIG)
    return 0
