"""Errors that end a run: one clear line, and the exit code."""

from __future__ import annotations

import os
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
from eval.rendering.errors import blame, one_line
from eval.run import sweep as sweeps
from eval.run.failures import LOG, RepeatedFailure, log
from memsys.llm.budget import BudgetReached
from memsys.text.addresses import without_secrets


class Refused(CompactHydraException):
    """One run of a sweep was refused; its message has been shown."""


class Broken(CompactHydraException):
    """One run of a sweep failed because of a programming error; its message has been shown."""


@contextmanager
def shown(folder: Path, *, sweep: bool) -> Iterator[None]:
    """Turn an exception into one line and an exit code: 2 for bad input, 1 for a reached budget,
    for failures in a row and for a programming error, whose traceback goes to log.txt in `folder`.

    In a sweep the other runs continue, and `leave` sets the exit code. The exceptions raised for
    this are of classes that can be sent between processes.
    """
    try:
        yield
    except (BudgetReached, RepeatedFailure) as error:
        print(f"stopped: {error}", file=sys.stderr)
        if sweep:
            raise Refused(str(error)) from None
        sys.exit(FAILED)
    except Exception as error:
        message = blame(error)
        if message is not None:
            discard_if_empty(folder)
            print(f"error: {message}", file=sys.stderr)
            if sweep:
                raise Refused(message) from None
            sys.exit(BAD_INPUT)
        fault = without_secrets(one_line(error))
        log(folder, traceback.format_exc())
        print(f"error: {fault}; traceback: {folder / LOG}", file=sys.stderr)
        if sweep:
            raise Broken(fault) from None
        sys.exit(FAILED)


def end(code: int, *, sweep: bool) -> None:
    """Exit with `code` after a complete run; in a sweep, `leave` does so after the other runs."""
    if sweep:
        raise Refused("too many questions failed")
    sys.exit(code)


def leave(job: Callable[[], None]) -> None:
    """Call Hydra's `job`, show the table of a sweep, and exit.

    The code is 2 if bad input prevented every run, 1 if one of a sweep was refused or failed or a
    worker died, 130 after Ctrl-C.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises what it would print over many lines
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
        sweeps.show_sweep()
