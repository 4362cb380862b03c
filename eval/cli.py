"""Shared parts of commands: arguments, exit codes, errors, signals, and the list of commands."""

import argparse
import ast
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from eval.rendering.terminal import widen
from memsys.core.errors import (
    SCRIPT,
    InputError,
    as_started,
    check_whole,
    complain,
    fault_of_machine,
)
from memsys.core.files import shown
from memsys.core.places import cache_folder

FAILED, BAD_INPUT, INTERRUPTED, UNREAD, TERMINATED = 1, 2, 130, 141, 143
_RUN = "run folder, id under results/runs or a part of it, or last"
_OTHERS = "; all others are compared with the first"
_PROGRAM = "python -m eval "
WIDE = "--wide"
_ALL_COLUMNS = "print each table in one block, however narrow the terminal is"
_YOUNG = 50_000  # new objects from which the newest are looked through
_ELSEWHERE = {
    "options": "eval/run/option_help.py",
    "schema": "eval/records/schema.py",
    "serve": "memsys/service/__main__.py",
}
_EXAMPLES = {  # arguments of the commands that require some
    "cache": "stats",
    "cache export": "last --out answers.jsonl.gz",
    "cache import": "answers.jsonl.gz",
    "card": "last",
    "compare": "vector_only graph_expand",
    "cost": "last",
    "browse": "last",
    "diagnose": "last",
    "export": "last --to trec",
    "fetch": "locomo",
    "merge": "FIRST_RUN SECOND_RUN",
    "report": "last",
    "rescore": "answers.json",
    "retrieval": "last",
    "site": "cards --out site",
    "tabulate": "five_strategies",
}


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does."""


class _Parser(argparse.ArgumentParser):
    """Answers a command without its required arguments by a short usage and an example; a reader
    that has gone, as in `--help | head`, is no error.
    """

    def error(self, message: str) -> NoReturn:
        """Exit with code 2 after the message, what is to be written, and where the rest is."""
        _, absent, missing = message.partition("the following arguments are required: ")
        if not absent:
            super().error(message)
        formatter = self._get_formatter()
        words = [
            formatter._format_args(arg, arg.dest if arg.metavar is None else str(arg.metavar))
            for arg in self._get_positional_actions()
        ]
        name = self.prog.removeprefix(_PROGRAM).removeprefix(f"{SCRIPT} ")
        example = f"example: {self.prog} {_EXAMPLES[name]}\n" if name in _EXAMPLES else ""
        usage = f"usage: {self.prog} {' '.join([*words, '[OPTIONS]'])}\n"
        hint = f"{self.prog} --help explains all arguments\n"
        self.exit(BAD_INPUT, f"error: missing: {missing}\n{usage}{example}{hint}")

    def _print_message(self, message: str, file: Any = None) -> None:
        try:
            super()._print_message(as_started(message), file)
            (file or sys.stderr).flush()
        except BrokenPipeError:
            silence_stdout()


class _Wide(argparse.Action):
    def __call__(self, *_: object) -> None:
        widen()


def parser(command: str, description: str, **settings: Any) -> argparse.ArgumentParser:
    """Return an argument parser for `python -m eval COMMAND`; `settings` are arguments of
    ArgumentParser.
    """
    prog = as_started(f"{_PROGRAM}{command}")
    return _Parser(prog=prog, description=description, **settings)


def add_wide(command: argparse.ArgumentParser) -> None:
    """Add the option --wide, which prints each table in one block."""
    command.add_argument(WIDE, action=_Wide, nargs=0, help=_ALL_COLUMNS)


def add_run(command: argparse.ArgumentParser, name: str = "run") -> None:
    """Add the argument RUN to `command`: a string for memsys.core.places.find_run."""
    command.add_argument(name, metavar="RUN", help=_RUN)


def add_runs(
    command: argparse.ArgumentParser, *, compared: bool = False, optional: bool = False
) -> None:
    """Add the argument `runs`, one RUN or more (`optional`: or none); `compared`: all others with
    the first.
    """
    command.add_argument(
        "runs", nargs="*" if optional else "+", metavar="RUN", help=_RUN + _OTHERS * compared
    )


def add_cache(command: argparse.ArgumentParser, use: str = "") -> None:
    """Add the option --cache, the folder of recorded answers; `use`: what for, in its help."""
    default = cache_folder()
    place = f"folder of recorded answers{use} (default: the variable MEMSYS_CACHE, else {default})"
    command.add_argument("--cache", type=Path, default=default, metavar="FOLDER", help=place)


def check_seed_and_out(options: argparse.Namespace) -> None:
    """Raise InputError if the option --seed is below 0, or --out names a file."""
    check_whole("--seed", options.seed, 0)
    if options.out is not None:
        check_out(options.out)


def check_out(out: Path) -> None:
    """Raise InputError if the folder of --out is a file."""
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {shown(out)}: is a file; name a folder")


def check_replaceable(out: Path, *, replaceable: bool) -> None:
    """Raise InputError if there is something at --out that is not `replaceable`: of others."""
    if out.exists() and not replaceable and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"--out {shown(out)}: is something else already; name a new folder")


@contextmanager
def writing_into(out: Path) -> Iterator[None]:
    """Create the folder of --out; a fault of the file system here and within is an InputError."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise InputError(f"--out {out}: cannot be written ({error}); name another") from error


