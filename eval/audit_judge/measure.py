"""Put probes before a judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tqdm import tqdm

from eval.audit_judge.probes import Probe
from eval.judges.base import Judge
from memsys.concurrency import ordered_results
from memsys.llm.base import LLMError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge said of a probe: verdicts by judge and run, or the error that kept it from
    saying anything.
    """

    probe: Probe
    runs: Mapping[str, tuple[bool, ...]]
    error: str | None = None

    @property
    def passed(self) -> bool:
        """True if most of all verdicts passed the probe: a tie is no majority."""
        verdicts = [verdict for runs in self.runs.values() for verdict in runs]
        return 2 * sum(verdicts) > len(verdicts)


def measure(judge: Judge, probes: Sequence[Probe], workers: int = 1) -> list[Outcome]:
    """The outcome of each probe, in order, with a progress bar; `workers` probes at a time.

    An LLMError is an outcome of its probe; everything else ends the audit.
    """
    jobs: list[Callable[[], Outcome]] = [lambda p=probe: _put(judge, p) for probe in probes]  # type: ignore[misc]
    results = ordered_results(jobs, workers)
    return list(tqdm(results, total=len(probes), desc=judge.name, unit="probe", disable=None))


def _put(judge: Judge, probe: Probe) -> Outcome:
    try:
        found = judge.judge(probe.question, probe.gold, probe.answer)
    except LLMError as error:
        return Outcome(probe, {}, str(error))
    return Outcome(probe, found.runs)
