"""Errors as one line: of the configuration, and of a user's own code with its file and line."""

import inspect
import re
import sysconfig
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hydra.errors import HydraException, InstantiationException
from hydra.utils import get_object
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from memsys.core.errors import InputError, fault_of_machine
from memsys.core.places import CONF

_PACKAGES = Path(__file__).parents[2]
_NOT_THE_USERS = (
    *(str(_PACKAGES / name) for name in ("eval", "memsys", "baselines")),
    *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")),
    "<",  # <frozen importlib>, <string>
)
_OF_RESOLVER = re.compile(
    r"InputError raised while resolving interpolation: (.*?)(?: full_key: .*)?$"
)
_LAUNCHERS = {
    "joblib": "pip install -e '.[joblib]' -c requirements.lock",
    "ray": "make ray, and start the sweep by .venv-ray/bin/python",
}


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Raise InputError, with the message in one line, in place of an error of Hydra."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(blame(error) or one_line(error)) from error


def blame(error: BaseException) -> str | None:
    """Return the message of `error` if the input caused it, None if it is a programming error.

    Hydra wraps what a constructor raises; an InputError inside has the better message.
    """
    inner = _cause(error)
    if isinstance(inner, InputError):
        return str(inner)
    if not isinstance(error, HydraException | OmegaConfBaseException):
        return None
    if isinstance(error, InstantiationException) and users_place(inner):
        return None
    message = " ".join(str(error).partition("Config search path")[0].split())
    if ours := _OF_RESOLVER.match(message):
        return ours[1]
    if unknown := re.match(r"Could not override '([^']+)'", message):
        return no_such_setting(unknown[1])
    if missing := re.search("'hydra/launcher/(joblib|ray)'", message):
        return f"{message.rstrip('.')}; install it: {_LAUNCHERS[missing[1]]}"
    if unknown := re.match(r"(?:In '[^']*': )?Could not find '([^']+)/([^'/]+)'", message):
        options = message.partition("Available options in ")[2].partition(": ")[2].split()
        return no_such_option(unknown[1], unknown[2], options)
    if isinstance(inner, TypeError) and (refused := _refused_setting(message, str(inner))):
        return refused
    unlocated, hint, _ = message.partition(", set env var HYDRA_FULL_ERROR=1")
    return f"{unlocated}: {' '.join(str(inner).split())}" if hint else message


def explain(error: BaseException) -> str | None:
    """Return one line on an `error` that the input or the file system caused; None if it is a
    programming error.
    """
    return blame(error) or (None if users_place(error) else fault_of_machine(error))


def place_of(error: BaseException) -> str:
    """Return `file:line` where the user's code raised `error`, or, if none of it took part, where
    it was raised; "" for an error without traceback.
    """
    inner = _cause(error) if isinstance(error, InstantiationException) else error
    if place := users_place(inner):
        return place
    frames = traceback.extract_tb(inner.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def one_line(error: BaseException) -> str:
    """Return class, message, file and line of a programming error."""
    inner = _cause(error) if isinstance(error, InstantiationException) else error
    return f"{type(inner).__name__}: {' '.join(str(inner).split())} ({place_of(error)})"


def _cause(error: BaseException) -> BaseException:
    """Return the first error of the chain of causes, or the InputError in it."""
    while not isinstance(error, InputError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def users_place(error: BaseException) -> str:
    """Return `file:line` of the innermost frame outside of installed packages and this project;
    "" if there is none.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_NOT_THE_USERS)
    ]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def no_such_option(group: str, name: str, options: Sequence[str]) -> str:
    """Return one line on an unknown option of a group, with the nearest of its `options`."""
    if near := get_close_matches(name, options, n=1):
        hint = f"did you mean {near[0]}? (python -m eval.run --help lists all)"
    else:
        hint = f"its options are {', '.join(options)}" if options else "see --help"
    return f"{group}={name}: no such option; {hint}"


def _refused_setting(message: str, error: str) -> str | None:
    """Return one line on a setting that a class does not take; `message` is Hydra's, `error` that
    of the constructor.
    """
    target = re.search(r"Error in call to target '([^']+)'", message)
    unknown = re.search(r"unexpected keyword argument '(\w+)'", error)
    if target is None or unknown is None:
        return None
    key = re.search(r"full_key: ([\w.]+)", message)
    names = inspect.signature(get_object(target[1])).parameters
    place = f"{key[1]}.{unknown[1]}" if key else unknown[1]
    return f"{place}: {target[1]} has no such setting; it has {', '.join(names) or 'none'}"


def no_such_setting(name: str) -> str:
    """Return one line on an unknown setting: the options of its group that have it, or else the
    setting with the nearest name in conf/.
    """
    group, _, field = name.partition(".")
    if name == "metric":
        return "metric: no such option; --config-dir names the folder with yours (docs/extend.md)"
    listing = "python -m eval.run --cfg job prints all"
    if (CONF / group).is_dir():
        listing = f"python -m eval.run --help {group}=... lists those of an option"
    if field and (CONF / group).is_dir():
        options = {path.stem: set(settings_of(path)) for path in (CONF / group).glob("*.yaml")}
        if owners := sorted(option for option in options if field in options[option]):
            having = ", ".join(owners)
            return f"{name}: the chosen {group} has no such setting; these have it: {having}"
        near = [
            f"{group}.{key}" for key in get_close_matches(field, set().union(*options.values()))
        ]
    else:
        groups = {folder.name for folder in CONF.iterdir() if folder.is_dir()}
        near = get_close_matches(name, groups | set(settings_of(CONF / "config.yaml")))
    hint = f"; did you mean {near[0]}?" if near else ""
    return (
        f"{name}: no such setting{hint} ({listing}; to add a new parameter of a class: +{name}=...)"
    )


def settings_of(path: Path) -> Iterator[str]:
    """Yield the settings of a file of conf/ and of its defaults, such as `expansion.hops`."""

    def names(node: Mapping[Any, Any], before: str) -> Iterator[str]:
        for name, value in node.items():
            yield f"{before}{name}"
            if isinstance(value, Mapping):
                yield from names(value, f"{before}{name}.")

    node = OmegaConf.to_container(OmegaConf.load(path))
    if isinstance(node, Mapping):
        yield from names(node, "")
        for base in node.get("defaults", []) if path.parent != CONF else []:
            if isinstance(base, str) and base != "_self_":
                yield from settings_of(path.parent / f"{base}.yaml")