def code_of(job: Callable[[], int | None]) -> int:
    """Return the exit code of a command: that of `job` (None: 0), 2 after one line for an
    InputError or a fault of the file system, 130 after Ctrl-C, 143 after SIGTERM or the end of the
    terminal, 141 where the reader of the output has gone, as in `| head`.
    """
    open_streams()
    try:
        with heeding_termination():
            code = job() or 0
            sys.stdout.flush()
            return code
    except InputError as error:
        complain(error)
        return BAD_INPUT
    except BrokenPipeError:
        silence_stdout()
        return UNREAD
    except OSError as error:
        if (fault := fault_of_machine(error)) is None:
            raise
        complain(fault)
        return BAD_INPUT
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED


def open_streams() -> None:
    """Drop what is written where stdout or stderr is closed, as by `>&-`, and is None in Python."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def silence_stdout() -> None:
    """Drop what stdout still holds after its reader has gone: Python would flush it, and complain
    once more, as it ends.
    """
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def heeding_termination() -> Iterator[None]:
    """Raise Terminated in the main thread at SIGTERM, and at SIGHUP, that a terminal sends at its
    end, unless it is ignored, as by nohup. Both would end the process at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled by the main thread alone
        return

    def raise_terminated(*_: object) -> None:
        raise Terminated

    sent = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    heeded = [number for number in sent if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, raise_terminated) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look through new objects seldom: imported modules stay, and what a command makes seldom
    refers to itself. It takes a twentieth of a run otherwise, and a tenth of `memsys rescore`.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(_YOUNG, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@cache
def mains() -> dict[str, Path]:
    """Return the file of each command by its name: `__main__.py` of a folder, one or two levels
    below eval, or of the memory service, or a module that prints reference.
    """
    root = Path(__file__).parents[1]
    mains = [*root.glob("eval/*/__main__.py"), *root.glob("eval/*/*/__main__.py")]
    file_of = {path.parent.name: path for path in mains}
    return dict(
        sorted((file_of | {name: root / path for name, path in _ELSEWHERE.items()}).items())
    )


def module_of(name: str) -> str:
    """Return the name of the module of the command `name`, one of `mains`."""
    return ".".join(mains()[name].relative_to(Path(__file__).parents[1]).with_suffix("").parts)


def commands() -> dict[str, str]:
    """Return the first docstring line of each command by its name."""
    return {name: _first_line(path) for name, path in mains().items()}


def listed(program: str) -> str:
    """Return usage and one line for each command, for the terminal."""
    descriptions = commands()
    width = max(map(len, descriptions))
    lines = [f"  {name.ljust(width)}  {line}" for name, line in descriptions.items()]
    usage = f"usage: {program} COMMAND [ARGUMENTS]"
    hint = f"{program} COMMAND --help explains the arguments of a command."
    return "\n".join([usage, "", *lines, "", hint])


def dispatch(arguments: Sequence[str], program: str) -> int:
    """Run the command that `arguments` begin with, or list all commands.

    Returns the exit code of the command, 2 for an unknown one.
    """
    if not arguments or arguments[0] in {"-h", "--help"}:
        return code_of(lambda: print(listed(program)))
    name = arguments[0]
    if name not in mains():
        near = get_close_matches(name, mains(), 1)
        hint = f"did you mean {near[0]}? {program} lists all" if near else f"{program} lists them"
        complain(f"{name}: no such command; {hint}")
        return BAD_INPUT
    sys.argv = [f"{_PROGRAM}{name}", *arguments[1:]]
    code: int = import_module(module_of(name)).main()
    return code


def _first_line(path: Path) -> str:
    """Return the first sentence of a module's docstring without the command itself."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = doc.split("\n\n")[0].replace("\n", " ")
    _, separator, rest = first.partition("`: ")
    line = rest if separator and first.startswith("`python -m") else first
    return line[:1].upper() + line[1:]
