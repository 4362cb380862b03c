"""Types of all contents of a run folder. A record is the dict of its JSON line.

`python -m eval.records.schema` prints them as JSON Schema, `python -m eval.records.fields`
what they mean. A field marked NotRequired is absent where a run has no use for it, or was written
by an earlier version: RECORD_DEFAULTS and MANIFEST_DEFAULTS are filled in on reading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveInt,
    TypeAdapter,
    with_config,
)
from typing_extensions import TypedDict

from eval.datasets.types import ADVERSARIAL, TYPES, PlantKind

SCHEMA_VERSION = 1
Scores = dict[str, Annotated[float, Field(ge=0, le=1)] | None]
Milliseconds = Annotated[float, Field(ge=0, le=1e12)]  # at most 30 years
Retrieved = tuple[str, list[str], float, str]  # memory id, turn ids, score, origin
Cell = dict[str, Any]  # of a summary: its columns follow from the registered metrics
# Validators are built at their first use; descriptions alone, in json_schema, need the source.
_documented = with_config(ConfigDict(extra="allow", defer_build=True))


@_documented
class ErrorEntry(TypedDict):
    """Why a question or a session failed."""

    phase: str
    """The phase that failed: `retrieve`, `answer`, `judge`, `record` or `ingest <session>`."""
    kind: str
    """Class of the exception."""
    message: str
    """Its message, without secrets."""
    traceback: NotRequired[str]
    """Python's traceback, without secrets; also in `log.txt`."""


@_documented
class KeyEntry(TypedDict):
    """The change that the chosen answer key makes to a question."""

    kind: Literal["corrected", "excluded"]
    """Whether the question has another gold answer, or no score under the chosen key."""
    error_type: str
    """The error of the data set's own gold answer, as its finder classified it."""
    original_gold: str | None
    """The data set's own gold answer."""


@_documented
class EvidenceFound(TypedDict):
    """Evidence turns that were retrieved, by origin."""

    direct: list[str]
    """Turn ids found by the strategy's first ranking."""
    expanded: list[str]
    """Turn ids found by expansion alone."""


@_documented
class PlantEntry(TypedDict):
    """What is wrong to show or to say for a question about planted facts (docs/datasets.md)."""

    kind: PlantKind
    """Kind of plant."""
    control: bool
    """Whether nothing is wrong and the fact asked for is there, so that a refusal is an error."""
    turns: list[str]
    """Ids of the turns that state a wrong value."""
    values: list[str]
    """Wrong values; of a contradiction, both values."""
    shown: bool | None
    """Whether a wrong value was in the context (of a contradiction, one value without the other);
    null where nothing can be wrong to show, and where the context is not known."""


@with_config(ConfigDict(extra="forbid", defer_build=True))
class UsageCounts(TypedDict, total=False):
    """Calls to a model, and their tokens as the endpoint reported them."""

    calls: NonNegativeInt
    """Number of calls."""
    input_tokens: NonNegativeInt
    """Tokens of the prompts."""
    output_tokens: NonNegativeInt
    """Tokens of the answers."""


@_documented
class UsageEntry(TypedDict, total=False):
    """Calls and tokens of a phase."""

    calls: NonNegativeInt
    """Number of calls."""
    input_tokens: NonNegativeInt
    """Tokens of the prompts."""
    output_tokens: NonNegativeInt
    """Tokens of the answers."""
    by_model: dict[str, UsageCounts]
    """The same by model, where models have names."""


@_documented
class LatencyEntry(TypedDict):
    """Milliseconds of a question; null where not known."""

    retrieve: Milliseconds | None
    """Of the retrieval."""
    answer: Milliseconds | None
    """Of the reader."""
    total: Milliseconds | None
    """Of both, without the judge."""
    judge: NotRequired[Milliseconds | None]
    """Of the judge."""


@_documented
class ExpansionStep(TypedDict):
    """A memory that was found by expansion."""

    memory: str
    """Id of the memory."""
    seed: NotRequired[str]
    """Id of the memory from which it was reached."""
    via: NotRequired[str]
    """What connects both."""


@_documented
class GateEntry(TypedDict):
    """Whether a gate let the strategy expand."""

    open: bool
    """Whether it opened."""
    rule: str
    """The rule that decided."""


@_documented
class Trace(TypedDict, total=False):
    """Decisions of a strategy, whose own parts may have any form."""

    expansion: list[ExpansionStep]
    """Memories found by expansion."""
    gate: GateEntry
    """The gate's decision."""
    memory_score: dict[str, Any]
    """Terms of the memory score."""


