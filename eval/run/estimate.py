"""`estimate=true`: expected calls, tokens and dollars of runs; no model is called."""

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval.datasets.types import Dataset
from eval.records.prices import FULL_CONTEXT, break_even, each
from eval.rendering.numbers import ABSENT, number, questions
from eval.rendering.terminal import fitted, sentence
from eval.run.build import selected
from eval.run.estimate_calls import Estimator, Stage, StrategyCalls
from eval.run.settings import check_settings
from memsys.llm.budget import Budget
from memsys.llm.pricing import PRICING, Pricing, load_pricing

_UNKNOWN = "unknown"
_WIDTH = 100  # characters of a line of notes
_HEADER = ["strategy", "calls", "input tokens", "output tokens"]
_HEADER += ["system $", "judge $", "at most $", "break-even"]
_NOTE = (
    "Tokens are o200k and expected: k memories of mean length, answers as long as the gold "
    "answers, or, without these, as the cues. At most: contexts as long as the budget, answers as "
    "long as llm.max_tokens. Repeated attempts are not counted; recorded calls cost nothing. "
    "Break-even: questions a conversation until ingestion and questions cost less than "
    "full_context."
)
_SYSTEM = ("ingest", "retrieve", "answer")
_REASONING = " The model's reasoning is billed as output: it is part of the figures at most alone."
# Settings that the rows of a table share.
_OF_DATA = ("dataset", "questions", "only")
_SHARED = (
    *(*_OF_DATA, "memory", "context", "embedder"),
    *("llm", "judge_llm", "reader", "judge", "pricing"),
)


class _Row(NamedTuple):
    """The strategy of a row and the other arguments of its run."""

    strategy: str
    arguments: tuple[str, ...] = ()


_REFERENCE = _Row(FULL_CONTEXT)


@dataclass(slots=True)
class _Group:
    """The rows of one configuration apart from the strategy, with their cells."""

    title: str
    estimator: Estimator
    pricing: Pricing
    rows: dict[_Row, list[str]] = field(default_factory=dict)
    notes: dict[str, list[_Row]] = field(default_factory=dict)
    unpriced: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    reference: float | None = None  # dollars of a question with full_context


_groups: dict[str, _Group] = {}
_datasets: dict[str, Dataset] = {}


def add_estimate(
    config: DictConfig,
    strategy: str,
    arguments: Sequence[str] = (),
    only: Sequence[str] | None = None,
) -> None:
    """Estimate the run of `config`, whose strategy is named `strategy`, for show_estimates.

    `arguments`: those of the run besides the strategy. `only`: the phases of a run that are done
    again (None: a whole run). Raises InputError on data or settings that a run would refuse.
    """
    check_settings(config)
    group = _group_of(config)
    settings: Any = OmegaConf.to_container(config.strategy, resolve=True)
    reference = _settings(FULL_CONTEXT, config) if only is None else None
    if reference is not None:
        _add(group, _REFERENCE, reference)
    if settings != reference:
        _add(group, _Row(strategy, tuple(arguments)), settings, only)


class Expected(NamedTuple):
    """What one run is expected to take: calls, dollars of the system and of the judge, None where
    unknown; the mean tokens of a context and of a store, None if a model writes the memories.
    """

    calls: int
    system_usd: float | None
    judge_usd: float | None
    context_tokens: float | None
    store_tokens: float | None


def expected(config: DictConfig) -> Expected:
    """Return the estimate of the run of `config`. Raises the same errors as add_estimate."""
    check_settings(config)
    group = _group_of(config)
    settings: Any = OmegaConf.to_container(config.strategy, resolve=True)
    calls = group.estimator.calls(settings)
    return Expected(
        sum(stage.calls.calls for stage in calls.stages),
        None if calls.unknown else _usd(calls.stages, group.pricing, _SYSTEM),
        _usd(calls.stages, group.pricing, ["judge"]),
        *(group.estimator.tokens(settings) or (None, None)),
    )


def add_every_strategy(config: DictConfig) -> None:
    """Estimate every strategy of the configuration, with its default settings and the k and the
    budget of `config`, for show_estimates. Raises the same errors as add_estimate.
    """
    group = _group_of(config)
    names = GlobalHydra.instance().config_loader().get_group_options("strategy")
    for name in (FULL_CONTEXT, *(name for name in names if name != FULL_CONTEXT)):
        _add(group, _Row(name), _settings(name, config), asked=False)


def show_estimates() -> None:
    """Print a table for each data set and choice of models, and forget them."""
    for group in _groups.values():
        if not group.rows:  # its run was refused
            continue
        print(f"{group.title} Nothing is called.\n")
        names = _names(group)
        print(fitted(_HEADER, [[names[row], *cells] for row, cells in group.rows.items()]))
        print("\n" + sentence(_NOTE + (_REASONING if group.estimator.reasons else ""), _WIDTH))
        for note, rows in group.notes.items():
            print(sentence(f"{', '.join(names[row] for row in rows)}: {note}.", _WIDTH))
        if as_of := group.pricing.of(group.models).as_of:
            print(f"Prices as of {as_of}.")
        for model in sorted(group.unpriced):
            print(f"No price is known for {model}: give one by pricing=FILE.")
    _groups.clear()
    _datasets.clear()


