"""Shared parts of all commands: exit codes, one-line errors, progress bars, list of commands."""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import os
import re
import runpy
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from eval.rendering.width import widen
from memsys.core.errors import InputError, complain, fault_of_machine
from memsys.core.program import as_started

FAILED, BAD_INPUT, INTERRUPTED, UNREAD, TERMINATED = 1, 2, 130, 141, 143
# Commands of earlier versions, and where they are now.
RENAMED = {
    "losses": "diagnose",
    **{name: f"studies.{name}" for name in ("bench", "bench_scale", "bench_stores")},
    "bench_llm": "studies.bench",
    **{name: f"studies.{name}" for name in ("calibrate", "lite", "overlay", "pictures")},
    **{name: f"studies.{name}" for name in ("published", "truth")},
    "auditing.standin": "studies.standin",
    "stats.simulate": "studies.coverage",
    "regressing.simulate": "studies.regression_power",
}
_OUTSIDE = {"serve": "memsys.service.serve"}  # commands of the memory system itself
_RUN = "run folder, id under results/runs or a part of it, or last"
_LONGEST = 80  # characters of arguments in the name of a file
_OTHERS = "; all others are compared with the first"
_PROGRAM = "python -m eval."
WIDE = "--wide"
_ALL_COLUMNS = "print each table in one block, however narrow the terminal is"
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
            formatter._format_args(one, one.dest if one.metavar is None else str(one.metavar))
            for one in self._get_positional_actions()
        ]
        name = self.prog.removeprefix(_PROGRAM)
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
    """Return an argument parser for `python -m eval.COMMAND`; `settings` are arguments of
    ArgumentParser.
    """
    return _Parser(prog=f"{_PROGRAM}{command}", description=description, **settings)


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
    heeded = [one for one in sent if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, raise_terminated) for one in heeded}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler or signal.SIG_DFL)


def beside(name: str, arguments: Sequence[str]) -> str:
    """Return a name for the files of a command that was given `arguments`, beside the `name` of
    those that it writes without any.
    """
    words = re.sub(r"[^\w.=-]+", "-", "-".join(arguments)).strip("-")
    digest = hashlib.sha256("\0".join(arguments).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{name}-{words}" if len(words) <= _LONGEST else f"{name}-{words[:_LONGEST]}-{digest}"


def progress(total: int | None, unit: str, **options: Any) -> tqdm[Any]:
    """Return a progress bar, which is silent unless on a terminal or in a notebook, and is erased
    at its end.

    `options`: further arguments of tqdm.
    """
    shown = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(total=total, unit=unit, disable=not shown, leave=False, **options)


def commands(package: str = "eval") -> dict[str, str]:
    """Return the first docstring line of each command by its name: of folders with `__main__.py`
    and, in `eval.studies`, of modules with a `main`.
    """
    folder = Path(str(importlib.import_module(package).__file__)).parent
    files = {path.parent.name: path for path in folder.glob("*/__main__.py")}
    if package == "eval":
        files |= {name: Path(str(_origin(module))) for name, module in _OUTSIDE.items()}
    else:
        texts = {path: path.read_text(encoding="utf-8") for path in folder.glob("[!_]*.py")}
        files |= {path.stem: path for path, text in texts.items() if "\ndef main(" in text}
    return {name: _first_line(files[name]) for name in sorted(files)}


def listed(package: str, program: str) -> str:
    """Return usage and one line for each command of `package`, for the terminal."""
    found = commands(package)
    width = max(map(len, found))
    lines = [f"  {name.ljust(width)}  {line}" for name, line in found.items()]
    usage = f"usage: {program} COMMAND [ARGUMENTS]"
    hint = f"{program} COMMAND --help explains the arguments of a command."
    return "\n".join([usage, "", *lines, "", hint])


def dispatch(arguments: Sequence[str], package: str, program: str) -> int:
    """Run the command that `arguments` begin with as `python -m` would, or list all commands.

    Returns the exit code where the command itself does not exit: 2 for an unknown command.
    """
    if not arguments or arguments[0] in {"-h", "--help"}:
        return code_of(lambda: print(listed(package, program)))
    name = arguments[0]
    if name not in commands(package):
        new = RENAMED.get(name)
        hint = f"it is now {program} {new.replace('.', ' ')}" if new else f"{program} lists them"
        complain(f"{name}: no such command; {hint}")
        return BAD_INPUT
    module = _OUTSIDE.get(name, f"{package}.{name}") if package == "eval" else f"{package}.{name}"
    sys.argv = [f"python -m {module}", *arguments[1:]]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return 0


def refuse_old_name() -> None:
    """Exit with code 2 and one line if this process was started as `python -m eval.OLD_NAME`."""
    words = sys.orig_argv
    if sys.argv[:1] != ["-m"] or "-m" not in words:
        return
    module = words[words.index("-m") + 1]
    new = RENAMED.get(module.removeprefix("eval."))
    if new and module.startswith("eval."):
        complain(f"{module} is now eval.{new}: python -m eval.{new}")
        sys.exit(BAD_INPUT)


def _origin(module: str) -> str | None:
    spec = find_spec(module)
    return None if spec is None else spec.origin


def _first_line(path: Path) -> str:
    """Return the first sentence of a module's docstring without the command itself."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = doc.split("\n\n")[0].replace("\n", " ")
    _, separator, rest = first.partition("`: ")
    line = rest if separator and first.startswith("`python -m") else first
    return line[:1].upper() + line[1:]
