"""Expected calls of one strategy on a data set: what every phase of a run asks of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal, cast

from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from baselines.given import memories_of
from baselines.libraries.memory import LibraryMemory
from baselines.libraries.rest import Rest
from baselines.rankings import NoMemory
from eval.datasets.files import read_memories
from eval.datasets.types import Dataset
from eval.judges.llm import LLMJudgeSettings
from eval.judges.panel import PanelSettings
from eval.readers.llm import LLMReaderSettings
from eval.run.compatible import check_reference
from eval.run.estimate_ingest import (
    LIBRARIES,
    Calls,
    decision_calls,
    entity_calls,
    fact_calls,
    graph_calls,
    library_calls,
    stand_ins,
)
from eval.run.estimate_questions import (
    Line,
    answer_calls,
    context_size,
    gate_calls,
    limit_of,
    neighbour_calls,
    summary_calls,
    verdict_calls,
)
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.types import UNDATED, Candidate, Conversation, Memory, Usage
from memsys.embed.endpoint import EndpointEmbedder
from memsys.knowledge.memory.base import WrittenByModel, all_of
from memsys.knowledge.memory.chunks import Chunks
from memsys.knowledge.relations import written_graph
from memsys.llm.client import ChatSettings
from memsys.llm.meter import total_usage
from memsys.strategies.strategy import MemoryStrategy, Strategy


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls of one model in a phase of a run, and their tokens, expected and at most."""

    phase: Literal["ingest", "retrieve", "answer", "judge"]
    model: str
    calls: Calls


@dataclass(frozen=True, slots=True)
class StrategyCalls:
    """The calls of a run of one strategy. `unknown`: why those of its memory are not known; `notes`
    explain the others. `ingestion_known`: whether nobody else paid for its memories.
    """

    stages: Sequence[Stage]
    unknown: str | None = None
    notes: Sequence[str] = ()
    ingestion_known: bool = True


