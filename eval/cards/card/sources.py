"""The answers and rankings behind a card: of a run, of one of its files, or of a file of another
system, which the imports read.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from eval.answers.layout import Layout
from eval.answers.match import AnswerRow
from eval.answers.ranking_files import read_rankings
from eval.cards.card.schema import ANSWERS, RANKINGS, Card, CardFile
from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Dataset, Question, SourceFile, source_file
from eval.imports.rankings.import_run import UnwrittenRun, run_of
from eval.imports.rankings.imports import matched
from eval.imports.rescore.imports import read_import, record
from eval.imports.rescore.recompute import verdicts_of
from eval.metrics.evidence import RECORDED
from eval.metrics.retrieval.registry import Measure, parse
from eval.records.files import RANKINGS as FILE
from eval.records.files import json_line, validate
from eval.records.rankings import Ranked, UnitRanking
from eval.records.run import Run, error_of, load_run
from eval.records.schema import RECORD, Record, with_defaults
from eval.summary import retrieval
from eval.summary.closing import IMPORTED, system_name
from memsys.core.errors import InputError
from memsys.core.files import ANSWERS as MOST
from memsys.core.files import check_regular, read_bytes, read_text, shown
from memsys.core.json_text import parse_json
from memsys.core.places import MANIFEST, RECORDS

_SESSION = "session_"
_OF_RECORD = {"id", "status", "scores", "retrieved"}


@dataclass(frozen=True)
class Answers:
    """Answers from `file` to questions of a data set, in its order: `records` scored under its key.

    `read`: numbers of `rows` and `unmatched` ones in the file, if it was matched. `run`: the run
    that contains them, if it is known.
    """

    file: SourceFile
    records: Sequence[Record]
    read: Mapping[str, int]
    run: Run | None = None

    @property
    def card_file(self) -> CardFile:
        """The entry of a card; its rows: id and answer."""
        texts = ((row["id"], row["answer"]) for row in self.records)
        rows = ([id_, None if text is None else text.strip()] for id_, text in texts)
        return file_entry(ANSWERS, self.file, rows_sha256(rows))


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
        pairs = ((id_, self._ids(id_)) for id_ in counted)
        rows = rows_sha256([id_, list(ids)] for id_, ids in pairs if ids)
        return file_entry(RANKINGS, self.file, rows)

    def measured(self, records: Sequence[Record]) -> tuple[Run, list[Measure]]:
        """Return a run of `records` with these rankings, and the measures that they determine.

        A question that a file of rankings lacks has an empty one: nothing was found for it. Raises
        InputError where the run lacks one.
        """
        given = dict(self.run.rankings)
        if isinstance(self.run, UnwrittenRun):
            missing = [row for row in records if row["id"] not in given]
            nothing = UnitRanking((), size=None, complete=True, tokens=None)
            for row in missing:
                store = row.get("store") or row["conversation"]
                given[row["id"]] = Ranked(row["id"], store, False, (), nothing, nothing)
        of_ids = {record["id"]: record for record in records}
        run = UnwrittenRun(self.run.label, self.run.folder, self.run.manifest, of_ids, given)
        prefix = _SESSION * (self.unit == "session")
        measures = [parse(f"{prefix}{name}") for name in RECORDED]
        unknown = retrieval.unknown(run, measures)
        return run, [measure for measure in measures if str(measure) not in unknown]

    def _ids(self, question: str) -> tuple[str, ...]:
        ranked = self.run.rankings.get(question)
        if ranked is None:
            return ()
        ranking = ranked.sessions if self.unit == "session" else ranked.turns
        return () if ranking is None else ranking.ids


def file_entry(role: str, file: SourceFile, rows: str | None = None) -> CardFile:
    """Return the entry of a card for a file that was read."""
    return CardFile.model_validate({"role": role, "rows_sha256": rows, **asdict(file)})


def rows_sha256(rows: Iterable[Sequence[object]]) -> str:
    """Return the sha256 in hex of `rows` as JSON lines."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json_line(cast(Mapping[str, object], row)).encode())
    return digest.hexdigest()


def source_of(path: Path, *, linked: bool = True) -> SourceFile:
    """Return name, size and hash of the file at `path`; `linked`: as in open_entry."""
    return source_file(path.name, read_bytes(path, MOST, linked=linked))


