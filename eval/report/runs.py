"""The runs of a report, as each of its sections needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from eval.compare.measures import own_f1
from eval.compare.runs import Run as ComparedRun
from eval.compare.runs import load_runs
from eval.diagnose.retrieval_vs_reading import Marking
from eval.diagnose.runs import Run as LosingRun
from eval.diagnose.runs import load_run
from eval.records.finished import RUNS
from eval.records.jsonl import RECORDS, Record
from eval.report.texts import Texts, load_texts
from eval.summary.summarise import summarise
from memsys.errors import InputError

_NEEDED = {"retrieved", "evidence", "evidence_found", "trace"}
_CORRECT = 0.5  # least score of a right answer that no judge has seen, as in eval.diagnose


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
    """The finished runs of folders or of ids under results/runs, in order.

    Raises InputError if one cannot be read, is unfinished, is there twice or of another version.
    """
    if len(names) == 1:
        folder = Path(names[0]) if Path(names[0]).is_dir() else RUNS / names[0]
        one = load_run(names[0])
        compared = [ComparedRun(one.strategy, folder, one.manifest, one.records)]
    else:
        compared = load_runs(names)
    for run in compared:
        _check(run)
    return [_reported(run) for run in compared]


def _reported(run: ComparedRun) -> Reported:
    losing = LosingRun(run.label, run.manifest, run.records)
    return Reported(run, losing, summarise(list(run.records.values()), run.manifest, losing.seed))


def _check(run: ComparedRun) -> None:
    """What load_run checks of a single run, without reading it again, and that no score lacks that
    the summary shows.
    """
    if run.manifest["status"] != "complete":
        raise InputError(
            f"{run.folder}: the run is {run.manifest['status']}; resume it to its end first"
        )
    for record in run.records.values():
        if missing := _NEEDED - record.keys():
            raise InputError(
                f"{run.folder / RECORDS}: {record['id']} lacks {', '.join(sorted(missing))}; "
                "docs/records.md lists the fields of a record"
            )
        if record["status"] == "ok" and own_f1(run) not in record["scores"]:
            raise InputError(
                f"{run.folder / RECORDS}: {record['id']} lacks the score {own_f1(run)}; score the "
                f"run anew by python -m eval.rescore {run.folder}"
            )
    if not LosingRun(run.label, run.manifest, run.records).counted:
        raise InputError(
            f"{run.folder}: every question failed or is left out by the answer key; name a run "
            "that answered questions"
        )
