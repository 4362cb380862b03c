"""A run, read from its folder: the one loader that all commands, reports and notebooks use."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from eval.metrics.protocols import protocols
from eval.records.answer_key_views import left_out
from eval.records.files import INGEST, read_lines
from eval.records.manifest import leaves, load_manifest
from eval.records.rankings import Ranked, Selections, load_rankings
from eval.records.schema import INGEST_LINE, RECORD, IngestLine, Manifest, Record, with_defaults
from memsys.core.errors import InputError
from memsys.core.places import RECORDS, find_run

_NO_TYPES = ("", "overall")  # names of no question type
_IN_LABEL = 2  # settings that a label lists at most
_SHORT = 24  # characters of a folder's name that may be a label; an id has more


@dataclass(frozen=True)
class Run:
    """A run: its `label`, unique among the runs loaded with it, its folder and its contents.

    `records` are by question id, in the order of the file; of a question that was asked again after
    a failure, only the last record is included.
    """

    label: str
    folder: Path
    manifest: Manifest = field(repr=False)
    records: Mapping[str, Record] = field(repr=False)

    @property
    def strategy(self) -> str:
        """Name of the strategy, or of the system whose answers were imported."""
        return self.manifest["strategy"]

    @property
    def seed(self) -> int:
        """Seed of the bootstrap."""
        return self.manifest["seed"]

    @property
    def own_f1(self) -> str:
        """Name of the F1 that the run itself reports: that of its first protocol."""
        return protocols(self.manifest["scoring"])[0].f1

    @cached_property
    def excluded(self) -> list[Record]:
        """Records of questions that the answer key excludes."""
        return [record for record in self.records.values() if left_out(record)]

    @cached_property
    def counted(self) -> list[Record]:
        """Records of questions that did not fail and that the answer key does not exclude."""
        return [
            record
            for record in self.records.values()
            if record["status"] == "ok" and not left_out(record)
        ]

    @cached_property
    def ingests(self) -> list[IngestLine]:
        """Lines of ingest.jsonl; [] where the file is absent. Of a run that has not ended, a torn
        last line is left out.

        Raises InputError naming the line and field that are invalid.
        """
        torn = self.manifest["status"] != "complete"
        rows = read_lines(self.folder / INGEST, torn=torn, schema=INGEST_LINE)
        return [cast(IngestLine, row) for row in rows]

    @property
    def has_vectors(self) -> bool:
        """Whether the strategy asked for vectors of any conversation; True where that is not known
        (runs of earlier versions).
        """
        indexed = [line for line in self.ingests if line["phase"] == "index"]
        is_recorded = bool(indexed) and "embedders" in self.manifest
        return not is_recorded or any("embedder" in line for line in indexed)

    @cached_property
    def rankings(self) -> dict[str, Ranked]:
        """Rankings by question id; {} where none are recorded. Raises InputError as load_rankings
        does.
        """
        return load_rankings(self.folder, self.manifest)

    @cached_property
    def has_answers(self) -> bool:
        """Whether questions were answered: False where only rankings were made."""
        answers = [record["answer"] for record in self.counted]
        return not answers or any(answer is not None for answer in answers)

    @property
    def retrieval_known(self) -> bool:
        """Whether the retrieval is recorded: False for imported answers."""
        return all(record["retrieved"] is not None for record in self.counted)

    @property
    def memory_by_model(self) -> bool:
        """Whether a model wrote the memories: one may then cite a turn without containing its
        words.
        """
        return "facts" in self.manifest["prompts"]

    def traces(self, part: str) -> bool:
        """Return whether the traces of the counted records contain `part` (`expansion` or `gate`).

        Raises InputError if only some do.
        """
        without = [record["id"] for record in self.counted if part not in record["trace"]]
        if without and len(without) < len(self.counted):
            raise InputError(
                f"{self.label}: {RECORDS}: {len(without)} of {len(self.counted)} records hold no "
                f"trace.{part} (the first: {without[0]}); run it again whole"
            )
        return not without


def error_of(record: Record) -> str:
    """Return phase, class and message of a failed question's error; '' if it did not fail."""
    error = record["error"]
    return "" if error is None else f"{error['phase']}: {error['kind']}: {error['message']}"


def load_run(
    name: str | Path, *, label: str | None = None, complete: bool = True, answered: bool = True
) -> Run:
    """Read and validate the run that `name` stands for; see find_run.

    `complete`: refuse a run that has not ended. `answered`: refuse a run without an answer that
    counts. Raises InputError naming the file, line and field that are invalid.
    """
    folder = find_run(name)
    manifest = load_manifest(folder)
    if complete and manifest["status"] != "complete":
        raise InputError(f"{folder}: the run is {manifest['status']}; resume it to its end first")
    records = _records(folder / RECORDS)
    if manifest["status"] == "complete":
        _check_whole(folder, manifest, records)
    named = str(name) if Path(name) == folder else folder.name
    run = Run(label or named, folder, manifest, records)
    if answered and not run.counted:
        raise InputError(
            f"{folder}: every question failed or is left out by the answer key; name a run that "
            "answered questions"
        )
    return run