@_documented
class Record(TypedDict):
    """One question of a run: a line of records.jsonl."""

    id: str
    """`<conversation>/<index in its qa list>`."""
    conversation: str
    """Id of the conversation; intervals resample conversations."""
    store: NotRequired[str]
    """`pooled` where all conversations were searched; absent where it is the conversation alone."""
    category: int
    """Raw id of the question type in the data file."""
    type: str
    """Official name of the question type."""
    question: str
    """Text of the question."""
    gold: str | None
    """Gold answer; null for type 5, where abstaining is right, where the answer key excludes the
    question, and where the data set has none."""
    key: NotRequired[KeyEntry | None]
    """Null where `gold` is the data set's own."""
    evidence_sessions: NotRequired[list[str]]
    """Ids of evidence sessions, where the data set names whole sessions."""
    asked_at: NotRequired[str]
    """Time of the question (ISO), if the data set has one."""
    status: Literal["ok", "error"]
    """A question with status error is in no mean."""
    error: ErrorEntry | None
    """Null where `status` is ok."""
    judge_error: NotRequired[ErrorEntry | None]
    """Why the judge gave no verdict; the question still counts in all other scores. Resuming the
    run asks the judge again, and nobody else."""
    answer: str | None
    """Answer of the reader; null where the question failed before it."""
    abstained: bool | None
    """Whether the answer is a refusal; null where the question failed."""
    retrieved: NotRequired[list[Retrieved] | None]
    """`[memory id, [turn ids], score, origin]`, best first; origin is `direct` or `expanded`. Null
    where it is not known, as for imported answers. Absent, with `titles`, of a selection of more
    than `retrieval.depth` memories: contexts.jsonl has them."""
    titles: NotRequired[list[str]]
    """Title of each memory in `retrieved`, in its order; "" for a memory without one."""
    k: NonNegativeInt | None
    """Number of memories in the context."""
    context_tokens: NonNegativeInt | None
    """o200k tokens of the context."""
    context_sha256: NotRequired[str | None]
    """Hash in hex of the context, whose text is in contexts.jsonl; null where retrieval failed."""
    answer_tokens: NonNegativeInt | None
    """o200k tokens of the answer."""
    evidence: list[str]
    """Ids of the evidence turns, under the evidence key of the run."""
    evidence_original: NotRequired[list[str]]
    """Those of the data set, where the evidence key has others."""
    evidence_found: EvidenceFound | None
    """Evidence turns in the context; null where `retrieved` is."""
    plant: NotRequired[PlantEntry]
    """Of a question about planted facts: what would be wrong, and whether it was shown."""
    scores: Scores
    """Score by metric, 0 to 1; null where the metric does not apply or the question failed."""
    scores_original: NotRequired[Scores | None]
    """Scores under the data set's own answer key; null where `key` is."""
    judge: NotRequired[dict[str, list[bool]] | None]
    """Verdicts of each judge, one a run of it; null where nobody judged."""
    judge_reasons: NotRequired[dict[str, list[str]]]
    """Reason of each verdict in `judge`, without secrets; absent where no judge gives reasons."""
    judge_source: NotRequired[str | None]
    """`as reported` where the verdict came with imported answers."""
    trace: Trace
    """Decisions of the strategy: gate, paths of the expansion, terms of the memory score."""
    usage: NotRequired[dict[str, UsageEntry] | None]
    """Calls and tokens by phase (`retrieve`, `answer`, `judge`) as reported by the endpoint, and
    `by_model` where models have names; null where not known."""
    latency_ms: LatencyEntry
    """Milliseconds by phase and `total`, which excludes the judge; replayed calls count at their
    recorded latency."""
    latency_source: NotRequired[str | None]
    """`live`; `shared` where an index or graph came from an earlier job of the sweep, with its
    time; `vectors` where the vector of the query came from the cache, with the time that it took;
    `recorded` where an answer of a model was replayed; `as reported` for imported answers."""
    waited_ms: NotRequired[dict[str, Milliseconds]]
    """Milliseconds by phase spent on rate limits, failed attempts and queues; in no latency."""
    recorded: NotRequired[str | None]
    """Date (ISO, UTC) of the oldest replayed answer; null where all calls were live."""
    source: NotRequired[str]
    """Place of an imported answer in its file."""
    source_category: NotRequired[int | str | None]
    """Category that an imported file gives for the question."""


