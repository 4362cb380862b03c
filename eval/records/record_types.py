"""Types of a record, the dict of a line of records.jsonl, and of its parts.

A field marked NotRequired is absent where a run has no use for it, or was written by an earlier
version.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, NonNegativeInt, with_config
from typing_extensions import TypedDict

from eval.datasets.types import PlantKind

Scores = dict[str, Annotated[float, Field(ge=0, le=1)] | None]
Milliseconds = Annotated[float, Field(ge=0, le=1e12)]  # at most 30 years
Retrieved = tuple[str, list[str], float, str]  # memory id, turn ids, score, origin
# Validators are built at their first use; descriptions alone, in json_schema, need the source.
documented = with_config(ConfigDict(extra="allow", defer_build=True))


@documented
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


@documented
class KeyEntry(TypedDict):
    """The change that the chosen answer key makes to a question."""

    kind: Literal["corrected", "excluded"]
    """Whether the question has another gold answer, or no score under the chosen key."""
    error_type: str
    """The error of the data set's own gold answer, as its finder classified it."""
    original_gold: str | None
    """The data set's own gold answer."""


@documented
class EvidenceFound(TypedDict):
    """Evidence turns that were retrieved, by origin."""

    direct: list[str]
    """Turn ids found by the strategy's first ranking."""
    expanded: list[str]
    """Turn ids found by expansion alone."""


@documented
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


@documented
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


@documented
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


@documented
class ExpansionStep(TypedDict):
    """A memory that was found by expansion."""

    memory: str
    """Id of the memory."""
    seed: NotRequired[str]
    """Id of the memory from which it was reached."""
    via: NotRequired[str]
    """What connects both."""


@documented
class GateEntry(TypedDict):
    """Whether a gate let the strategy expand."""

    open: bool
    """Whether it opened."""
    rule: str
    """The rule that decided."""


@documented
class Trace(TypedDict, total=False):
    """Decisions of a strategy, whose own parts may have any form."""

    expansion: list[ExpansionStep]
    """Memories found by expansion."""
    gate: GateEntry
    """The gate's decision."""
    memory_score: dict[str, Any]
    """Terms of the memory score."""


@documented
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
