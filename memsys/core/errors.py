"""The error for bad input, as opposed to a fault of the program, checks that raise it, and the
commands that messages name.
"""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class InputError(Exception):
    """Bad input or configuration. The message names file, place and remedy; the exit code is 2."""


def refuse(faults: Mapping[str, object]) -> None:
    """Raise InputError with the first message of `faults` whose value is true: what is wrong."""
    for message, is_wrong in faults.items():
        if is_wrong:
            raise InputError(message)


SCRIPT = "memsys"
_SHIPPED = Path(__file__).resolve().parents[1] / "shipped"  # only in a wheel
_MODULE = re.compile(r"python -m eval[. ](?=[a-z_])")
_EXTRA = re.compile(r"pip install (?:-e '\.\[(\w+)\]'|'memsys\[(\w+)\]')( -c requirements\.lock)?")


def as_started(text: str) -> str:
    """Return `text` with the commands as the user enters them: `memsys cost` for `python -m
    eval cost` where the console script was started, and extras as this package was installed:
    `pip install 'memsys[mcp]'` from a wheel, `pip install -e '.[mcp]'` in a clone.
    """
    if any(Path(word).stem == SCRIPT for word in sys.orig_argv[:2]):  # the console script
        text = _MODULE.sub(f"{SCRIPT} ", text)
    return _EXTRA.sub(_install_command, text)


def _install_command(match: re.Match[str]) -> str:
    extra, pins = match[1] or match[2], match[3] or ""
    return (
        f"pip install 'memsys[{extra}]'"
        if _SHIPPED.is_dir()
        else f"pip install -e '.[{extra}]'{pins}"
    )


_OF_THE_MACHINE = frozenset(
    getattr(errno, name)
    for name in (
        *("ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EIO", "EFBIG", "EMFILE"),
        *("ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENAMETOOLONG", "ELOOP"),
    )
)


def fault_of_machine(error: BaseException) -> str | None:
    """Return file, reason and remedy of an error of the file system, such as a full disk or a
    folder that may not be written; None for any other error.
    """
    if not isinstance(error, OSError) or error.errno not in _OF_THE_MACHINE:
        return None
    where = f"{error.filename!s:.200}: " if error.filename else ""
    return f"{where}{error.strerror}; make space, or name a file or folder that can be used"


def complain(text: object, word: str = "error") -> None:
    """Write `WORD: TEXT` on stderr as one line and in one call, so that the lines of several
    processes do not run into each other. Commands in it are those of the user; see as_started.
    """
    line = as_started(" ".join(f"{word}: {text}".splitlines()))
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def first_problem(error: ValidationError) -> str:
    """Return field and message of the first problem that pydantic found: `rows[3].name: ...`."""
    first = error.errors(include_url=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    if not place and first["type"] == "value_error":  # of ours, which names the field
        return first["msg"].removeprefix("Value error, ")
    return f"{place.lstrip('.') or 'the whole'}: {first['msg'].removeprefix('Value error, ')}"


@contextmanager
def problems(where: object, remedy: str = "") -> Iterator[None]:
    """Raise InputError with `where`, the problem and the `remedy` in place of a ValueError; of the
    problems that one of pydantic has, the first. Put only the parsing of input inside.
    """
    try:
        yield
    except ValueError as error:
        from pydantic import ValidationError  # noqa: PLC0415 - takes a tenth of a second

        reason = first_problem(error) if isinstance(error, ValidationError) else error
        raise InputError(f"{where}: {reason}{remedy}") from error


def check_installed(package: str, option: str, extra: str) -> None:
    """Raise InputError naming `option` and the `extra` to install if `package` is missing."""
    if find_spec(package) is None:
        raise InputError(f"{option}: {package} is not installed; pip install -e '.[{extra}]'")


def check_whole(name: str, value: object, least: int = 1) -> int:
    """Return `value`. Raises InputError with `name` unless it is an integer of `least` or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: {value!r}; use a whole number of {least} or more")
    return value


def check_number(name: str, value: object, least: float, most: float) -> None:
    """Raise InputError with `name` unless `value` is a number from `least` to `most`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value <= most  # NaN is not
    ):
        raise InputError(f"{name}: {value!r:.60}; use a number from {least:g} to {most:g}")


def check_choice(name: str, value: object, options: Sequence[str]) -> None:
    """Raise InputError naming `name` unless `value` is one of `options`."""
    if value not in options:
        raise InputError(f"{name}: {value!r:.60} is none of {', '.join(options)}")
