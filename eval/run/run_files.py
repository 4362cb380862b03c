"""The files of a run that grow line by line, and the place of each question in them."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import cast

from eval.records.files import (
    CALLS,
    CONTEXTS,
    INGEST,
    MEMORIES,
    RANKINGS,
    LineWriter,
    Place,
    Row,
    json_line,
    read_lines,
    replacing,
)
from eval.records.rankings import Selection, Selections
from eval.records.schema import (
    CONTEXT_LINE,
    MEMORY_LINE,
    IngestLine,
    RankingLine,
    Record,
    with_defaults,
)
from memsys.core.files import open_entry
from memsys.core.places import RECORDS
from memsys.core.tokens import count_tokens
from memsys.core.types import Memory


@dataclass(frozen=True, slots=True)
class RecordFile:
    """The `count` records in the file `path`, read anew each time: one is in memory at a time."""

    path: Path
    count: int

    def __len__(self) -> int:
        """Return the number of records."""
        return self.count

    def __iter__(self) -> Iterator[Record]:
        """Yield the records in the order of the file."""
        selections = Selections(self.path.parent)
        for row in read_lines(self.path):
            yield with_defaults(selections.filled(row))


@dataclass(slots=True)
class RunFiles:
    """Appends to the files of the run in `folder`, each first cut to its last complete line.

    `answered`: ids of the questions with a record of status ok; `unjudged`: those of them whose
    judge failed. `embedded`: name of the embedder of each conversation that has vectors; `cut_off`:
    number of its memories that are longer than what that reads. It is not safe for several threads.
    """

    folder: Path
    answered: set[str] = field(default_factory=set)
    unjudged: set[str] = field(default_factory=set)
    embedded: dict[str, str] = field(default_factory=dict)
    cut_off: dict[str, int] = field(default_factory=dict)
    _records: dict[str, Place] = field(default_factory=dict)  # the last of each question
    _stored: dict[str, int] = field(default_factory=dict)  # memories by conversation
    _indexed: dict[str, None] = field(default_factory=dict)  # conversations, in order
    _steps: set[tuple[str, str, str | None]] = field(default_factory=set)
    _contexts: dict[str, Selection | None] = field(default_factory=dict)  # by their hashes
    _rankings: dict[str, Place] = field(default_factory=dict)
    _ranked: dict[str, set[str]] = field(default_factory=dict)  # ids of memories by store
    _writers: dict[str, LineWriter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Open the files that every run has, and read those of a run that is resumed."""
        for name in (RECORDS, INGEST, CONTEXTS):
            self._writer(name)
        for row, place in _placed(self.folder / RECORDS):
            judged = row.get("judge_error") is None
            self._note_record(row["id"], place, ok=row["status"] == "ok", judged=judged)
        for line in read_lines(self.folder / INGEST):
            self._note_step(cast(IngestLine, line))
        for row in read_lines(self.folder / CONTEXTS, schema=CONTEXT_LINE):
            self._contexts[row["sha256"]] = Selection.stored(row)
        if (self.folder / MEMORIES).exists():  # it is written first
            for name in (MEMORIES, RANKINGS):
                self._writer(name)
            self._rankings = {row["id"]: place for row, place in _placed(self.folder / RANKINGS)}
        for row in read_lines(self.folder / MEMORIES, schema=MEMORY_LINE):
            self._ranked.setdefault(row["store"], set()).add(row["id"])

    @property
    def failed(self) -> set[str]:
        """Ids of the questions that failed or whose judge did."""
        return (self._records.keys() - self.answered) | self.unjudged

    @property
    def memories(self) -> dict[str, int]:
        """Number of memories by conversation, of those whose ingestion is complete."""
        return {name: self._stored.get(name, 0) for name in self._indexed}

    def add_record(self, id_: str, line: str, *, ok: bool, judged: bool) -> None:
        """Append the record of a question; `judged`: its judge did not fail."""
        place = self._writer(RECORDS).write_line(line)
        self._note_record(id_, place, ok=ok, judged=judged)

    def add_step(self, line: IngestLine) -> None:
        """Append the line of an ingestion step, unless the file contains it."""
        if self._note_step(line):
            self._writer(INGEST).write(line)

    def add_calls(self, calls: Iterable[Row]) -> None:
        """Append the recorded answers that were used: a bundle of the run contains these."""
        for call in calls:
            self._writer(CALLS).write(call)

    def add_context(
        self, text: str, selection: Selection | None = None
    ) -> tuple[str, Selection | None]:
        """Store the text of a context, with `selection`, unless it is stored already; return its
        sha256 in hex, and `selection` if that is stored with it.
        """
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest not in self._contexts:
            fields = {} if selection is None else selection._asdict()
            self._writer(CONTEXTS).write({"sha256": digest, "text": text, **fields})
            self._contexts[digest] = selection
        stored = self._contexts[digest]
        return digest, stored if stored == selection else None

    def add_ranking(self, line: RankingLine, memories: Sequence[Memory]) -> None:
        """Append the ranking of a question, of these `memories`, and those that are new."""
        store = line["store"]
        stored_ids = self._ranked.setdefault(store, set())
        new = [memory for memory in memories if memory.id not in stored_ids]
        if new:
            self._writer(MEMORIES).write_line("".join(_memory_line(store, entry) for entry in new))
            stored_ids.update(memory.id for memory in new)
        self._rankings[line["id"]] = self._writer(RANKINGS).write(line)

    def record(self, id_: str) -> Record:
        """Read the record of the question `id_`, as it is written."""
        start, size = self._records[id_]
        with open_entry(self.folder / RECORDS) as file:
            file.seek(start)
            return with_defaults(json.loads(file.read(size)))

    def close(self) -> None:
        """Close all files."""
        for writer in self._writers.values():
            writer.close()

    def put_in_order(self, questions: Mapping[str, str]) -> RecordFile:
        """Put the records and rankings into the order of `questions`, and the calls likewise, those
        of a conversation's ingestion first. Repeated questions return to their places.

        `questions`: the conversation of each question by id, in the order of the data set. Call it
        after `close`.
        """
        _rewrite(self.folder / RECORDS, [self._records[id_] for id_ in questions])
        if self._rankings:
            ranked = [self._rankings[id_] for id_ in questions if id_ in self._rankings]
            _rewrite(self.folder / RANKINGS, ranked)
        path = self.folder / CALLS
        if path.exists():
            rank = {id_: place for place, id_ in enumerate(questions)}
            first: dict[str, int] = {}
            for id_, conversation in questions.items():
                first.setdefault(conversation, rank[id_])

            def rank_of(call: Row) -> tuple[int, int]:
                of = call["question"]
                number = first.get(call.get("conversation", ""), -1)
                return (number, 0) if of is None else (rank.get(of, -1), 1)

            calls = sorted(_placed(path), key=lambda pair: rank_of(pair[0]))  # stable
            _rewrite(path, [place for _, place in calls])
        return RecordFile(self.folder / RECORDS, len(questions))

    def _writer(self, name: str) -> LineWriter:
        if name not in self._writers:
            self._writers[name] = LineWriter(self.folder / name)
        return self._writers[name]

    def _note_record(self, id_: str, place: Place, *, ok: bool, judged: bool) -> None:
        self._records[id_] = place
        if ok:
            self.answered.add(id_)
            (self.unjudged.discard if judged else self.unjudged.add)(id_)

    def _note_step(self, line: IngestLine) -> bool:
        """Return whether the step is new, and remember it if it did not fail."""
        conversation, phase = line["conversation"], line["phase"]
        step = (conversation, phase, line["session"])
        if step in self._steps:
            return False
        if line["status"] == "ok":
            self._steps.add(step)
            self._stored[conversation] = self._stored.get(conversation, 0) + line["memories"]
            if phase == "index":
                self._indexed[conversation] = None
                if "embedder" in line:
                    self.embedded[conversation] = line["embedder"]
                if "cut_off" in line:
                    self.cut_off[conversation] = line["cut_off"]
        return True


def _memory_line(store: str, memory: Memory) -> str:
    tokens = count_tokens(memory.content)
    return json_line(
        {"store": store, "id": memory.id, "turns": list(memory.turns), "tokens": tokens}
    )


def _placed(path: Path) -> Iterator[tuple[Row, Place]]:
    """Yield each row of a JSON-lines file with the place of its line."""
    end = 0
    with open_entry(path) as lines:
        for row, line in zip(read_lines(path), lines, strict=True):
            yield row, (end, len(line))
            end += len(line)


def _rewrite(path: Path, places: list[Place]) -> None:
    """Replace the file by its lines at `places`, unless they are all in order."""
    sizes = [size for _, size in places]
    in_order = list(zip(accumulate(sizes, initial=0), sizes, strict=False))
    if in_order == places and sum(sizes) == path.stat().st_size:
        return
    with replacing(path) as out, open_entry(path) as file:
        for start, length in places:
            file.seek(start)
            out.write(file.read(length))
