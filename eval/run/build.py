"""Construction of the objects of a run from its configuration."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, cast

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval.datasets.files import read_memories, read_text
from eval.datasets.types import Dataset, SourceFile
from eval.judges.judge import Judge, ModelByName
from eval.metrics.registry import use_configured
from eval.readers import Reader
from eval.readers.llm import LLMReader, LLMReaderSettings
from eval.readers.none import NoReader
from eval.records.prices import described as described_prices
from eval.rendering.errors import users_place
from eval.run.compatible import check_compatibility, check_reference
from eval.run.embedders import Embedders
from memsys.context.writers import ContextWriter
from memsys.core.errors import InputError, refuse
from memsys.core.terms import language_of, load_classifier
from memsys.core.types import Conversation
from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.embed.endpoint import EndpointEmbedder
from memsys.knowledge.memory.base import MemoryBuilder
from memsys.llm.base import LLM, instructed, needed_model
from memsys.llm.budget import Budget, CallLedger
from memsys.llm.client import ChatSettings, NoModel
from memsys.llm.meter import Meter
from memsys.llm.pricing import PRICING, Pricing, load_pricing
from memsys.llm.prompt import Prompt
from memsys.llm.recording import Recording
from memsys.strategies.shared import Shared
from memsys.strategies.store import Parts
from memsys.strategies.strategy import MemoryStrategy, Strategy

FAILED_ONES = "failed"  # value of `only`: the questions of another run that failed


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run, from the groups llm, judge_llm, reader, judge and embedder.

    `unpriced`: names of those behind an address that have no price. `warnings`: of the run.
    """

    embedder: Embedder
    llm: LLM | None
    reader: Reader | None  # None: nobody answers
    judge: Judge | None
    pricing: Pricing
    unpriced: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Built:
    """The objects of a run. `make_strategy` returns a new strategy for one conversation, with the
    embedder that `embedders` has for it; `prompts` are those with which the strategy itself asks a
    model, by role. `weights`: the file that index.fusion names;
    `memories`: files of memories that somebody else wrote.
    """

    dataset: Dataset
    meter: Meter
    models: Models
    embedders: Embedders
    make_strategy: Callable[[str], MemoryStrategy]
    prompts: Mapping[str, Prompt]
    depth: int = 0  # memories of each ranking that are recorded
    weights: SourceFile | None = None
    memories: Sequence[SourceFile] = ()

    def resolved(self, config: DictConfig) -> dict[str, Any]:
        """Return the values of `config` with the fallback that the embedder has in this run, and
        without a depth of rankings where none are recorded.
        """
        values = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
        ranked = values["retrieval"] if self.depth else {"depth": None}
        embedder = self.embedders.resolved(values["embedder"])
        return {**values, "embedder": embedder, "retrieval": ranked}

    def described(self) -> dict[str, Any]:
        """Return the fields of the manifest on models: the one that answers, prompts with hashes,
        the judge, the price of every model that has one, languages and their embedders; and the
        files of weights and of memories, if there are any.
        """
        models, prompts = self.models, dict(self.prompts)
        if isinstance(models.reader, LLMReader):
            prompts = {"reader": models.reader.prompt, **prompts}
        judge = models.judge
        return {
            "llm": models.llm and models.llm.name,
            "prompts": {name: prompt.described() for name, prompt in prompts.items()},
            "judge": judge and {"name": judge.name, "score": judge.score_key, **judge.details},
            "pricing": described_prices(models.pricing),
            **self.embedders.described(),
            **({} if self.weights is None else {"weights": asdict(self.weights)}),
            **({"memories": list(map(asdict, self.memories))} if self.memories else {}),
        }


