"""`python -m eval.run`: what its arguments ask for, with an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from hydra._internal.utils import _run_hydra, get_args_parser

from eval.cli import WIDE, code_of
from eval.rendering.errors import configuration_errors
from eval.rendering.terminal import widen
from eval.run.arguments import check_arguments, flags_first
from eval.run.composing import CONFIG, readable, register
from eval.run.option_help import options_help
from eval.run.settings import check_overrides
from memsys.core.places import CONF

_HYDRA_FLAGS = ("help", "hydra_help", "cfg", "info", "resolve", "shell_completion")  # to Hydra


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
    arguments = [one for one in arguments if one != WIDE]
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