@_documented
class RankingLine(TypedDict):
    """The ranking behind one question: a line of rankings.jsonl."""

    id: str
    """Id of the question."""
    store: str
    """Conversation whose memories were ranked, or `pooled`."""
    selected: bool
    """True where the strategy only selects memories and does not rank the store."""
    complete: NotRequired[bool]
    """Whether nothing follows: the ranking has every memory that the question may see. Absent
    where a ranking below the depth of the manifest is complete."""
    ranking: NotRequired[list[tuple[str, float]]]
    """`[memory id, score]`, best first, to the recorded depth. The scores of one ranking may be on
    several scales; the order is what counts."""
    context_sha256: NotRequired[str]
    """In place of `ranking`: the context in contexts.jsonl whose memories were selected."""


@_documented
class MemoryLine(TypedDict):
    """A memory that occurs in a ranking: a line of memories.jsonl. Each memory occurs once."""

    store: str
    """As in the ranking."""
    id: str
    """Id of the memory."""
    turns: list[str]
    """Ids of its turns, in order."""
    tokens: NonNegativeInt | None
    """o200k tokens of its content; null where it is not known."""


@_documented
class ContextLine(TypedDict):
    """A context that the reader was given: a line of contexts.jsonl. Each text occurs once."""

    sha256: str
    """Hash of the text in hex, as in the field `context_sha256` of records."""
    text: str
    """The text, without the prompt around it."""
    retrieved: NotRequired[list[Retrieved]]
    """Memories in the context, where records leave them out; as in a record."""
    titles: NotRequired[list[str]]
    """Their titles."""


@_documented
class IngestLine(TypedDict):
    """One ingested session or one indexed conversation: a line of ingest.jsonl."""

    conversation: str
    """Id of the conversation."""
    phase: Literal["ingest", "index"]
    """`ingest` for a session; `index` for the warm-up query that builds the indexes."""
    session: str | None
    """Id of the session; null in phase `index`."""
    status: Literal["ok", "error"]
    """With status error, all questions of the conversation fail."""
    error: ErrorEntry | None
    """Null where `status` is ok."""
    memories: NonNegativeInt
    """Memories added by the session."""
    usage: UsageEntry | None
    """Calls and tokens, as in a record; null where somebody else wrote the memories."""
    latency_ms: Milliseconds
    """Milliseconds; replayed calls count at their recorded latency."""
    latency_source: str
    """`live`, `shared`, `vectors` or `recorded`, as in a record."""
    shared_ms: NotRequired[Milliseconds]
    """Part of `latency_ms` that was measured in an earlier job of the sweep, which made an index or
    a graph that this one took over; absent where it took over none."""
    waited_ms: Milliseconds
    """Milliseconds spent on rate limits, failed attempts and queues."""
    store: NotRequired[dict[str, NonNegativeInt]]
    """Phase `index`: size of the store in `memories`, `tokens`, `nodes`, `edges`, `bytes`."""
    embedder: NotRequired[str]
    """Phase `index`: embedder of the vectors; absent where the strategy asked for none."""
    cut_off: NotRequired[NonNegativeInt]
    """Phase `index`: memories of which the embedder reads only the beginning; absent for none."""
    events: NotRequired[list[dict[str, Any]]]
    """Log of a strategy that lets a model write its memories, and of deletions: step `forget`,
    `turns`, and `result`, the number of memories deleted or rewritten, or `unsupported`.
    """


@_documented
class FileEntry(TypedDict):
    """A file that was read."""

    name: str
    """Name without folder."""
    bytes: NonNegativeInt
    """Size."""
    sha256: str
    """Hash in hex."""


@_documented
class KeyUsed(TypedDict):
    """The answer key of a run."""

    name: str
    """`original`, `corrected` or `excluded`."""
    overlay: FileEntry | None
    """File that lists the errors of the original key."""
    texts: FileEntry | None
    """File that holds the corrected answers."""
    wrong: list[str]
    """Ids of questions whose original gold answer is wrong."""


@_documented
class EvidenceUsed(TypedDict):
    """Another evidence key than the data set's."""

    name: str
    """`corrected` or `excluded`."""
    overlay: FileEntry
    """File that lists the wrong citations."""


@_documented
class RetrievalUsed(TypedDict):
    """What the rankings of a run contain."""

    depth: PositiveInt | None
    """Memories to which each ranking is recorded; imported ones may be longer. Null: all are
    complete."""
    unit: Literal["turn", "session"]
    """What is ranked: memories of turns, or whole sessions, as in some imported rankings."""
    rule: str
    """How a ranking of memories becomes a ranking of turns and of sessions."""


