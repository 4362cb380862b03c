"""How a run ends that did not go well: one clear line, and the right exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from hydra.errors import CompactHydraException, HydraException
from omegaconf.errors import OmegaConfBaseException

from eval.cli import BAD_INPUT, FAILED, INTERRUPTED
from eval.records.folder import discard_if_empty
from eval.run import sweep as sweeps
from eval.run.callbacks import show_sweep
from eval.run.hydra_help import no_such_setting
from memsys.errors import InputError
from memsys.llm.budget import BudgetReached

_LAUNCHERS = {
    "joblib": "pip install -e '.[joblib]' -c requirements.lock",
    "ray": "make ray, and start the sweep by .venv-ray/bin/python",
}


class Refused(CompactHydraException):
    """One run of a sweep that could not be; its message has been shown."""


class Broken(CompactHydraException):
    """One run of a sweep in which the program failed; its worker has shown where."""


@contextmanager
def one_line(folder: Path, *, sweep: bool) -> Iterator[None]:
    """Turn an error in the input into one line and exit code 2; other errors pass.

    A budget that is reached is no wrong input: its exit code is 1. In a sweep the other runs go on,
    and `leave` sees to the exit code. From a worker an error passes as Broken: not every class can
    be sent from one process to another, and no traceback can.
    """
    try:
        yield
    except BudgetReached as error:
        print(f"stopped: {error}", file=sys.stderr)
        if sweep:
            raise Refused(str(error)) from None
        sys.exit(FAILED)
    except Exception as error:
        message = blame(error)
        if message is None:
            if not sweeps.in_a_worker():
                raise
            traceback.print_exc()
            raise Broken(repr(error)) from None
        discard_if_empty(folder)
        print(f"error: {message}", file=sys.stderr)
        if sweep:
            raise Refused(message) from None
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
    if isinstance(error, HydraException | OmegaConfBaseException):
        message = " ".join(str(error).partition("Config search path")[0].split())
        if unknown := re.match(r"Could not override '([^']+)'", message):
            return no_such_setting(unknown[1])
        missing = re.search("'hydra/launcher/(joblib|ray)'", message)
        return (
            f"{message.rstrip('.')}; install it: {_LAUNCHERS[missing[1]]}" if missing else message
        )
    return None


def leave(job: Callable[[], None]) -> None:
    """Call Hydra's `job`; exit code 2 if the input kept every run from beginning, 1 if it kept one
    of a sweep or a worker died, 130 after Ctrl-C. A sweep's table is shown whatever became of its
    other runs.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises what it would write over many lines
    try:
        job()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Broken as error:
        print(f"error: a run of the sweep failed: {error}", file=sys.stderr)
        sys.exit(FAILED)
    except Refused:
        sys.exit(FAILED if sweeps.runs() else BAD_INPUT)
    except BrokenProcessPool as error:  # joblib's launcher: it then ends its other workers too
        print(f"error: {type(error).__name__}: a worker of the sweep died", file=sys.stderr)
        sys.exit(FAILED)
    except (HydraException, OmegaConfBaseException) as error:
        print(f"error: {blame(error)}", file=sys.stderr)
        sys.exit(FAILED if sweeps.runs() else BAD_INPUT)
    finally:
        show_sweep()