def build(
    config: DictConfig,
    choices: Mapping[str, str],
    ledger: CallLedger | None = None,
    shared: Shared | None = None,
) -> Built:
    """Build the objects that `config` names, each shared part once.

    `ledger`: the live calls that the run has paid for; further ones are added to it. `shared`: what
    earlier runs of a sweep have loaded and made. Raises InputError on unusable data or
    configuration.
    """
    # Not config.get: where a name is missing, the error that it catches keeps its caller's objects,
    # and with them the run, in memory.
    use_configured(OmegaConf.select(config, "metric"))
    source = instantiate(config.dataset)  # its method `load` returns a Dataset
    check_compatibility(choices, source, config.llm)

    def load() -> tuple[Dataset, dict[str, str]]:
        dataset = selected(source.load(), config.questions, config.only)
        languages = {
            conversation.id: language_of(_texts(conversation))
            for conversation in dataset.conversations
        }
        if choices["memory"] != "turns":  # a store may ask about others while the clock runs
            load_classifier()
        return dataset, languages

    settings = OmegaConf.to_container(config.dataset, resolve=True)
    key = str((settings, config.questions, config.only))
    dataset, languages = load() if shared is None else shared.loaded(key, load)
    meter = Meter()
    context = instantiate(config.context)
    models = _open_models(config, context, meter, ledger)
    if models.judge is not None:
        check_reference(models.judge.name, models.judge.compares, dataset)
    embedders = Embedders(
        models.embedder,
        languages,
        lambda embedder: CachedEmbedder(
            embedder, config.cache, meter, fresh_queries=config.fresh_queries
        ),
    )
    parts = Parts(
        memory=instantiate(config.memory),
        embedder=embedders.default,
        context=context,
        index=instantiate(config.index),
        graph=instantiate(config.graph),
        llm=models.llm,
        depth=config.retrieval.depth or 0,
        owner_filter=bool(OmegaConf.select(config, "dataset.owner_filter")),
        shared=None if config.fresh_queries else shared,  # which asks for live times
    )
    make: partial[MemoryStrategy] = instantiate(config.strategy, _convert_="all")
    given: dict[str, Any] = {"parts": parts}
    if not (isinstance(make.func, type) and issubclass(make.func, MemoryStrategy)):
        raise InputError(
            f"strategy={choices['strategy']}: {make.func.__name__} is not derived from "
            "memsys.strategies.strategy.MemoryStrategy"
        )
    own_retrieval = make.func.writes_memory or make.func.retrieve is not Strategy.retrieve
    goes_on = isinstance(parts.memory, MemoryBuilder) and parts.memory.goes_on
    faults = {
        f"strategy={choices['strategy']}: cannot filter by owner, since it maintains or searches "
        "its memory by itself; use dataset.owner_filter=false": parts.owner_filter
        and own_retrieval,
        f"strategy={choices['strategy']}: stores each memory as it comes, and those of "
        f"memory={parts.memory.name} go on from session to session; use memory=turns": goes_on
        and own_retrieval
        and not make.func.writes_memory,
    }
    refuse(faults)
    if make.func.sees_evidence:
        given["evidence"] = {question.id: question.evidence for question in dataset.questions}
    texts: dict[str, str] = {}
    memories: list[SourceFile] = []
    if make.func.written_elsewhere:
        texts, memories = read_memories(config.strategy.path, dataset)
        given["parts"] = replace(parts, depth=0)  # without turns there is nothing to rank
    for conversation in dataset.conversations:
        parts.memory.check(conversation)
    try:
        strategy = make(**given)  # shows an invalid parameter before anything is written
    except TypeError as error:
        if users_place(error):
            raise
        raise InputError(f"strategy={choices['strategy']}: {error}") from error

    def make_strategy(conversation: str) -> MemoryStrategy:
        embedder = embedders.of(conversation)
        own = {"parts": replace(given["parts"], embedder=embedder)}
        if conversation in texts:
            own["text"] = texts[conversation]
        return make(**{**given, **own})

    prompts, fusion = strategy.prompts, parts.index.fusion
    weights = None if fusion is None else read_text(Path(fusion))[1]
    depth = given["parts"].depth
    return Built(
        dataset, meter, models, embedders, make_strategy, prompts, depth, weights, memories
    )


def _texts(conversation: Conversation) -> list[str]:
    return [turn.text for session in conversation.sessions for turn in session.turns]


def selected(dataset: Dataset, limit: int | None, only: str | Sequence[str] | None) -> Dataset:
    """Return `dataset` with its first `limit` questions (None: all), and of these the ones whose
    ids `only` lists (None and FAILED_ONES: all), with their conversations. Raises InputError on an
    unknown id.
    """
    if limit is None and only in (None, FAILED_ONES):
        return dataset
    questions = dataset.questions[:limit]
    if only is not None and only != FAILED_ONES:
        ids = {only} if isinstance(only, str) else set(only)
        question_ids = {question.id for question in questions}
        for id_ in sorted(ids - question_ids):
            near = get_close_matches(id_, question_ids, 1) or sorted(question_ids)[:1]
            raise InputError(f"only={id_}: {dataset.name} has no such question; one is {near[0]}")
        questions = tuple(question for question in questions if question.id in ids)
    asked = {question.searched for question in questions}
    conversations = tuple(
        conversation for conversation in dataset.conversations if conversation.id in asked
    )
    return replace(dataset, questions=questions, conversations=conversations)


def _open_models(
    config: DictConfig, context: ContextWriter, meter: Meter, ledger: CallLedger | None
) -> Models:
    """Open the models of the run, their calls recorded and replayed.

    Raises InputError if a key, a model, a prompt or a price is missing.
    """
    settings: ChatSettings | NoModel = instantiate(config.llm)
    pricing = load_pricing(PRICING if config.pricing is None else config.pricing)
    recording = Recording(config.cache, settings.cache)
    budget = Budget(settings.budget_usd, pricing, ledger)
    embedder = instantiate(config.embedder)
    if isinstance(embedder, EndpointEmbedder):
        embedder.open(recording, meter, budget)
    llm = instructed(settings.open(recording, meter, budget), config.instructions)
    reader, misfit = instantiate(config.reader), None
    if isinstance(reader, LLMReaderSettings):
        model = needed_model(llm, "reader=llm", "answer with")
        misfit = reader.misfit(context)
        reader = reader.open(model, context)
    if isinstance(reader, NoReader):
        reader = None
    judging: ChatSettings | NoModel = instantiate(config.judge_llm)
    if isinstance(judging, NoModel):  # the model that answers judges, too
        judging = settings
    chats = [option for option in (settings, judging) if isinstance(option, ChatSettings)]
    named: ModelByName | None = None
    if isinstance(judging, ChatSettings):
        chat = judging

        def named(name: str) -> LLM:
            chats.append(replace(chat, model=name))
            return chats[-1].open(recording, meter, budget)

    judge = instantiate(config.judge).open(judging.open(recording, meter, budget), named)
    addressed = {option.model for option in chats if isinstance(option.base_url, str)}
    if isinstance(embedder, EndpointEmbedder):
        addressed.add(embedder.model)
    unpriced = tuple(sorted(name for name in addressed if pricing.price(name) is None))
    warnings = () if misfit is None else (misfit,)
    return Models(embedder, llm, reader, judge, pricing, unpriced, warnings)