class Estimator:
    """Estimates strategies on the data set and with the models of one configuration.

    `llm` is None without a chat model. Raises InputError on settings that a run would refuse.
    """

    def __init__(self, config: DictConfig, dataset: Dataset) -> None:
        self.dataset, self._config = dataset, config
        chosen, memory = instantiate(config.llm), instantiate(config.memory)
        self.llm = chosen if isinstance(chosen, ChatSettings) else None
        self._is_written = isinstance(memory, WrittenByModel)
        self._is_linked = isinstance(instantiate(config.graph), written_graph.WrittenByModel)
        if self.llm is None and isinstance(memory, WrittenByModel):
            memory.open(None)  # refuses, as a run would
        judging = instantiate(config.judge_llm)
        self._judging = judging if isinstance(judging, ChatSettings) else self.llm
        self._memory, self._context = memory, instantiate(config.context)
        if self.llm is None:
            self._context.summariser(None)  # refuses, as a run would
        self._reader, self._judge = instantiate(config.reader), instantiate(config.judge)
        embedder = instantiate(config.embedder)
        self._embedder = embedder.model if isinstance(embedder, EndpointEmbedder) else None
        self._lines: dict[bool, dict[str, list[Line]]] = {}

    @property
    def reasons(self) -> bool:
        """Whether a model reasons before it answers."""
        chats = [one for one in (self.llm, self._judging) if one is not None]
        return any("reasoning_effort" in one.extra for one in chats)

    def calls(self, settings: Mapping[str, Any], *, asked: bool = True) -> StrategyCalls:
        """Return the calls of the strategy with these settings, its group of the configuration.

        `asked`: the user named the strategy, so that InputError is raised if given memories are not
        there; else its calls are unknown then.
        """
        kind = cast(type[MemoryStrategy], get_class(settings["_target_"]))
        library = settings["name"] if issubclass(kind, LibraryMemory) else None
        writes = (kind.writes_memory or library is not None) and settings.get("infer", True)
        judged = list(self._judging_calls())
        judges = bool(settings.get("expansion", {}).get("judge")) and _expands(settings)
        is_read = writes or self._is_written
        if unknown := self._unknown(kind, library, writes=writes, judges=judges):
            return StrategyCalls(judged, unknown)
        of_files = kind.written_elsewhere
        try:
            lines = self._given(settings) if of_files else self._lines_of(facts=is_read)
        except InputError as why:
            if asked:
                raise
            return StrategyCalls(judged, str(why))
        stages = list(self._embedding(kind, settings, lines, writes=writes))
        notes = []
        if not kind.__module__.startswith(("memsys.", "baselines.")):
            notes.append("without calls that the strategy itself makes")
        if self.llm is not None:
            if writes and library is not None:
                stages += self._library(settings, self.llm)
                notes.append("the library's calls as measured on small stores: at least so many")
            else:
                own = self._ingestion(kind, settings, self.llm, writes=writes)
                stages += map(self._instructed, own)
                if is_read:
                    notes.append("as many facts as the data set has observations, 0.43 a turn else")
            own = self._questions(kind, settings, lines, self.llm)
            stages += map(self._instructed, own)
            if settings.get("gate", {}).get("domains") and _expands(settings):
                notes.append("as if the gate's model were asked about every question")
            if judges:
                notes.append("as if every question had as many neighbours to judge as it can")
            if self._context.summarise:
                notes.append("as if every long memory were retrieved and summarised")
        return StrategyCalls([*stages, *judged], None, notes, not of_files)

    def tokens(self, settings: Mapping[str, Any]) -> tuple[float, float] | None:
        """Return the mean tokens of a question's context, expected as for its reader, and of a
        conversation's store; None if a model writes the memories. Raises InputError if given
        memories are not there.
        """
        kind = cast(type[MemoryStrategy], get_class(settings["_target_"]))
        if kind.writes_memory or self._is_written or issubclass(kind, Rest | LibraryMemory):
            return None
        of_files = kind.written_elsewhere
        lines = self._given(settings) if of_files else self._lines_of(facts=False)
        questions = self.dataset.questions
        contexts = [context_size(kind, settings, q, lines[q.searched])[0] for q in questions]
        stores = [float(sum(line.content for line in each)) for each in lines.values()]
        return fmean(contexts), fmean(stores)

    def _unknown(
        self, kind: type[MemoryStrategy], library: str | None, *, writes: bool, judges: bool
    ) -> str | None:
        """Return why the strategy's calls are not known, None if they are. `writes`: a model writes
        its memories; `judges`: one judges the neighbours of an expansion.
        """
        asks = {"memories": writes, "graph": self._links(kind)}
        for what, is_written in asks.items() if self.llm is None else ():
            if is_written:
                return f"a model writes its {what}; add llm=openai"
        if issubclass(kind, Rest):
            return "the memory service calls models by itself"
        if writes and library is not None and library not in LIBRARIES:
            return "the library decides how often it calls a model"
        if judges and self.llm is None:
            return "a model judges the neighbours; add llm=openai"
        return None

    def _instructed(self, stage: Stage) -> Stage:
        """Return `stage` with the tokens of the instructions in each of its calls."""
        text, calls = self._config.instructions, stage.calls
        if text is None:
            return stage
        more = Usage(0, calls.calls * count_tokens(text), 0)
        most = calls.most and total_usage([calls.most, more])
        return replace(stage, calls=Calls(calls.calls, total_usage([calls.about, more]), most))

    def _questions(
        self,
        kind: type[MemoryStrategy],
        settings: Mapping[str, Any],
        lines: Mapping[str, Sequence[Line]],
        llm: ChatSettings,
    ) -> Iterator[Stage]:
        """Yield the calls of the gate, of the judge of neighbours, of summaries and of the
        reader.
        """
        questions, limit = self.dataset.questions, limit_of(llm)
        warm_up = len(self.dataset.conversations)
        prompt = settings.get("gate", {}).get("domains")
        if prompt and _expands(settings):
            yield Stage("retrieve", llm.model, gate_calls(questions, warm_up, prompt, limit))
        contents = [line.content for each in lines.values() for line in each]
        expansion = settings.get("expansion", {})
        if expansion.get("judge") and _expands(settings):
            calls = neighbour_calls(questions, warm_up, expansion, fmean(contents), limit)
            yield Stage("retrieve", llm.model, calls)
        if self._context.summarise and kind is not NoMemory:
            long = [tokens for tokens in contents if tokens > self._context.longer_than]
            calls = summary_calls(long, self._context.summary_prompt, limit)
            yield Stage("retrieve", llm.model, calls)
        if isinstance(self._reader, LLMReaderSettings):
            contexts = [context_size(kind, settings, one, lines[one.searched]) for one in questions]
            prompt = self._reader.loaded(self._context)
            calls = answer_calls(questions, prompt, contexts, limit)
            yield Stage("answer", llm.model, calls)

    def _lines_of(self, *, facts: bool) -> dict[str, list[Line]]:
        """Return the memories by conversation; `facts`: those that a model would write."""
        if facts not in self._lines:
            self._lines[facts] = {
                one.id: [self._line(memory) for memory in self._memories(one, facts=facts)]
                for one in self.dataset.conversations
            }
        return self._lines[facts]

    def _memories(self, conversation: Conversation, *, facts: bool) -> Iterable[Memory]:
        if facts:
            return stand_ins(conversation)
        if not isinstance(self._memory, Chunks):
            return all_of(self._memory, conversation.sessions)
        cut = self._memory.opened().pieces
        found = {id_: (text, of) for one in conversation.sessions for id_, text, of in cut(one)}
        return [Memory(id_, text, text, UNDATED, "", of) for id_, (text, of) in found.items()]

    def _given(self, settings: Mapping[str, Any]) -> dict[str, list[Line]]:
        """Return the memories by conversation that somebody else wrote; see read_memories."""
        texts, _ = read_memories(settings["path"], self.dataset)
        return {id_: [self._line(one) for one in memories_of(texts[id_])] for id_ in texts}

    def _line(self, memory: Memory) -> Line:
        written = self._context.line(Candidate(memory, 0.0), 1)
        content = count_tokens(memory.content)
        return Line(count_tokens(written), content, frozenset(memory.turns))

    def _embedding(
        self,
        kind: type[MemoryStrategy],
        settings: Mapping[str, Any],
        lines: Mapping[str, Sequence[Line]],
        *,
        writes: bool,
    ) -> Iterator[Stage]:
        unranked = "k" not in settings or (kind.written_elsewhere and settings["k"] is None)
        if self._embedder is None or unranked or kind.start == "lexical":
            return
        tokens = Usage(0, sum(line.tokens for each in lines.values() for line in each), 0)
        if writes:  # each fact is compared by itself
            batches = sum(map(len, lines.values()))
        else:
            batches = sum(len(one.sessions) for one in self.dataset.conversations)
        yield Stage("ingest", self._embedder, Calls(batches, tokens, tokens))
        queries = Usage(0, sum(count_tokens(q.text) for q in self.dataset.questions), 0)
        yield Stage(
            "retrieve", self._embedder, Calls(len(self.dataset.questions), queries, queries)
        )

    def _links(self, kind: type[MemoryStrategy]) -> bool:
        """Return whether a model writes the graph that the strategy uses."""
        return self._is_linked and issubclass(kind, Strategy) and kind.uses_graph

    def _ingestion(
        self,
        kind: type[MemoryStrategy],
        settings: Mapping[str, Any],
        llm: ChatSettings,
        *,
        writes: bool,
    ) -> Iterator[Stage]:
        """Yield the calls that write memories, for the strategy or for memory=facts, and those that
        write its graph.
        """
        limit, conversations = limit_of(llm), self.dataset.conversations
        calls: list[Calls] = []
        if writes:
            calls += fact_calls(conversations, limit, settings["facts"])
            calls.append(
                decision_calls(conversations, limit, settings["facts"], settings["update"])
            )
            if graph := settings.get("graph"):
                same = _same_reply(settings["facts"])
                calls.append(graph_calls(conversations, limit, graph, same_reply=same))
            if settings.get("relations", {}).get("query_entities") == "llm":
                texts = [question.text for question in self.dataset.questions]
                texts += [""] * len(conversations)  # the warm-up queries
                yield Stage("retrieve", llm.model, entity_calls(texts, limit, settings["graph"]))
        given: Any = OmegaConf.to_container(self._config.memory, resolve=True)
        if not writes and self._is_written:
            facts = {
                name: value for name, value in given.items() if name not in {"_target_", "name"}
            }
            calls += fact_calls(conversations, limit, {**facts, "place": "memory"})
        if self._links(kind):
            same = self._is_written and _same_reply(given)
            calls.append(graph_calls(conversations, limit, self._config.graph, same_reply=same))
        for one in calls:
            yield Stage("ingest", llm.model, one)

    def _library(self, settings: Mapping[str, Any], llm: ChatSettings) -> Iterator[Stage]:
        questions = [question.text for question in self.dataset.questions]
        found = library_calls(
            self.dataset.conversations, questions, settings["name"], settings["exchange"]
        )
        for phase, calls in zip(("ingest", "retrieve"), found, strict=True):
            if calls.calls:
                yield Stage(cast(Any, phase), llm.model, calls)

    def _judging_calls(self) -> Iterator[Stage]:
        members = self._judge.members if isinstance(self._judge, PanelSettings) else [self._judge]
        for one in members:
            if isinstance(one, LLMJudgeSettings) and self._judging is not None:
                check_reference(one.rubric, one.compares, self.dataset)  # refuses, as a run would
                calls = verdict_calls(self.dataset.questions, one, limit_of(self._judging))
                yield Stage("judge", one.model or self._judging.model, calls)


def _same_reply(facts: Mapping[str, Any]) -> bool:
    return facts.get("relations") == "same_reply"


def _expands(settings: Mapping[str, Any]) -> bool:
    return bool(settings.get("use_graph_expansion", True))
