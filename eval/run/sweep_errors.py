"""Errors that end a run: one clear line, and the exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.errors import CompactHydraException, HydraException
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from eval.cli import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    TERMINATED,
    UNREAD,
    WIDE,
    Terminated,
    heeding_termination,
    open_streams,
    silence_stdout,
)
from eval.records.folder import discard_if_empty
from eval.rendering.errors import blame, one_line, users_place
from eval.rendering.width import widen
from eval.run import sweep as sweeps
from eval.run.arguments import check_arguments, flags_first
from eval.run.failures import LOG, RepeatedFailure, log
from eval.run.option_help import options_help
from eval.run.settings import check_overrides
from memsys.core.addresses import without_secrets
from memsys.core.errors import InputError, complain, fault_of_machine
from memsys.llm.budget import BudgetReached

_UNREADABLE = (YAMLError, UnicodeDecodeError, RecursionError)  # of a file of --config-dir


class Refused(CompactHydraException):
    """One run of a sweep was refused; its message has been shown."""


class Broken(CompactHydraException):
    """One run of a sweep failed because of a programming error; its message has been shown."""


@contextmanager
def shown(folder: Path, *, sweep: bool) -> Iterator[None]:
    """Turn an exception into one line and an exit code: 2 for bad input, 1 for a reached budget,
    for failures in a row and for a programming error, whose traceback goes to log.txt in `folder`.

    In a sweep the line names the run by its values, the other runs continue, and `leave` sets the
    exit code. The exceptions raised for this are of classes that can be sent between processes.
    """
    named = f"{sweeps.cell()}: " if sweep and sweeps.cell() else ""
    try:
        yield
    except (BudgetReached, RepeatedFailure) as error:
        complain(f"{named}{error}", "stopped")
        if sweep:
            raise Refused(str(error)) from None
        sys.exit(FAILED)
    except Exception as error:
        message = blame(error) or (None if users_place(error) else fault_of_machine(error))
        if message is not None:
            discard_if_empty(folder)
            complain(f"{named}{message}")
            if sweep:
                raise Refused(message) from None
            sys.exit(BAD_INPUT)
        fault = without_secrets(one_line(error))
        try:
            log(folder, traceback.format_exc())
            complain(f"{named}{fault}; traceback: {folder / LOG}")
        except InputError:
            complain(f"{named}{fault}")
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

    The code is 2 if bad input or a folder that cannot be written prevented every run, 1 if one of a
    sweep was refused or failed or a worker died, 130 after Ctrl-C, 143 after SIGTERM.
    """
    open_streams()
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises what it would print over many lines
    # Hydra's getter prints a line of its own before it raises what a job of a sweep raised.
    JobReturn.return_value = JobReturn.return_value.getter(_result)  # type: ignore[method-assign, attr-defined]
    try:
        if WIDE in sys.argv:
            sys.argv.remove(WIDE)
            widen()
        if (help_text := options_help(sys.argv[1:])) is not None:
            print(help_text, flush=True)
            return
        check_arguments(sys.argv[1:])
        sys.argv[1:] = flags_first(sys.argv[1:])
        check_overrides(sys.argv[1:])
        with heeding_termination():
            job()
            sys.stdout.flush()
    except Terminated:
        sys.exit(TERMINATED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Broken as error:
        complain(f"a run of the sweep failed: {error}")
        sys.exit(FAILED)
    except Refused:
        sys.exit(FAILED if sweeps.runs() else BAD_INPUT)
    except BrokenProcessPool as error:  # joblib's launcher: it then ends its other workers too
        complain(f"{type(error).__name__}: a worker of the sweep died")
        sys.exit(FAILED)
    except (HydraException, OmegaConfBaseException, InputError, *_UNREADABLE) as error:
        complain(_unreadable(error) if isinstance(error, _UNREADABLE) else blame(error))
        sys.exit(FAILED if sweeps.runs() else BAD_INPUT)
    except BrokenPipeError:  # such as of --help | head; Python would complain when it exits
        silence_stdout()
        sys.exit(UNREAD)
    except OSError as error:  # of Hydra, which makes the run's folder
        if (fault := fault_of_machine(error)) is None:
            raise
        complain(fault)
        sys.exit(FAILED if sweeps.runs() else BAD_INPUT)
    finally:
        sweeps.show_sweep()


def _unreadable(error: Exception) -> str:
    why = "it names itself in its defaults" if isinstance(error, RecursionError) else str(error)
    return f"an option's YAML file cannot be read: {' '.join(why.split())}; correct it"


def _result(job: JobReturn) -> Any:
    """Return what `job` returned, or raise what it raised."""
    if job.status == JobStatus.FAILED:
        raise job._return_value
    return job._return_value
