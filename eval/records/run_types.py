"""Types of the files of a run folder beside its records: lines, manifest and summary."""

from typing import Any, Literal, NotRequired

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt
from typing_extensions import TypedDict

from eval.records.record_types import ErrorEntry, Milliseconds, Retrieved, UsageEntry, documented

Cell = dict[str, Any]  # of a summary: its columns follow from the registered metrics


@documented
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


@documented
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


@documented
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


@documented
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


@documented
class FileEntry(TypedDict):
    """A file that was read."""

    name: str
    """Name without folder."""
    bytes: NonNegativeInt
    """Size."""
    sha256: str
    """Hash in hex."""


@documented
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


@documented
class EvidenceUsed(TypedDict):
    """Another evidence key than the data set's."""

    name: str
    """`corrected` or `excluded`."""
    overlay: FileEntry
    """File that lists the wrong citations."""


@documented
class RetrievalUsed(TypedDict):
    """What the rankings of a run contain."""

    depth: PositiveInt | None
    """Memories to which each ranking is recorded; imported ones may be longer. Null: all are
    complete."""
    unit: Literal["turn", "session"]
    """What is ranked: memories of turns, or whole sessions, as in some imported rankings."""
    rule: str
    """How a ranking of memories becomes a ranking of turns and of sessions."""


@documented
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


@documented
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
