"""A phase of a run: what it returned or how it failed, its time and its tokens."""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from eval.records.schema import UsageEntry
from eval.run.failures import END_THE_RUN, Failure
from memsys.core.types import Usage
from memsys.llm.meter import Meter, Reading


class Measured(NamedTuple):
    """The result of a phase, or its failure, and the reading of the meter."""

    result: Any
    failure: Failure | None
    reading: Reading


def measured(phase: str, meter: Meter, job: Callable[[], Any]) -> Measured:
    """Do `job` as a phase. An exception becomes a failure, or is raised if it ends the run."""
    reading = Reading()
    try:
        with meter.phase() as reading:
            return Measured(job(), None, reading)
    except END_THE_RUN:
        raise
    except Exception as error:
        return Measured(None, Failure.of(phase, error), reading)


def usage_entry(reading: Reading) -> UsageEntry:
    """Return the recorded usage of a phase: the sum, and `by_model` where models have names."""
    by_model = {name: _counts(usage) for name, usage in reading.by_model.items()}
    counts = _counts(reading.usage) | ({"by_model": by_model} if by_model else {})
    return cast(UsageEntry, counts)


def _counts(usage: Usage) -> dict[str, Any]:
    return {name: getattr(usage, name) for name in Usage.__slots__}  # asdict is slow
