"""The runs of a report, as each of its sections needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.comparing.measures import own_f1
from eval.comparing.runs import Run as ComparedRun
from eval.comparing.runs import load_runs
from eval.finished import RUNS
from eval.losing.runs import Run as LosingRun
from eval.losing.runs import load_run
from eval.losing.stages import Marking
from eval.records import Record
from eval.reporting.texts import Texts, load_texts
from eval.summary import summarise
from memsys.errors import InputError

_CORRECT = 0.5  # least score of a right answer that no judge has seen, as in eval.losses


@dataclass(frozen=True)
class Reported:
    """A finished run. `label` names it, and no other, in the whole report."""

    run: ComparedRun
    losing: LosingRun
    summary: Mapping[str, Any] = field(repr=False)

    @property
    def label(self) -> str:
        """What tables and charts call it."""
        return self.run.label

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What was run."""
        return self.run.manifest

    @property
    def records(self) -> Mapping[str, Record]:
        """By question id, in the run's order."""
        return self.run.records

    @property
    def marking(self) -> Marking:
        """Which answers are right."""
        return Marking(own_f1(self.run), _CORRECT)

    @property
    def judged(self) -> bool:
        """Whether there are verdicts of a judge."""
        return self.summary["by_type"]["overall"]["judge"] is not None


def load(names: Sequence[str]) -> list[Reported]:
    """The finished runs of folders or of ids under results/runs, in order.

    Raises InputError if one cannot be read, is unfinished, is there twice or of another version.
    """
    losing = [load_run(name) for name in names]
    if len(names) == 1:
        folder = Path(names[0]) if Path(names[0]).is_dir() else RUNS / names[0]
        one = losing[0]
        compared = [ComparedRun(one.strategy, folder, one.manifest, one.records)]
    else:
        compared = load_runs(names)
    return [
        Reported(
            run,
            LosingRun(run.label, other.manifest, other.records),
            summarise(_plain(other), _whole(other.manifest), other.seed),
        )
        for run, other in zip(compared, losing, strict=True)
    ]


def texts_of(run: Reported) -> tuple[Texts | None, str | None]:
    """The words of the run's data set; None, and why, where they are not to be had."""
    try:
        return load_texts(run.manifest), None
    except InputError as error:
        return None, str(error)


def _plain(run: LosingRun) -> list[Record]:
    return list(run.records.values())


def _whole(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"pricing": None, "warnings": [], **manifest}
