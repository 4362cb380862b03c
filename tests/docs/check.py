"""Whether a command exists, and takes the arguments that a page gives it: nothing is run."""

import argparse
import io
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra._internal.utils import get_args_parser
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override

from baselines.libraries.memory import names as libraries
from eval.cli import WIDE, mains, module_of
from eval.run.option_help import options_help
from memsys.core.places import CONF

from .pages import PROJECT

# Words in capitals stand for something of the reader's; here, for something that parses.
_STANDS_FOR = {
    "--help GROUP": "--help strategy",
    "experiment=NAME": "experiment=kept",
    "tabulate NAME": "tabulate kept",
    "eval.run OVERRIDES": "eval.run",
    "memsys COMMAND": "memsys run",
    "<run_id>": "RUN",
    "strategy=$one": "strategy=bm25",  # in a loop of the shell
}
_OMITTED = re.compile(r" ?\[[A-Z]+ \.\.\.\]|(?<=[A-Z])\.\.\.|(?<= )\.\.\.(?= |$)")
_RAY = re.compile(r"^\+?hydra[/.]launcher(=ray|\.ray)")  # an environment of its own
_TARGETS = re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.M)
_EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


class Parsed(BaseException):
    """Raised once arguments were accepted: no command may catch it."""


def words_of(text: str) -> list[str]:
    """The words of a command, with something that parses in place of what it leaves open."""
    for written, read in _STANDS_FOR.items():
        text = text.replace(written, read)
    return shlex.split(_OMITTED.sub("", text))


def check(text: str, conf: Path) -> str | None:
    """What is wrong with the command `text`; None if nothing, or if it is no command of memsys.

    `conf`: a folder of options that the pages define themselves. Hydra is initialised.
    """
    words = words_of(text)
    while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words.pop(0)  # variables of the environment
    if not words:
        return None
    program, *rest = words
    if program == "make":
        return _make(rest)
    if program == "memsys":
        return _module(["eval", *rest], conf)
    if program.endswith("python") and rest[:1] == ["-m"]:
        return _module(rest[1:], conf)
    if program.endswith("python") and rest[:1] == ["-c"]:
        compile(rest[1], text, "exec")
        return None
    if program == "pip" and (extras := re.search(r"\[([\w,]+)\]", text)):
        unknown = set(extras[1].split(",")) - _EXTRAS.keys()
        return f"no such extra: {unknown}" if unknown else None
    return None


def _make(words: list[str]) -> str | None:
    for word in words:
        name, is_variable, value = word.partition("=")
        if not is_variable and word not in _TARGETS:
            return f"no target {word}"
        if is_variable and name == "NAME" and value not in libraries():
            return f"no library {value}"
    return None


def _module(words: list[str], conf: Path) -> str | None:
    """What is wrong with `python -m WORDS`."""
    name, *arguments = words
    if name == "eval":
        if not arguments or arguments[0].startswith("-"):
            return None
        if arguments[0] not in mains():
            return f"no command {arguments[0]}"
        name = module_of(arguments.pop(0))
    if name in {"eval.run", "eval.run.__main__"}:
        return _run(arguments, conf)
    if name == "eval.audit_judge.__main__":
        return _composed("audit_judge", tuple(arguments), conf)
    if not name.startswith(("eval.", "memsys.")):
        return None
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        return str(error)
    if words[0] != "eval" and "__main__" not in Path(str(module.__file__)).read_text("utf-8"):
        return f"{name} is no program"
    if not arguments:
        return None  # the command is mentioned
    if len(arguments) == 1 and arguments[0].startswith("--"):  # or a flag of it
        known = arguments[0] in (_parsed(module.main, ("--help",), name) or "")
        return None if known else f"unrecognized arguments: {arguments[0]}"
    return _parsed(module.main, tuple(arguments), name)


@cache
def _parsed(main: Callable[..., object], arguments: tuple[str, ...], name: str) -> str | None:
    """What is wrong with the `arguments` of a command that argparse reads."""
    real = argparse.ArgumentParser.parse_args

    def parse(self: argparse.ArgumentParser, *given: object, **options: object) -> None:
        real(self, *given, **options)  # type: ignore[call-overload]
        raise Parsed

    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(output), redirect_stdout(output):
        patch.setattr(argparse.ArgumentParser, "parse_args", parse)
        patch.setattr("sys.argv", [name, *arguments])
        try:
            main()
        except Parsed:
            return None
        except SystemExit as stop:
            return output.getvalue() if stop.code or arguments == ("--help",) else None
    return "reads no arguments" if arguments else None


def _run(arguments: list[str], conf: Path) -> str | None:
    """What is wrong with the arguments of `eval.run`: flags of Hydra, or values that compose."""
    if options_help(arguments) is not None:
        return None
    output = io.StringIO()
    try:
        with redirect_stderr(output):
            read = get_args_parser().parse_args([one for one in arguments if one != WIDE])
    except SystemExit:
        return output.getvalue()
    overrides = [one for one in read.overrides if not _RAY.match(one)]
    parsed = OverridesParser.create().parse_overrides(overrides)
    swept = [one.input_line for one in parsed if one.is_sweep_override() and not read.multirun]
    if swept:
        return f"several values without -m: {swept}"
    values = [list(_values(one)) for one in parsed]
    for chosen in (value for several in values for value in several):
        if _is_option(chosen, conf) is False:
            return f"no option {chosen}"
    if all(_is_option(chosen, conf) for several in values for chosen in several):
        return None  # tests/conf composes every option
    return _composed("config", tuple(several[0] for several in values), conf)


def _is_option(override: str, conf: Path) -> bool | None:
    """Whether `group=option` names an option; None if `override` sets something else."""
    group, _, option = override.partition("=")
    folders = [root / group for root in (CONF, conf) if (root / group).is_dir()]
    if not folders or option.startswith("[") or group.startswith("hydra"):
        return None
    return any((folder / f"{option}.yaml").is_file() for folder in folders)


def _values(override: Override) -> Iterator[str]:
    """Each value of a sweep as an override of its own."""
    if not override.is_sweep_override():
        yield str(override.input_line)
        return
    for value in override.sweep_string_iterator():
        yield f"{override.get_key_element()}={value}"


@cache
def _composed(name: str, overrides: tuple[str, ...], conf: Path) -> str | None:
    own = any(_is_option(one, conf) and not _is_option(one, CONF) for one in overrides)
    try:
        with initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
            compose(name, [*overrides, *[f"hydra.searchpath=[file://{conf}]"] * own])
    except Exception as error:
        return " ".join(str(error).split())[:300]
    return None
