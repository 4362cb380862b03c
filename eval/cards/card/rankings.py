"""The rankings behind a card, from a run or any file of rankings that memsys retrieval reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.answers.ranking_files import read_rankings
from eval.cards.card.answers import file_entry, rows_sha256, source_of
from eval.cards.card.schema import RANKINGS, CardFile
from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Dataset, Question, SourceFile
from eval.imports.rankings.import_run import UnwrittenRun, run_of
from eval.imports.rankings.imports import matched
from eval.metrics.retrieval.registry import Measure, parse
from eval.records.jsonl import RANKINGS as FILE
from eval.records.rankings import Ranked, Unit
from eval.records.run import Run, load_run
from eval.records.schema import Record
from eval.summary import retrieval
from eval.summary.imported import system_name
from memsys.core.places import MANIFEST

_MEASURES = ("recall@10", "ndcg@10", "mrr")
_SESSION = "session_"


@dataclass(frozen=True)
class Rankings:
    """Rankings by question id of a `run`, in one `unit`, and the `file` that they are from.

    `questions`: those of the data set, with the evidence as the store names it.
    """

    file: SourceFile
    run: Run
    questions: Mapping[str, Question]

    @property
    def unit(self) -> str:
        """What is ranked: turns, or whole sessions."""
        return retrieval.unit_of([self.run])

    def card_file(self, counted: Iterable[str]) -> CardFile:
        """Return the entry of a card; `counted`: ids of the questions that count, in order."""
        found = ((id_, self._ids(id_)) for id_ in counted)
        rows = rows_sha256([id_, list(ids)] for id_, ids in found if ids)
        return file_entry(RANKINGS, self.file, rows)

    def measured(self, records: Sequence[Record]) -> tuple[Run, list[Measure]]:
        """Return a run of `records` with these rankings, and the measures that they determine.

        A question that a file of rankings lacks has an empty one: nothing was found for it. Raises
        InputError where the run lacks one.
        """
        given = dict(self.run.rankings)
        if isinstance(self.run, UnwrittenRun):
            given |= {one["id"]: _empty(one) for one in records if one["id"] not in given}
        of_ids = {record["id"]: record for record in records}
        run = UnwrittenRun(self.run.label, self.run.folder, self.run.manifest, of_ids, given)
        prefix = _SESSION * (self.unit == "session")
        measures = [parse(f"{prefix}{name}") for name in _MEASURES]
        unknown = retrieval.unknown(run, measures)
        return run, [one for one in measures if str(one) not in unknown]

    def _ids(self, question: str) -> tuple[str, ...]:
        ranked = self.run.rankings.get(question)
        if ranked is None:
            return ()
        found = ranked.sessions if self.unit == "session" else ranked.turns
        return () if found is None else found.ids


def read_any(path: Path, config: Mapping[str, Any], dataset: Dataset) -> Rankings:
    """Return the rankings in a run folder, in its rankings.jsonl, or in a file of rankings.

    `config` and `dataset`: the data set, and what loads it. Raises InputError if they cannot be
    read.
    """
    folder = path if path.is_dir() else path.parent
    if (folder / MANIFEST).is_file() and (path.is_dir() or path.name == FILE):
        return of_run(load_run(folder, answered=False), dataset)
    if config.get("pooled"):
        dataset = load_dataset_of({**config, "pooled": False})
    file = read_rankings(path)
    source = matched(file.rows, system_name(None, path), dataset, path.name, partial=True)
    questions = {one.id: one for one in source.dataset.questions}
    return Rankings(file.source, run_of(source, config), questions)


def of_run(run: Run, dataset: Dataset) -> Rankings:
    """Return the rankings of a run; imported ones are from the file that was imported."""
    questions = {one.id: one for one in dataset.questions}
    imported = (run.manifest["config"].get("import") or {}).get("file")
    if imported is None or run.has_answers:
        return Rankings(source_of(run.folder / FILE, linked=False), run, questions)
    return Rankings(SourceFile(**imported), run, questions)


def _empty(record: Record) -> Ranked:
    nothing = Unit((), size=None, complete=True, tokens=None)
    store = record.get("store") or record["conversation"]
    return Ranked(record["id"], store, selected=False, memories=(), turns=nothing, sessions=nothing)


def is_of_rankings(measure: str) -> bool:
    """Return whether the scores of `measure` follow from rankings."""
    return measure.removeprefix(_SESSION) in _MEASURES