def answers_from(
    path: Path, dataset: Dataset, card: Card | None = None, layout: Layout | None = None
) -> Answers:
    """Return the answers in a run folder, in its records, or in a file that memsys rescore reads.

    `card`: the file of this card is read as it says. `layout`: how to read another one, None to
    find out. Raises InputError if they cannot be read, or none is of a question of `dataset`.
    """
    if path.is_dir() and (path / MANIFEST).is_file():
        run = load_run(path, answered=False)
        return answers_of(run, source_of(path / RECORDS, linked=False), dataset)
    if not path.is_dir() and (records := _records(path)):
        scored = _scored_records(records, dataset)
        if not scored:
            raise InputError(
                f"{shown(path)}: none of its records is of a question of {dataset.name}; correct "
                "--dataset"
            )
        return Answers(source_of(path), scored, {})
    if layout is None and card is not None and card.reading is not None:
        own = {file.sha256 for file in card.of_role(ANSWERS)}
        if path.is_dir() or source_of(path).sha256 in own:
            columns = {name: tuple(given) for name, given in card.reading.columns.items()}
            layout = Layout(rows=card.reading.rows, columns=columns, whole=True)
    name = system_name(None, path)
    source = read_import(path, layout, name, dataset, partial=True, as_written=True)
    rows = source.matching.answers
    read = {"rows": len(source.file.rows), "unmatched": len(source.matching.unmatched)}
    scored = [record(q, rows[q.id]) for q in dataset.questions if q.id in rows]
    return Answers(source.file.source, scored, read)


def answers_of(run: Run, file: SourceFile, dataset: Dataset) -> Answers:
    """Return the answers of a run, from its records; those that were imported are from `file`."""
    account = run.manifest.get("matching") or {}
    read = {}
    if run.manifest.get("kind") == IMPORTED and "unmatched" in account and "rows" in account:
        read = {name: int(account[name]) for name in ("rows", "unmatched")}
    return Answers(file, _scored_records(run.records.values(), dataset), read, run)


def _scored_records(records: Iterable[Record], dataset: Dataset) -> list[Record]:
    """Return records that follow from the answers in `records` alone, and from a judge's verdict on
    the same gold answer. A question that nobody was asked to answer has none.
    """
    answered = {
        row["id"]: row for row in records if row["answer"] is not None or row["status"] != "ok"
    }
    if all(row["status"] != "ok" for row in answered.values()):
        return []  # nobody answered
    rescored = []
    for question in dataset.questions:
        if (original := answered.get(question.id)) is not None:
            failed = original["status"] != "ok"
            row = AnswerRow(
                place=original["id"],
                conversation=original["conversation"],
                index=None,
                question=original["question"],
                answer=original["answer"] or "",
                error=(error_of(original) or "no message") if failed else None,
                context_tokens=original["context_tokens"],
            )
            scored = record(question, row)
            scored["scores"]["judge"] = verdicts_of(original).get(question.gold)
            rescored.append(scored)
    return rescored


def _records(path: Path) -> list[Record]:
    """Return the records of a run in the file; none if its first line is no record."""
    check_regular(path)
    try:
        lines = [line for line in read_text(path, MOST).split("\n") if line.strip()]
        first = parse_json(lines[0]) if lines else None
    except (InputError, ValueError):  # the reader of answers names what is damaged
        return []
    if not isinstance(first, dict) or not first.keys() >= _OF_RECORD:
        return []
    for number, line in enumerate(lines, 1):
        validate(RECORD, line, f"{shown(path)}: line {number}")
    return [with_defaults(parse_json(line)) for line in lines]


def rankings_from(path: Path, config: Mapping[str, Any], dataset: Dataset) -> Rankings:
    """Return the rankings in a run folder, in its rankings.jsonl, or in a file of rankings.

    `config` and `dataset`: the data set, and what loads it. Raises InputError if they cannot be
    read.
    """
    folder = path if path.is_dir() else path.parent
    if (folder / MANIFEST).is_file() and (path.is_dir() or path.name == FILE):
        return rankings_of(load_run(folder, answered=False), dataset)
    if config.get("pooled"):
        dataset = load_dataset_of({**config, "pooled": False})
    file = read_rankings(path)
    source = matched(file.rows, system_name(None, path), dataset, path.name, partial=True)
    questions = {question.id: question for question in source.dataset.questions}
    return Rankings(file.source, run_of(source, config), questions)


def rankings_of(run: Run, dataset: Dataset) -> Rankings:
    """Return the rankings of a run; imported ones are from the file that was imported."""
    questions = {question.id: question for question in dataset.questions}
    imported = (run.manifest["config"].get("import") or {}).get("file")
    if imported is None or run.has_answers:
        return Rankings(source_of(run.folder / FILE, linked=False), run, questions)
    return Rankings(SourceFile(**imported), run, questions)


def is_of_rankings(measure: str) -> bool:
    """Return whether the scores of `measure` follow from rankings."""
    return measure.removeprefix(_SESSION) in RECORDED