@_documented
class Manifest(TypedDict):
    """What was run: manifest.json. Nothing in it is secret."""

    run_id: str
    """Name of the run folder."""
    schema_version: int
    """Version of these types."""
    status: Literal["running", "interrupted", "complete"]
    """Summaries exist only of complete runs."""
    kind: NotRequired[Literal["imported"]]
    """Present where the answers or rankings were made by another system."""
    command: str
    """Command that repeats the run."""
    strategy: str
    """Name of the strategy, or of the system whose answers or rankings were imported."""
    dataset: str
    """Name of the data set."""
    choices: dict[str, Any]
    """Chosen option of each configuration group."""
    config: dict[str, Any]
    """Resolved configuration, without settings that cannot change a result."""
    config_sha256: str
    """Hash of `config` and `choices`; a run is resumed only under the same."""
    data: list[FileEntry]
    """Data files."""
    key: NotRequired[KeyUsed]
    """Answer key."""
    evidence: NotRequired[EvidenceUsed]
    """Evidence key; absent where it is the data set's."""
    questions: NotRequired[NonNegativeInt]
    """Number of questions that the run asks; absent in runs of earlier versions."""
    subset: NotRequired[dict[str, Any] | None]
    """Question subset: `name`, `file`, `questions`, `of`; null where all questions were asked."""
    weights: NotRequired[FileEntry]
    """File of `index.fusion`, where the configuration names one."""
    memories: NotRequired[list[FileEntry]]
    """Files of memories that somebody else wrote (`strategy=given`)."""
    repairs: NotRequired[list[str]]
    """Repairs to the data, a sentence each."""
    git: NotRequired[dict[str, Any] | None]
    """`commit`, and whether the work tree was `dirty`; null outside a checkout."""
    packages: NotRequired[dict[str, str | None]]
    """Versions of the packages that scores depend on."""
    scoring: NotRequired[list[str]]
    """Protocols; the first defines `f1`."""
    llm: NotRequired[str | None]
    """Model that answers."""
    prompts: NotRequired[dict[str, Any]]
    """Prompts by role, with their hashes."""
    judge: NotRequired[dict[str, Any] | None]
    """Judge: name, score, settings."""
    reply_formats: NotRequired[dict[str, str]]
    """How the server of each judge was asked for JSON: `json_schema`, `json_object` or `text`."""
    pricing: NotRequired[dict[str, Any] | None]
    """Prices in US dollars per million tokens by model, each with its date and source, and all of
    the dates as `as_of`."""
    models: NotRequired[dict[str, str | None]]
    """Options of embedder, reader and judge."""
    retrieval: NotRequired[RetrievalUsed | None]
    """Rankings of the run; null where none are recorded."""
    languages: NotRequired[dict[str, str]]
    """Detected language (ISO 639-1, `und`: undetermined) of each conversation, or of the pooled
    store."""
    embedders: NotRequired[dict[str, str]]
    """Embedder of the conversations that another than the run's is for, because of their
    language."""
    stores: NotRequired[dict[str, dict[str, NonNegativeInt]]]
    """Numbers of `turns` and `sessions` by conversation, or of the pooled store; with
    `dataset.owner_filter` of both."""
    seed: int
    """Seed of the bootstrap."""
    machine: NotRequired[dict[str, Any]]
    """System, architecture, cores, Python version."""
    started: str
    """Time (ISO, UTC)."""
    ended: NotRequired[str | None]
    """Time (ISO, UTC); null while the run is running."""
    budget_usd: NotRequired[float]
    """Present where `llm.budget_usd` stopped the run: a limit under which it can be resumed."""
    resumed: NotRequired[list[dict[str, Any]]]
    """Time and commit of each resumption."""
    warnings: NotRequired[list[str]]
    """Sentences that a reader of the results has to know."""
    sweep: NotRequired[dict[str, Any] | None]
    """Id of the sweep and number of the job; null for a single run."""
    parent: NotRequired[dict[str, Any]]
    """Run of which this one repeats a part: its `run_id` and `config_sha256`, and the part `again`
    (`judge`, `answer` or `failed`)."""
    system: NotRequired[dict[str, Any] | None]
    """Details of the system behind a strategy, with `degraded`: features it runs without."""
    seconds: NotRequired[dict[str, NonNegativeFloat]]
    """Seconds by part of the run, and `total`."""
    rescored: NotRequired[list[dict[str, Any]]]
    """Time, commit and answer key of each rescoring."""
    merged: NotRequired[list[dict[str, Any]]]
    """Identity of each part of a merged run."""
    matching: NotRequired[dict[str, Any]]
    """Account of imported answers or rankings: what was matched and what was not."""


