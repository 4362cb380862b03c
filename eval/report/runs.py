"""The runs of a report, as each of its sections needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from eval.diagnose.retrieval_vs_reading import Marking
from eval.records.run import Run, load_runs
from eval.records.schema import Manifest, Record, Summary
from eval.report.texts import Texts, load_texts
from eval.summary.summarise import summarise
from memsys.errors import InputError

_CORRECT = 0.5  # least score of a right answer that no judge has seen, as in eval.diagnose


@dataclass(frozen=True)
class Reported:
    """A finished run. `label` names it, and no other, in the whole report."""

    run: Run
    summary: Summary = field(repr=False)

    @property
    def label(self) -> str:
        """What tables and charts call it."""
        return self.run.label

    @property
    def manifest(self) -> Manifest:
        """What was run."""
        return self.run.manifest

    @property
    def records(self) -> Mapping[str, Record]:
        """By question id, in the run's order."""
        return self.run.records

    @property
    def marking(self) -> Marking:
        """Which answers are right."""
        return Marking(self.run.own_f1, _CORRECT)

    @property
    def judged(self) -> bool:
        """Whether there are verdicts of a judge."""
        return self.summary["by_type"]["overall"]["judge"] is not None

    @property
    def texts(self) -> Texts | None:
        """The words of its memories and turns; None where they are not to be had."""
        return self._loaded[0]

    @property
    def without_texts(self) -> str | None:
        """Why there are no words; None where there are."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Texts | None, str | None]:
        try:
            return load_texts(self.manifest), None
        except InputError as error:
            return None, str(error)


def missing_texts(runs: Sequence[Reported]) -> list[str]:
    """A sentence for each run whose contexts can only be shown by ids, with the reason."""
    return [
        f"{run.label}: memories by id only ({run.without_texts})"
        for run in runs
        if run.without_texts is not None
    ]


def load(names: Sequence[str]) -> list[Reported]:
    """Load finished runs, by folder or by id under results/runs, in order; see load_runs.

    Raises InputError if one cannot be read, is unfinished, is named twice, has no answers, or has
    an answered question without the score that the run reports.
    """
    runs = load_runs(names)
    for run in runs:
        for record in run.counted:
            if run.own_f1 not in record["scores"]:
                raise InputError(
                    f"{run.folder}: {record['id']} lacks the score {run.own_f1}; run "
                    "python -m eval.rescore on it"
                )
    return [
        Reported(run, summarise(list(run.records.values()), run.manifest, run.seed)) for run in runs
    ]
