"""The numbers per question type of a run, from its records."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from sys import intern
from typing import Any, TypeVar, cast

import numpy as np

from eval.datasets.types import ADVERSARIAL, types_in
from eval.metrics import registry
from eval.metrics.protocols import protocols
from eval.metrics.stats.agreement import panel_statistics
from eval.metrics.stats.interval import RESAMPLES, ClusterBootstrap, Interval, scope
from eval.records.answer_key_views import ORIGINAL, ceiling, key_name, left_out, under_original
from eval.records.files import Row
from eval.records.prices import SYSTEM, of_records, pricing_of
from eval.records.schema import Cell, ErrorEntry, Manifest, Record, Summary
from eval.records.scoring import answered_question
from eval.summary.protocols import by_protocol, mean_cell
from eval.summary.subset_score import full_score
from memsys.llm.pricing import Pricing

T = TypeVar("T")
BY_RULE = "judge by rule"  # heading of the verdicts of judges that are no model
_KEPT = (  # fields of a record that a summary needs as they are
    *("id", "conversation", "category", "type", "key", "status", "abstained", "context_tokens"),
    *("answer_tokens", "scores", "scores_original", "judge", "judge_source"),
)
_OF_FAILED = ("question", "gold", "answer", "evidence", "evidence_sessions")
OVERALL = "overall"  # all types but 5, which measures abstention, not answers


def summarise(
    run: Iterable[Record], manifest: Manifest, seed: int, resamples: int | None = None
) -> Summary:
    """Return the summary of the records of a `run`; docs/records.md describes its shape.

    `run` may be a stream: about 2 KB of each record remain. A failed question is counted in
    `errors` and is in no mean; `<score>_errors_as_zero` counts it as 0, and so an answer that the
    judge failed to judge in `judge_errors_as_zero`. A question that the answer key excludes counts
    in `n`, and in no mean but those of `original_key`. Intervals are 95%, see ClusterBootstrap;
    `resamples`: None for those of the configuration.
    """
    records = [row_of(record) for record in run]
    names = manifest["scoring"]
    pricing, config = pricing_of(manifest), manifest.get("config") or {}
    resamples = resamples or config.get("resamples") or RESAMPLES
    own = config.get("metric")  # the user's metrics
    score_names = {name for record in records for name in record["scores"]}
    judge = manifest["judge"]
    score = str(judge.get("score")) if isinstance(judge, Mapping) else "judge"
    by_rule = {score: score} if score != "judge" and score in score_names else {}  # of no model
    scored = registry.columns(score_names, own) | by_rule
    columns = {"f1": protocols(names)[0].f1, **scored}  # column -> key of a record's scores
    counted = [record for record in records if not left_out(record)]
    failures = [
        error  # of a question, or of a judge, whose question has not failed
        for record in records
        for error in (record["error"], record.get("judge_error"))
        if error is not None
    ]
    kinds = Counter(f"{failure['phase']}: {failure['kind']}" for failure in failures)
    answered = groups([record for record in counted if record["status"] == "ok"]).values()
    by_type = {
        name: _cell(rows, columns, seed, resamples, pricing)
        for name, rows in groups(counted).items()
    }
    summary = {
        "run_id": manifest["run_id"],
        "strategy": manifest["strategy"],
        "dataset": manifest["dataset"],
        "n": len(records),
        "errors": sum(record["status"] == "error" for record in records),
        "config_sha256": manifest["config_sha256"],
        "errors_by_kind": dict(kinds.most_common()),
        "warnings": list(manifest["warnings"]),
        "interval": f"95%, {ClusterBootstrap.__name__}, {resamples} resamples, seed {seed}; "
        + scope(len({record["conversation"] for record in rows}) for rows in answered),
        "scoring": list(names),
        "by_type": by_type,
        "metrics": registry.titles(columns, own) | dict.fromkeys(by_rule, BY_RULE),
        "judge": _judge(records, manifest, seed),
        "subset": full_score(records, manifest),
        "protocols": by_protocol(counted, names, seed),
        "ceiling": ceiling(groups(records), manifest),
        **_both_keys(records, by_type, key_name(manifest), columns, seed, resamples),
    }
    return cast(Summary, summary)


def row_of(record: Record) -> Record:
    """Return `record` without its texts, ranking and trace: 2 KB, however long these are.

    `evidence` and `retrieved` only show whether there is any and whether it is known. A failed
    question keeps its text and gold answer, by which a metric decides whether it applies.
    """
    retrieved, usage = record["retrieved"], record["usage"]
    priced: Any = usage and {  # by phase and model; phases without a named model cost nothing
        intern(phase): {"by_model": {intern(name): _interned(n) for name, n in by_model.items()}}
        for phase, used in usage.items()
        if (by_model := used.get("by_model"))
    }
    row: Row = {name: _interned(record.get(name)) for name in _KEPT}
    row |= {
        "error": _kind(record["error"]),
        "retrieved": None if retrieved is None else (),
        "evidence": record["evidence"][:1],
        "judge_error": _kind(record.get("judge_error")),
        "usage": priced,
        "latency_ms": {name: record["latency_ms"][name] for name in ("retrieve", "total")},
    }
    if record["status"] != "ok":
        row |= {name: value for name, value in record.items() if name in _OF_FAILED}
    return cast(Record, row)


def _kind(error: ErrorEntry | None) -> dict[str, str] | None:
    return error and {"phase": intern(error["phase"]), "kind": intern(error["kind"])}


def _interned(value: Any) -> Any:
    """Return a text, or a mapping with names, that all rows share: each parsed line has its own."""
    if isinstance(value, str):
        return intern(value)
    return {intern(k): v for k, v in value.items()} if isinstance(value, dict) else value


def groups(
    items: Sequence[T], record: Callable[[Any], Record] = lambda item: item
) -> dict[str, list[T]]:
    """Return the items of each question type of their data set, then of `overall`: every type but
    adversarial. A type without items has an empty list. `record`: the record of an item, by default
    the item.
    """
    pairs = [(record(item), item) for item in items]
    names = types_in([row for row, _ in pairs]).values()
    by_type = {name: [item for row, item in pairs if row["type"] == name] for name in names}
    return {**by_type, OVERALL: [item for row, item in pairs if row["category"] != ADVERSARIAL]}


def _judge(records: Sequence[Record], manifest: Manifest, seed: int) -> dict[str, Any] | None:
    """Return the judge as the manifest names it, and its statistics; None if there was no judge.

    n: number of answers judged. errors, if there are any: number of answers that the judge failed
    to judge. mean: mean of its score, with a 95% interval. members: the mean of
    each run, their mean, standard deviation (n - 1) and majority share. agreement, for a panel:
    Cohen's kappa of each pair and Fleiss' of all.
    """
    judge = manifest["judge"]
    rows = [record for record in records if record["status"] == "ok" and record["judge"]]
    failed = sum(map(_unjudged, records))
    if not isinstance(judge, Mapping) or not (rows or failed):
        return None
    errors = {"errors": failed} if failed else {}
    if not rows:
        unknown = dict.fromkeys(("mean", "mean_ci", "agreement"))
        return {**judge, "n": 0, **errors, **unknown, "members": {}}
    clusters = [record["conversation"] for record in rows]
    scores = [record["scores"][judge["score"]] for record in rows]

    def kappa(interval: Interval) -> dict[str, Any]:
        return {"kappa": interval.value, "ci": [interval.low, interval.high]}

    panel = panel_statistics([record["judge"] or {} for record in rows], clusters, seed)
    agreement = panel.all_members and {
        "cohen": {" | ".join(names): kappa(interval) for names, interval in panel.pairs.items()},
        "fleiss": kappa(panel.all_members),
    }
    return {
        **judge,
        "n": len(rows),
        **errors,
        **mean_cell("mean", scores, ClusterBootstrap(clusters, seed)),
        "members": {
            name: {**asdict(statistics), "runs": list(statistics.runs)}
            for name, statistics in panel.members.items()
        },
        "agreement": agreement,
    }


def _both_keys(
    records: Sequence[Record],
    by_type: Mapping[str, Cell],
    name: str,
    columns: Mapping[str, str],
    seed: int,
    resamples: int,
) -> dict[str, Any]:
    """Return `key` and `original_key`: the same columns under each; None for the original key."""
    if name == ORIGINAL:
        return {"key": None, "original_key": None}
    shown = {"f1": columns["f1"], **registry.of_answers(columns)}
    own = list(map(under_original, records))
    originals = {
        kind: _scores(rows, shown, seed, resamples)[0] for kind, rows in groups(own).items()
    }
    cells = {
        kind: {column: by_type[kind][column] for column in cell if column in by_type[kind]}
        for kind, cell in originals.items()
    }
    changes = [record["key"]["kind"] for record in records if record["key"] is not None]
    counts = {kind: changes.count(kind) for kind in ("corrected", "excluded")}
    return {
        "key": {"name": name, **counts, "by_type": cells},
        "original_key": {"name": ORIGINAL, "by_type": originals},
    }


def _cell(
    rows: Sequence[Record], columns: Mapping[str, str], seed: int, resamples: int, pricing: Pricing
) -> Cell:
    cell, bootstrap = _scores(rows, columns, seed, resamples)
    answered = [row for row in rows if row["status"] == "ok"]
    cell["judge_errors"] = sum(row.get("judge_error") is not None for row in answered)
    judged = [row for row in answered if row["scores"].get("judge") is not None]
    cell["judge_source"] = next(filter(None, (row.get("judge_source") for row in judged)), None)
    cell |= mean_cell("abstained", [row["abstained"] for row in answered], bootstrap)
    tokens = [row["context_tokens"] for row in answered]
    cell |= mean_cell("context_tokens_mean", tokens, bootstrap, math.inf)
    cell["answer_tokens_mean"] = _mean([row["answer_tokens"] for row in answered])
    for column, phases in (("cost_usd", SYSTEM), ("judge_cost_usd", ("judge",))):
        total = of_records(rows, phases, pricing)  # what failed was paid for as well
        cell[column] = total / len(rows) if rows and total is not None else None
    for phase in ("retrieve", "total"):
        values = [row["latency_ms"][phase] for row in answered]
        for percent in (50, 95):
            cell[f"{phase}_ms_p{percent}"] = percentile(values, percent)
    return cell


def _scores(
    rows: Sequence[Record], columns: Mapping[str, str], seed: int, resamples: int
) -> tuple[Cell, ClusterBootstrap | None]:
    """Return n, errors and the means of scores, and the bootstrap for further means of `rows`."""
    answered = [row for row in rows if row["status"] == "ok"]
    failed = [row for row in rows if row["status"] != "ok"]
    cell: Cell = {"n": len(rows), "errors": len(failed)}
    bootstrap = (
        ClusterBootstrap([row["conversation"] for row in answered], seed, resamples)
        if answered
        else None
    )
    unjudged = sum(map(_unjudged, answered))
    answers = not answered or any(row["abstained"] is not None for row in answered)
    judged = unjudged > 0 or any(row["scores"].get("judge") is not None for row in answered)
    for column, key in columns.items():
        values = [row["scores"].get(key) for row in answered]
        cell |= mean_cell(column, values, bootstrap)
        scored = any(value is not None for value in values)
        zeros = [_zero(row, key, judged=judged, scored=scored, answers=answers) for row in failed]
        if key == "judge":
            zeros += [0.0] * unjudged
        if zeros:
            cell[f"{column}_errors_as_zero"] = _mean(values + zeros)
    return cell, bootstrap


def _unjudged(row: Record) -> bool:
    """Return whether the question was answered and the judge failed to judge the answer."""
    return row["status"] == "ok" and row.get("judge_error") is not None


def _zero(row: Record, key: str, *, judged: bool, scored: bool, answers: bool) -> float | None:
    """Return 0 for a failed question; None where the score does not apply to it. `judged` and
    `answers`: whether the run has verdicts and answers; `scored`: whether another question has
    the score.
    """
    if key == "judge":
        return 0.0 if judged else None
    blank = answered_question(row)
    nothing = None if blank.retrieved is None else ()  # unknown stays unknown
    ranked = () if scored else None
    blank = replace(blank, has_answer=answers, retrieved=nothing, ranked=ranked, ranked_all=True)
    return 0.0 if registry.applies(key, blank) else None


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return float(np.mean(numbers)) if numbers else None


def percentile(values: Sequence[float | None], percent: float) -> float | None:
    """Return a percentile by linear interpolation; None without a value."""
    numbers = [value for value in values if value is not None]
    return float(np.percentile(numbers, percent)) if numbers else None
