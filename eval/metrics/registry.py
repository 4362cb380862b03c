"""The metrics: every list of scores in records, summaries, tables and pins is derived from here.

A module of this package that calls `register` adds a metric; no other file names it. Metrics of a
user come from the configuration (`metric=NAME`) by `use_configured`. The shape follows ir_measures
(MacAvaney et al., 2022): a metric is an object with a name that scores one question at a time.
"""

import pkgutil
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from eval.metrics import Answered, Computed, Metric, Scores
from memsys.core.errors import InputError

_REGISTERED: dict[str, Metric] = {}  # by the modules of this package
_CONFIGURED: dict[str, Metric] = {}  # by the configuration of the current run


@cache
def _ordered() -> tuple[Metric, ...]:
    unordered = [*_REGISTERED.values(), *_CONFIGURED.values()]
    return tuple(sorted(unordered, key=lambda metric: metric.order))


def register(metric: Metric) -> None:
    """Add `metric`; raises InputError if another one has its name or its column."""
    if _taken(metric, _REGISTERED.values()):
        raise InputError(f"metric {metric.name}: the name is taken; choose another")
    _REGISTERED[metric.name] = metric
    _ordered.cache_clear()


def _taken(metric: Metric, others: Iterable[Metric]) -> Metric | None:
    """Return the one of `others` that has the name or the column of `metric`."""
    names = {metric.name, metric.column}
    return next((other for other in others if names & {other.name, other.column}), None)


# The verdict of a judge, which is asked while a run answers (`eval.judges`), is not computed.
register(Computed(name="judge", compute=lambda _: None, order=80))


def use_configured(config: Mapping[str, Any] | None) -> None:
    """Take the user's metrics from `config`, which maps a name to the settings of a class.

    They replace those of an earlier run in this process. Raises InputError where a class cannot be
    imported or built, is no Metric, or has a name that is taken.
    """
    _CONFIGURED.clear()
    _ordered.cache_clear()
    if config and not isinstance(config, Mapping):
        raise InputError(f"metric: {config!r:.60} is no option; {_NO_METRIC}")
    for name, settings in (config or {}).items():
        metric = _build(name, settings)
        if other := _taken(metric, metrics()):
            raise InputError(f"metric={name}: {metric.column} is taken by {other.name}")
        _CONFIGURED[name] = metric
        _ordered.cache_clear()


_NO_METRIC = (
    "the first line of the metric's YAML must be `# @package metric.NAME`, and _target_ its class"
)


def _build(name: str, settings: object) -> Metric:
    from hydra.errors import InstantiationException  # noqa: PLC0415 - most metrics need no Hydra
    from hydra.utils import instantiate  # noqa: PLC0415

    if not isinstance(settings, Mapping) or "_target_" not in settings:
        raise InputError(f"metric.{name}: no _target_ in it; {_NO_METRIC}")
    target = str(settings["_target_"])
    try:
        metric = instantiate(settings, name=name)
    except InstantiationException as error:
        raise InputError(
            f"metric={name}: {target} cannot be imported or built: {_cause(error)} (a module must "
            "be in the working directory or on PYTHONPATH)"
        ) from error
    if not isinstance(metric, Metric):
        raise InputError(f"metric={name}: {target} is no eval.metrics.Metric")
    return metric


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())


@cache
def _load() -> None:
    """Import the modules of this package, each of which registers its metrics."""
    package = import_module("eval.metrics")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")


def metrics() -> tuple[Metric, ...]:
    """Return all metrics in the order of a record's `scores`."""
    _load()
    return _ordered()


def find(name: str) -> Metric | None:
    """Return the metric of that name, or None."""
    return next((metric for metric in metrics() if metric.name == name), None)


def names() -> tuple[str, ...]:
    """Return the keys that every record's `scores` has, in order."""
    return tuple(metric.name for metric in metrics() if metric.everywhere)


def pinned() -> tuple[str, ...]:
    """Return the names of the scores that pins compare, besides F1, abstention and the judge."""
    return tuple(metric.name for metric in metrics() if metric.pinned)


def reported() -> dict[str, str]:
    """Return the metrics that other scripts compute: name -> column of their result files."""
    return {metric.name: metric.reported_as for metric in metrics() if metric.reported_as}


def of_rankings(scores: Scores) -> Scores:
    """Return those of `scores` that follow from the ranking alone."""
    names = {metric.name for metric in metrics() if metric.applies_to == "ranking"}
    return {name: value for name, value in scores.items() if name in names}


def columns(
    scored: Collection[str] = (), config: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """Return column of a summary -> name of the score: of the answers, then of the retrieval.

    `scored`: names that the records have. A metric of evidence sessions or of plants has a column
    only if it is among them; so has a metric of `config` (the run's `metric`) that is not loaded.
    """
    shown = [
        metric
        for metric in metrics()
        if (metric.everywhere and metric.name not in _CONFIGURED) or metric.name in scored
    ]
    of_answers = {m.column: m.name for m in shown if m.applies_to in ("gold", "answer")}
    not_loaded = {
        str(settings.get("column") or name): name
        for name, settings in (config or {}).items()
        if name in scored and name not in (metric.name for metric in shown)
    }
    return of_answers | not_loaded | {metric.column: metric.name for metric in shown}


def titles(columns: Mapping[str, str], config: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return column -> heading of those `columns` that tables of runs show."""
    headings = {}
    for column, name in columns.items():
        metric = find(name)
        if metric is not None and metric.in_tables:
            headings[column] = metric.title
        elif metric is None and name in (config or {}):
            headings[column] = (config or {})[name].get("title") or name.replace("_", " ")
    return headings


def of_answers(columns: Mapping[str, str]) -> dict[str, str]:
    """Return those of `columns` in tables of runs that score the answer, not the retrieval."""
    metric_of = {column: find(name) for column, name in columns.items() if column != "f1"}
    return {
        column: columns[column]
        for column, metric in metric_of.items()
        if metric is None or (metric.in_tables and metric.applies_to in ("gold", "answer"))
    }


def applies(name: str, answered: Answered) -> bool:
    """Return whether the score `name` has a value for `answered`.

    A metric of an earlier configuration, which is not loaded, is assumed to need a gold answer.
    """
    metric = find(name)
    return (answered.gold if metric is None else _value(metric, answered)) is not None


def score(answered: Answered) -> Scores:
    """Return every score of an answered question, 0 to 1; None where one does not apply.

    Raises InputError naming the metric where a user's metric fails or is out of range.
    """
    absent = {"sessions": answered.sessions is None, "plant": answered.plant is None}
    return {
        metric.name: _value(metric, answered)
        for metric in metrics()
        if not absent.get(metric.applies_to)
    }


def _value(metric: Metric, answered: Answered) -> float | None:
    if not metric.applies(answered):
        return None
    if metric.name not in _CONFIGURED:
        return metric.score(answered)
    where = f"metric={metric.name}: question {answered.id}"
    try:
        value = metric.score(answered)
    except Exception as error:
        raise InputError(f"{where}: {type(error).__name__}: {error}") from error
    if value is not None and not (isinstance(value, float | int) and 0 <= value <= 1):
        raise InputError(f"{where}: the score is {value!r}; it must be 0 to 1, or None")
    return None if value is None else float(value)
