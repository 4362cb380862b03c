"""Expected calls of one strategy on a data set: what every phase of a run asks of a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, cast

from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from baselines.given import memories_of
from baselines.libraries.memory import LibraryMemory
from baselines.libraries.rest import Rest
from baselines.rankings import NoMemory
from eval.datasets.files import read_memories
from eval.datasets.types import Dataset, Question
from eval.judges.llm import LLMJudgeSettings
from eval.judges.panel import PanelSettings
from eval.readers.llm import LLMReaderSettings
from eval.run.compatible import check_reference
from eval.run.estimate_steps import LIBRARIES, Calls, Line, Lines, Phase, Steps, limit_of, stand_ins
from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.types import UNDATED, Candidate, Conversation, Memory, Usage
from memsys.embed.endpoint import EndpointEmbedder
from memsys.knowledge.memory.base import MemoriesByModel, all_of
from memsys.knowledge.memory.chunks import Chunks
from memsys.knowledge.relations import written_graph
from memsys.llm.client import ChatSettings
from memsys.strategies.strategy import MemoryStrategy, Strategy

_SAME_REPLY = "same_reply"  # of the facts has the graph, too


@dataclass(frozen=True, slots=True)
class Stage:
    """Calls of one model in a phase of a run, and their tokens, expected and at most."""

    phase: Phase
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


class _Strategy:
    """What the settings of a strategy, its group of the configuration, say about its calls.

    `library`: name of the library that remembers, if one does; `writes`: a model writes the
    memories; `gate`, `judges`: a model decides on the gate, by this prompt, and on neighbours.
    """

    def __init__(self, settings: Mapping[str, Any], *, linked: bool) -> None:
        """`linked`: a model writes the graph of strategies that use one."""
        self.settings = settings
        self.kind = kind = cast(type[MemoryStrategy], get_class(settings["_target_"]))
        self.library = settings["name"] if issubclass(kind, LibraryMemory) else None
        is_writer = kind.writes_memory or self.library is not None
        self.writes = is_writer and settings.get("infer", True)
        self.links = linked and issubclass(kind, Strategy) and kind.uses_graph
        expands = bool(settings.get("use_graph_expansion", True))
        self.gate = settings.get("gate", {}).get("domains") if expands else None
        self.judges = expands and bool(settings.get("expansion", {}).get("judge"))

    def unknown(self, llm: ChatSettings | None) -> str | None:
        """Return why the calls of the strategy are not known, None if they are."""
        asks = {"memories": self.writes, "graph": self.links}
        for what, is_written in asks.items() if llm is None else ():
            if is_written:
                return f"a model writes its {what}; add llm=openai"
        if issubclass(self.kind, Rest):
            return "the memory service calls models by itself"
        if self.writes and self.library is not None and self.library not in LIBRARIES:
            return "the library decides how often it calls a model"
        if self.judges and llm is None:
            return "a model judges the neighbours; add llm=openai"
        return None

    def context(self, question: Question, lines: Lines) -> tuple[float, float]:
        """Return the tokens of a question's context, expected and at most."""
        own = lines[question.searched]
        sizes = [line.tokens for line in own]
        if self.kind is NoMemory or not sizes:
            return 0.0, 0.0
        whole = float(sum(sizes))
        budget = self.settings.get("budget") or whole
        if "k" in self.settings:
            k = self.settings["k"] or len(sizes)
            most = min(float(sum(sorted(sizes)[-k:])), budget, whole)
            return min(k * fmean(sizes), most), most
        if self.kind.sees_evidence:
            wanted = set(question.evidence)
            whole = float(sum(line.tokens for line in own if wanted & line.turns))
        return (min(whole, budget),) * 2