def _names(group: _Group) -> dict[_Row, str]:
    """Return the name of each row: strategy, its own settings, and what the jobs do not share."""
    jobs = [set(row.arguments) for row in group.rows if row.arguments]
    common = set.intersection(*jobs) if jobs else set()
    return {
        row: " ".join(
            [row.strategy]
            + [arg for arg in row.arguments if arg.startswith("strategy.") or arg not in common]
        )
        for row in group.rows
    }


def _group_of(config: DictConfig) -> _Group:
    key = _key(config, _SHARED)
    if key not in _groups:
        of_data = _key(config, _OF_DATA)  # groups that have the same data set share it
        if of_data not in _datasets:
            loaded = instantiate(config.dataset).load()
            _datasets[of_data] = selected(loaded, config.questions, config.only)
        dataset = _datasets[of_data]
        pricing = load_pricing(PRICING if config.pricing is None else config.pricing)
        title = (
            f"{dataset.name}: {len(dataset.conversations)} conversations, "
            f"{len(dataset.questions)} questions."
        )
        _groups[key] = _Group(title, Estimator(config, dataset), pricing)
    group = _groups[key]
    Budget(config.llm.budget_usd, group.pricing)  # refuses, as a run would
    return group


def _key(config: DictConfig, names: Sequence[str]) -> str:
    settings = OmegaConf.create({name: config[name] for name in names})
    return json.dumps(OmegaConf.to_container(settings, resolve=True), sort_keys=True)


def _settings(strategy: str, config: DictConfig) -> dict[str, Any]:
    """Return the default settings of a strategy beside the other settings of `config`."""
    whole = copy.copy(config)  # composing the whole configuration takes ten times as long
    OmegaConf.set_struct(whole, False)
    whole.strategy = compose(f"strategy/{strategy}").strategy
    return cast(dict[str, Any], OmegaConf.to_container(whole.strategy, resolve=True))


def _add(
    group: _Group,
    row: _Row,
    settings: dict[str, Any],
    only: Sequence[str] | None = None,
    *,
    asked: bool = True,
) -> None:
    """Add the row, unless the group has it; `only`: as in add_estimate; `asked`: as in calls."""
    if row in group.rows:
        return
    estimator, pricing = group.estimator, group.pricing
    calls = estimator.calls(settings, asked=asked)
    if only is not None:
        stages = [stage for stage in calls.stages if stage.phase in only]
        calls = StrategyCalls(stages, calls.unknown if "answer" in only else None)
    for note in (*calls.notes, *([f"unknown, as {calls.unknown}"] if calls.unknown else ())):
        group.notes.setdefault(note, []).append(row)
    models = {stage.model for stage in calls.stages}
    group.models |= models
    group.unpriced |= {model for model in models if pricing.price(model) is None}
    cells = _cells(group, calls, is_reference=row == _REFERENCE)
    group.rows[row] = cells if only is None else [*cells[:-1], ABSENT]


def _cells(group: _Group, calls: StrategyCalls, *, is_reference: bool) -> list[str]:
    judge = number(_usd(calls.stages, group.pricing, ["judge"]), 2, _UNKNOWN)
    if calls.unknown is not None:
        return [*[_UNKNOWN] * 4, judge, _UNKNOWN, _UNKNOWN]
    stages, pricing, dataset = calls.stages, group.pricing, group.estimator.dataset
    question = each(_usd(stages, pricing, ["retrieve", "answer"]), len(dataset.questions))
    if is_reference:
        group.reference = question
    paid = _usd(stages, pricing, ["ingest"]) if calls.ingestion_known else None
    ingest = each(paid, len(dataset.conversations))
    after = break_even(ingest, question, group.reference)
    expected = [stage.calls.about for stage in stages]
    return [
        f"{sum(stage.calls.calls for stage in stages):,}",
        f"{sum(usage.input_tokens for usage in expected):,}",
        f"{sum(usage.output_tokens for usage in expected):,}",
        number(_usd(stages, pricing, _SYSTEM), 2, _UNKNOWN),
        judge,
        number(_usd(stages, pricing, None), 2, _UNKNOWN),
        ABSENT if is_reference else questions(after, absent=_UNKNOWN),
    ]


def _usd(stages: Iterable[Stage], pricing: Pricing, phases: Sequence[str] | None) -> float | None:
    """Return the expected dollars of `phases`; for None, the upper bound over all phases."""
    costs = []
    for stage in stages:
        if phases is None or stage.phase in phases:
            usage = stage.calls.most if phases is None else stage.calls.about
            costs.append(None if usage is None else pricing.cost_usd(stage.model, usage))
    dollars = [cost for cost in costs if cost is not None]
    return sum(dollars) if len(dollars) == len(costs) else None
