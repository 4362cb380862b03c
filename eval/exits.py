"""How a run ends that did not go well: one clear line, and the right exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hydra.errors import CompactHydraException, HydraException
from omegaconf.errors import OmegaConfBaseException

from eval.folder import discard_if_empty
from memsys.errors import InputError

BAD_INPUT, INTERRUPTED = 2, 130


@contextmanager
def one_line(folder: Path, *, sweep: bool) -> Iterator[None]:
    """Turn an error in the input into one line and exit code 2; other errors pass.

    In a sweep the other runs go on: Hydra gets the line and leaves with 1 at the end.
    """
    try:
        yield
    except Exception as error:
        message = blame(error)
        if message is None:
            raise
        discard_if_empty(folder)
        if sweep:
            raise CompactHydraException(message) from None
        print(f"error: {message}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def blame(error: BaseException) -> str | None:
    """What to tell of `error` if the input is to blame, else None.

    Hydra wraps what a constructor raises; an InputError inside is the better message.
    """
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, InputError):
            return str(inner)
        inner = inner.__cause__
    return str(error) if isinstance(error, HydraException | OmegaConfBaseException) else None


def leave(job: Callable[[], None], begun: list[str]) -> None:
    """Call Hydra's `job`; exit code 2 if no run could begin, 130 after Ctrl-C.

    Hydra itself leaves with 1 for an unknown option as for a failed run; `begun` tells them apart.
    """
    try:
        job()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except SystemExit as stop:
        sys.exit(BAD_INPUT if stop.code == 1 and not begun else stop.code)