class Estimator:
    """Estimates strategies on the data set and with the models of one configuration.

    `llm` is None without a chat model. Raises InputError on settings that a run would refuse.
    """

    def __init__(self, config: DictConfig, dataset: Dataset) -> None:
        self.dataset, self._config = dataset, config
        llm, self._memory = instantiate(config.llm), instantiate(config.memory)
        self._context, judging = instantiate(config.context), instantiate(config.judge_llm)
        self.llm = llm if isinstance(llm, ChatSettings) else None
        self._judging = judging if isinstance(judging, ChatSettings) else self.llm
        self._is_written = isinstance(self._memory, MemoriesByModel)
        self._is_linked = isinstance(instantiate(config.graph), written_graph.WrittenByModel)
        if self.llm is None:  # refused, as by a run
            if isinstance(self._memory, MemoriesByModel):
                self._memory.open(None)
            self._context.summariser(None)
        self._reader, self._judge = instantiate(config.reader), instantiate(config.judge)
        embedder = instantiate(config.embedder)
        self._embedder = embedder.model if isinstance(embedder, EndpointEmbedder) else None
        self._lines: dict[bool, Lines] = {}

    @property
    def reasons(self) -> bool:
        """Whether a model reasons before it answers."""
        chats = [chat for chat in (self.llm, self._judging) if chat is not None]
        return any("reasoning_effort" in chat.extra for chat in chats)

    def calls(self, settings: Mapping[str, Any], *, asked: bool = True) -> StrategyCalls:
        """Return the calls of the strategy with these settings, its group of the configuration.

        `asked`: the user named the strategy, so that InputError is raised if given memories are not
        there; else its calls are unknown then.
        """
        strategy = _Strategy(settings, linked=self._is_linked)
        judged = list(self._judging_calls())
        if unknown := strategy.unknown(self.llm):
            return StrategyCalls(judged, unknown)
        is_read = strategy.writes or self._is_written
        try:
            lines = self._lines_of(strategy, facts=is_read)
        except InputError as why:
            if asked:
                raise
            return StrategyCalls(judged, str(why))
        stages = list(self._embedding(strategy, lines))
        notes = {
            "without calls that the strategy itself makes": not strategy.kind.__module__.startswith(
                ("memsys.", "baselines.")
            )
        }
        if self.llm is not None:
            of_library = bool(strategy.writes and strategy.library)
            calls = self._calls_of_model(strategy, lines, self.llm)
            stages += [Stage(phase, self.llm.model, each) for phase, each in calls]
            notes |= {
                "the library's calls as measured on small stores: at least so many": of_library,
                "as many facts as the data set has observations, 0.43 a turn else": is_read
                and not of_library,
                "as if the gate's model were asked about every question": bool(strategy.gate),
                "as if every question had as many neighbours to judge as it can": strategy.judges,
                "as if every long memory were retrieved and summarised": self._context.summarise,
            }
        shown = [note for note, applies in notes.items() if applies]
        return StrategyCalls([*stages, *judged], None, shown, not strategy.kind.written_elsewhere)

    def tokens(self, settings: Mapping[str, Any]) -> tuple[float, float] | None:
        """Return the mean tokens of a question's context, expected as for its reader, and of a
        conversation's store; None if a model writes the memories. Raises InputError if given
        memories are not there.
        """
        strategy = _Strategy(settings, linked=False)
        elsewhere = issubclass(strategy.kind, Rest | LibraryMemory)
        if strategy.kind.writes_memory or self._is_written or elsewhere:
            return None
        lines = self._lines_of(strategy, facts=False)
        contexts = [strategy.context(question, lines)[0] for question in self.dataset.questions]
        stores = [float(sum(line.content for line in each)) for each in lines.values()]
        return fmean(contexts), fmean(stores)

    def _lines_of(self, strategy: _Strategy, *, facts: bool) -> Lines:
        """Return the memories by conversation: those that somebody else wrote, see read_memories,
        or those of `memory`; `facts`: those that a model would write.
        """
        if strategy.kind.written_elsewhere:
            texts, _ = read_memories(strategy.settings["path"], self.dataset)
            return {id_: list(map(self._line, memories_of(texts[id_]))) for id_ in texts}
        if facts not in self._lines:
            self._lines[facts] = {
                each.id: list(map(self._line, self._memories(each, facts=facts)))
                for each in self.dataset.conversations
            }
        return self._lines[facts]

    def _memories(self, conversation: Conversation, *, facts: bool) -> Iterable[Memory]:
        if facts:
            return stand_ins(conversation)
        if not isinstance(self._memory, Chunks):
            return all_of(self._memory, conversation.sessions)
        cut = self._memory.opened().pieces
        pieces = {
            id_: (text, of) for session in conversation.sessions for id_, text, of in cut(session)
        }
        return [Memory(id_, text, text, UNDATED, "", of) for id_, (text, of) in pieces.items()]

    def _line(self, memory: Memory) -> Line:
        written = self._context.line(Candidate(memory, 0.0), 1)
        content = count_tokens(memory.content)
        return Line(count_tokens(written), content, frozenset(memory.turns))

    def _embedding(self, strategy: _Strategy, lines: Lines) -> Iterator[Stage]:
        settings, dataset = strategy.settings, self.dataset
        unranked = "k" not in settings or (
            strategy.kind.written_elsewhere and settings["k"] is None
        )
        if self._embedder is None or unranked or strategy.kind.start == "lexical":
            return
        batches = sum(len(each.sessions) for each in dataset.conversations)
        if strategy.writes:  # each fact is compared by itself
            batches = sum(map(len, lines.values()))
        tokens = Usage(0, sum(line.tokens for each in lines.values() for line in each), 0)
        queries = Usage(0, sum(count_tokens(q.text) for q in dataset.questions), 0)
        yield Stage("ingest", self._embedder, Calls(batches, tokens, tokens))
        yield Stage("retrieve", self._embedder, Calls(len(dataset.questions), queries, queries))

    def _calls_of_model(
        self, strategy: _Strategy, lines: Lines, llm: ChatSettings
    ) -> Iterator[tuple[Phase, Calls]]:
        """Yield the calls that write memories, for the strategy or for memory=facts, or those of
        its library; of its graph, the gate, the judge of neighbours, summaries and the reader.
        """
        text, settings, context = self._config.instructions, strategy.settings, self._context
        steps = Steps(self.dataset, limit_of(llm), 0 if text is None else count_tokens(text))
        given: Any = OmegaConf.to_container(self._config.memory, resolve=True)
        contents = [line.content for each in lines.values() for line in each]
        written: list[Calls] = []
        if strategy.writes and strategy.library:
            yield from steps.library(settings["name"], settings["exchange"])
        elif strategy.writes:
            facts = settings["facts"]
            written = [*steps.facts(facts), steps.decisions(facts, settings["update"])]
            if graph := settings.get("graph"):
                same = facts.get("relations") == _SAME_REPLY
                written.append(steps.graph(graph, same_reply=same))
            if settings.get("relations", {}).get("query_entities") == "llm":
                yield "retrieve", steps.entities(settings["graph"])
        elif self._is_written:
            facts = {name: given[name] for name in given if name not in {"_target_", "name"}}
            written = list(steps.facts({**facts, "place": "memory"}))
        if strategy.links and not (strategy.writes and strategy.library):
            same = self._is_written and given.get("relations") == _SAME_REPLY
            written.append(steps.graph(self._config.graph, same_reply=same))
        yield from (("ingest", each) for each in written)
        if strategy.gate:
            yield "retrieve", steps.gate(strategy.gate)
        if strategy.judges:
            yield "retrieve", steps.neighbours(settings["expansion"], fmean(contents))
        if context.summarise and strategy.kind is not NoMemory:
            long = [tokens for tokens in contents if tokens > context.longer_than]
            yield "retrieve", steps.summaries(long, context.summary_prompt)
        if isinstance(self._reader, LLMReaderSettings):
            contexts = [strategy.context(question, lines) for question in self.dataset.questions]
            yield "answer", steps.answers(self._reader.loaded(context), contexts)

    def _judging_calls(self) -> Iterator[Stage]:
        members = self._judge.members if isinstance(self._judge, PanelSettings) else [self._judge]
        for judge in members:
            if isinstance(judge, LLMJudgeSettings) and self._judging is not None:
                check_reference(judge.rubric, judge.compares, self.dataset)  # refused, as by a run
                calls = Steps(self.dataset, limit_of(self._judging)).verdicts(judge)
                yield Stage("judge", judge.model or self._judging.model, calls)
