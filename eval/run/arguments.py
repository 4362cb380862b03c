"""Arguments in a form that Hydra does not know: flags for settings, and words without `=`.

Hydra would answer them with its own flags or a syntax error; here they are answered with the right
spelling.
"""

import argparse
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path

from hydra._internal.utils import get_args_parser

from eval.rendering.errors import settings_of
from memsys.core.errors import InputError
from memsys.core.places import CONF

if hasattr(argparse.ArgumentParser, "_check_help"):
    _check = argparse.ArgumentParser._check_help

    def _check_texts(parser: argparse.ArgumentParser, action: argparse.Action) -> None:
        """Since Python 3.14, argparse formats each help text as it is given, and Hydra gives an
        object that becomes a text when it is printed (facebookresearch/hydra#3121).
        """
        if isinstance(action.help, str):
            _check(parser, action)

    argparse.ArgumentParser._check_help = _check_texts

_HYDRAS = {
    name: action.nargs != 0
    for action in get_args_parser()._actions
    for name in action.option_strings
}  # flag -> whether a value follows it


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise InputError, with the right spelling, on the first flag that Hydra does not have, and
    on the first word that is neither NAME=VALUE nor the value of a flag; also on a flag that loads
    a pickled file, a folder of --config-dir that is none, and a setting that is given twice.
    """
    for folder in own_folders(arguments):
        check_folder(folder)
    given: dict[str, str] = {}
    expected = False  # a value
    for word, after in pairwise([*arguments, ""]):
        flag = word.partition("=")[0]
        if word.startswith("-"):
            expected = "=" not in word and _HYDRAS.get(flag, False)
            if not _is_hydras(flag):
                raise InputError(f"{flag}: {_spelling(word, after, groups_of(arguments))}")
            if flag.startswith("--e") and _RERUN.startswith(flag):
                raise InputError(f"{_RERUN}: {_UNSAFE}")
        elif expected or "=" in word or word.startswith("~"):
            name = flag.lstrip("+")
            if not expected and given.setdefault(name, word) is not word:
                raise InputError(f"{name}: given twice, {given[name]} and {word}; leave one out")
            expected = False
        else:
            raise InputError(f"{word}: {_spelling(word, after, groups_of(arguments))}")


def flags_first(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with flags and their values before the settings: Hydra refuses settings
    on both sides of a flag.
    """
    flags: list[str] = []
    settings: list[str] = []
    expected = False
    for argument in arguments:
        is_flag = argument.startswith("-")
        (flags if is_flag or expected else settings).append(argument)
        expected = is_flag and "=" not in argument and _HYDRAS.get(argument, False)
    return [*flags, *settings]


def _is_hydras(flag: str) -> bool:
    """Whether it is a flag of Hydra, or the beginning of one, or short flags with a value."""
    if flag.startswith("--"):
        return any(name.startswith(flag) for name in _HYDRAS)
    return flag in _HYDRAS or flag[:2] in _HYDRAS


def _spelling(argument: str, after: str, groups: dict[str, list[str]]) -> str:
    """Return how to write the flag or word `argument`: it may be meant as a setting, as an option
    of a group, or as a flag of Hydra; the argument `after` it may be its value.
    """
    name, _, value = argument.lstrip("-").replace("-", "_").partition("=")
    if not value and "=" not in after and not after.startswith("-"):
        value = after
    right: dict[str, list[str]] = {flag: [flag] for flag in _HYDRAS}
    for group, options in groups.items():
        for option in options:
            right.setdefault(option, []).append(f"{group}={option}")
    right |= {
        each: [f"{each}={value or '...'}"] for each in (*groups, *settings_of(CONF / "config.yaml"))
    }
    if name in right:
        dashes = ", without dashes" if argument.startswith("-") else ""
        return f"write {' or '.join(right[name])}{dashes}"
    near = get_close_matches(name, right, n=1) or get_close_matches(argument, _HYDRAS, n=1)
    if not near:
        return f"write NAME=VALUE, such as strategy=graph_expand; {_HELP}"
    return f"no such argument; did you mean {' or '.join(right[near[0]])}?"


def check_folder(path: str | Path, setting: str = "--config-dir") -> None:
    """Raise InputError unless `path`, the value of `setting`, is a folder."""
    if not Path(path).is_dir():
        raise InputError(f"{setting} {path}: no such folder; name the one with your options")


_RERUN = "--experimental-rerun"
_UNSAFE = "loads a pickled file, which may run any code; use the command in the run's manifest.json"
_HELP = "python -m eval.run --help lists all options"


def groups_of(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Return the options of each group, with those of --config-dir, strategy first."""
    groups: dict[str, list[str]] = {"strategy": []}
    for folder in (CONF, *own_folders(arguments)):
        for path in sorted(folder.glob("*/*.yaml")):
            groups.setdefault(path.parent.name, []).append(path.stem)
    return groups


def own_folders(arguments: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that --config-dir names."""
    for argument, after in pairwise([*arguments, ""]):
        name, _, value = argument.partition("=")
        if name == "-cd" or (name.startswith("--config-d") and "--config-dir".startswith(name)):
            yield Path(value or after)