@_documented
class Summary(TypedDict):
    """Means, intervals and percentiles of a run: summary.json."""

    run_id: str
    """Name of the run folder."""
    strategy: str
    """As in the manifest."""
    dataset: str
    """As in the manifest."""
    n: int
    """Questions, failed and excluded ones included."""
    errors: int
    """Questions that failed."""
    config_sha256: str
    """As in the manifest."""
    errors_by_kind: dict[str, int]
    """Failed questions by phase and class of the error; and answers that could not be judged."""
    warnings: list[str]
    """As in the manifest."""
    interval: str
    """How the intervals were computed."""
    scoring: list[str]
    """As in the manifest."""
    by_type: dict[str, Cell]
    """A cell for each question type and for `overall`, types 1 to 4."""
    metrics: NotRequired[dict[str, str]]
    """Heading by column of the scores that tables of runs show besides F1."""
    judge: dict[str, Any] | None
    """Mean of the judge's score, of each of its runs, and agreement of its members."""
    subset: dict[str, Any] | None
    """Estimate of the score on all questions, where a subset was asked."""
    protocols: dict[str, Any]
    """Cells by type under each protocol."""
    ceiling: dict[str, Any] | None
    """By type, the share of right gold answers in the original key: the best possible score."""
    key: dict[str, Any] | None
    """Name of the chosen answer key with cells by type; null under the original one."""
    original_key: dict[str, Any] | None
    """The same cells under the original answer key."""


# Fields that earlier versions did not write, and the values that they stand for.
RECORD_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(("key", "scores_original", "judge", "usage", "recorded", "latency_source")),
    **dict.fromkeys(("judge_error", "context_sha256")),
    "waited_ms": {},
}
MANIFEST_DEFAULTS: Mapping[str, Any] = {
    "key": {"name": "original", "overlay": None, "texts": None, "wrong": []},
    "scoring": ["locomo"],
    **{name: {} for name in ("prompts", "models", "packages", "machine")},
    **{name: [] for name in ("repairs", "resumed", "warnings")},
    **dict.fromkeys(("subset", "git", "llm", "judge", "pricing", "ended", "sweep", "retrieval")),
    "stores": {},
}


def store_of(record: Record) -> str:
    """Return the id of the conversation that was ingested for the question, or `pooled`."""
    return record.get("store", record["conversation"])


def _check_record(record: Record) -> Record:
    """Raise ValueError with the field that contradicts another, and that a mean would leave out."""
    ok = record["status"] == "ok"
    if "retrieved" not in record and record.get("context_sha256") is None:
        raise ValueError("retrieved: absent, without a context that has it")
    if ok is (record["error"] is not None):
        raise ValueError(
            f"error: {'present' if ok else 'null'}, although status is {'ok' if ok else 'error'}"
        )
    if ok and record["answer"] is None and record["abstained"] is not None:
        raise ValueError("answer: null, although abstained says whether it is a refusal")
    key, category = record.get("key"), record["category"]
    if key is not None and key["kind"] == "excluded":
        return record
    if record["gold"] is None and category != ADVERSARIAL and record["type"] == TYPES.get(category):
        raise ValueError(f"gold: null, although questions of type {category} have an answer")
    if ok and not record["scores"]:
        raise ValueError("scores: empty, although the question did not fail")
    return record


def _check_ranking(line: RankingLine) -> RankingLine:
    """Raise ValueError unless the line has a ranking or the hash of a context."""
    if ("ranking" in line) is ("context_sha256" in line):
        raise ValueError("ranking: use either it or context_sha256")
    return line


RECORD = TypeAdapter(Annotated[Record, AfterValidator(_check_record)])
INGEST_LINE = TypeAdapter(IngestLine)
RANKING_LINE = TypeAdapter(Annotated[RankingLine, AfterValidator(_check_ranking)])
MANIFEST, SUMMARY = TypeAdapter(Manifest), TypeAdapter(Summary)
CONTEXT_LINE, MEMORY_LINE = TypeAdapter(ContextLine), TypeAdapter(MemoryLine)


def json_schema() -> dict[str, Any]:
    """JSON Schema of each type by the name of its file, with the field docstrings."""
    files: dict[str, Any] = {
        "records.jsonl": Record,
        "rankings.jsonl": RankingLine,
        "memories.jsonl": MemoryLine,
        "ingest.jsonl": IngestLine,
        "contexts.jsonl": ContextLine,
        "manifest.json": Manifest,
        "summary.json": Summary,
    }
    described = ConfigDict(use_attribute_docstrings=True)
    for one in globals().values():
        if isinstance(settings := getattr(one, "__pydantic_config__", None), dict):
            one.__pydantic_config__ = {**settings, **described}
    return {name: TypeAdapter(of).json_schema() for name, of in files.items()}


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=1))