def load_runs(names: Sequence[str | Path], *, complete: bool = True) -> list[Run]:
    """Read runs as load_run does, in order, with a label for each.

    A label is the strategy with the settings in which runs of one strategy differ, else the
    folder's name if that is short, else the strategy with the number of the run among `names`.
    Raises InputError if a run is named twice.
    """
    folders = [find_run(name) for name in names]
    for name, count in Counter(folder.resolve() for folder in folders).items():
        if count > 1:
            raise InputError(f"{name}: named {count} times; name each run once")
    runs = [load_run(folder, complete=complete, answered=complete) for folder in folders]
    manifests = [run.manifest for run in runs]
    labels = [_label(manifest, manifests) for manifest in manifests]
    numbered = [f"{manifest['strategy']} #{i}" for i, manifest in enumerate(manifests, 1)]
    short = [
        folder.name if len(folder.name) <= _SHORT else number
        for folder, number in zip(folders, numbered, strict=True)
    ]
    for finer in (short, numbered):
        seen = Counter(labels)
        labels = [
            other if seen[label] > 1 else label for label, other in zip(labels, finer, strict=True)
        ]
    return [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]


def _records(path: Path) -> dict[str, Record]:
    by_id: dict[str, Record] = {}
    selections = Selections(path.parent)
    for row in map(selections.filled, read_lines(path, schema=RECORD)):
        earlier = by_id.get(row["id"])
        # Resuming a run may have replaced a failure, or an answer without a verdict.
        if earlier and earlier["status"] == "ok" and earlier.get("judge_error") is None:
            raise InputError(
                f"{path}: {row['id']:.60} has a second record after its answer; delete one of the "
                "two lines"
            )
        by_id[row["id"]] = with_defaults(row)
    if not by_id:
        raise InputError(f"{path}: holds no records; name a run that answered questions")
    return by_id


def _check_whole(folder: Path, manifest: Manifest, records: Mapping[str, Record]) -> None:
    """Raise InputError unless `records` are what the complete run asked: what is missing, or has no
    answer or gold answer, would be in no mean, and what has another type in another.
    """
    for fault in _faults(manifest, records):
        raise InputError(f"{folder / RECORDS}: {fault}; restore it from a copy, or run it again")


def _faults(manifest: Manifest, records: Mapping[str, Record]) -> Iterator[str]:
    """Yield each fault of the records of a complete run."""
    asked = manifest.get("questions")
    if manifest.get("kind") == "imported":  # from a file that may lack some
        asked = manifest.get("matching", {}).get("matched", asked)
    if asked is not None and len(records) != asked:
        yield f"holds {len(records):,} questions, and the complete run asked {asked!r:.20}"
    types: dict[int, str] = {}
    for id_, record in records.items():
        of_type = types.setdefault(record["category"], record["type"])
        if of_type != record["type"] or record["type"] in _NO_TYPES:
            yield (
                f"type: {id_:.60} is of {record['type']!r:.60}, unlike others of category "
                f"{record['category']}"
            )
    judged = (manifest["judge"] or {}).get("score")
    for id_, record in records.items():
        lacks = record["status"] == "ok" and record["scores"].get(judged or "") is None
        if judged is not None and record["judge"] and lacks:
            yield f"scores: {id_:.60} lacks {judged!r:.60}, the score of the manifest's judge"
    f1 = protocols(manifest["scoring"])[0].f1
    for name, of in (("answer", "run"), ("gold", "type"), (f1, "type")):
        present_in: dict[int | None, bool] = {}
        for id_, record in records.items():
            if record["status"] != "ok" or left_out(record):
                continue
            present = (record["scores"] if name == f1 else record).get(name) is not None
            group = record["category"] if of == "type" else None
            if present_in.setdefault(group, present) is not present:
                has = "has" if present else "lacks"
                yield f"{name}: {id_:.60} {has} one, unlike others of its {of}"


def _label(manifest: Manifest, manifests: Sequence[Manifest]) -> str:
    same = [other for other in manifests if other["strategy"] == manifest["strategy"]]
    groups = [group for group in _groups(same) if group in manifest["config"]]
    alike, settings = [_settings(other) for other in same], _settings(manifest)
    differing: dict[str, Any] = {group: manifest["choices"][group] for group in groups}
    for path in sorted(settings, key=lambda path: path.count(".")):
        name = path.rpartition(".")[2]  # `strategy.k` is interpolated from `k`: one of them will do
        if name.startswith("_") or path.partition(".")[0] in groups:
            continue
        if any(other.get(path) != settings[path] for other in alike):
            differing.setdefault(name, settings[path])
    if not differing or len(differing) > _IN_LABEL:
        return manifest["strategy"]
    shown = [f"{name}={value}" for name, value in differing.items()]
    return " ".join([manifest["strategy"], *shown])


def _settings(manifest: Manifest) -> dict[str, Any]:
    """Return the settings by dotted path, without those of an import, such as the file's sha256."""
    config = manifest["config"]
    return dict(leaves({name: part for name, part in config.items() if name != "import"}))


def _groups(manifests: Sequence[Manifest]) -> list[str]:
    """Return the groups of which `manifests` all chose an option, but not the same: `graph`."""
    all_choices = [manifest["choices"] for manifest in manifests]
    shared = [group for group in all_choices[0] if all(group in choices for choices in all_choices)]
    return [group for group in shared if len({choices[group] for choices in all_choices}) > 1]
