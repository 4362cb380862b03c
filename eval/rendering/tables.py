"""Tables and sentences of summaries: the same for terminal, report.md and reports."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from eval.datasets.types import TYPES
from eval.metrics.registry import columns, metrics
from eval.metrics.stats.interval import Interval, scope
from eval.records.head import head
from eval.records.schema import Cell, Manifest, Summary
from eval.rendering.blocks import Table
from eval.rendering.numbers import UNJUDGED, interval, number, price
from eval.rendering.terminal import sentence
from eval.summary.subset_score import estimate_sentences
from eval.summary.summarise import BY_RULE, OVERALL

_JUDGE = "judge"
Column = Callable[[Mapping[str, Any]], str]  # from a cell of a summary to its text
PRICE = "$ per 1,000 questions"  # retrieval and answers, without ingestion and judge

_UNANSWERED = (
    "Nobody answered the questions: the scores are of the rankings alone. `python -m "
    "eval retrieval` prints further measures."
)
_OF_CONTEXTS = {"type", "n", "context tokens", "retrieve p95 ms"}

_READING = (
    "How to read it: scores are 0 to 1 and higher is better, each with its 95% interval; "
    "strategy=oracle, which is given the evidence, is the ceiling of retrieval, and "
    "strategy=no_memory the floor. Dollars are those of retrieval and answers; p95: 95% of the "
    "questions took no longer."
)


def _metrics(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return column -> heading of the scores besides F1 that any of `summaries` shows."""
    order = list(columns())
    title_of = {
        column: title for summary in summaries for column, title in summary["metrics"].items()
    }
    unknown = [column for column in title_of if column not in order]  # a user's metrics
    place = order.index(_JUDGE) + 1
    order[place:place] = unknown
    return {column: title_of[column] for column in order if column in title_of}


def score_columns(metrics: Mapping[str, str]) -> dict[str, Column]:
    """Return heading -> text of a cell of a summary: n, F1, `metrics` (column -> heading), context
    tokens, cost, latencies.
    """
    return {
        "n": _n,
        "F1": _mean("f1"),
        **{
            title: _judge if column == _JUDGE else _mean(column)
            for column, title in metrics.items()
        },
        "context tokens": _mean("context_tokens_mean", 0),
        PRICE: lambda cell: price(cell.get("cost_usd")),
        "retrieve p95 ms": lambda cell: number(cell.get("retrieve_ms_p95"), 1),
        "total p95 ms": lambda cell: number(cell["total_ms_p95"], 1),
    }


def _judge(cell: Mapping[str, Any]) -> str:
    failed = cell.get("judge_errors", 0)
    if cell[_JUDGE] is None:
        return f"0 judged ({failed} errors)" if failed else UNJUDGED
    text = _mean(_JUDGE)(cell) + (f" ({failed} not judged)" if failed else "")
    return f"{text} {cell['judge_source']}" if cell.get("judge_source") else text


def type_name(type_: str, types: Iterable[str] = ()) -> str:
    """Return the name that tables show for a question type, one of `types` (none: LoCoMo's)."""
    return f"overall ({answered(types)})" if type_ == OVERALL else type_


def answered(types: Iterable[str]) -> str:
    """Return the name of all `types` but adversarial together; for LoCoMo's it has their numbers.

    `types` may contain OVERALL.
    """
    return "all but type 5" if {*types} - {*TYPES.values(), OVERALL} else "types 1-4"


def by_type(summary: Mapping[str, Any]) -> Table:
    """Return a row per question type that has questions, overall (types 1-4) last."""
    return Table.of(
        _asked(summary), {"type": itemgetter("type"), **score_columns(_metrics([summary]))}
    )


def _asked(summary: Mapping[str, Any]) -> list[Cell]:
    """Return the cells of types that have questions, each with the name of its `type`."""
    cells = summary["by_type"]
    return [{**cell, "type": type_name(name, cells)} for name, cell in cells.items() if cell["n"]]


def answerless(summary: Mapping[str, Any]) -> bool:
    """Return whether nobody answered the questions of a run: only its rankings have scores."""
    cells = summary["by_type"].values()
    return summary["n"] > summary["errors"] and all(
        cell.get("answer_tokens_mean") is None and cell["f1"] is None for cell in cells
    )


def of_rankings(summary: Mapping[str, Any]) -> Table:
    """Return rows by question type of a run without answers: the scores of rankings, the context
    and the latency; columns without any value are left out.
    """
    scores = score_columns(
        {
            metric.column: metric.title
            for metric in metrics()
            if metric.applies_to == "ranking"
            or (metric.applies_to == "retrieval" and metric.in_tables)
        }
    )
    for title in ("F1", PRICE, "total p95 ms"):
        del scores[title]
    return Table.of(_asked(summary), {"type": itemgetter("type"), **scores}).filled()


def by_protocol(summary: Mapping[str, Any]) -> Table:
    """Return one row per type: n and F1 under each protocol of the run."""
    protocols = summary["protocols"]
    types = dict.fromkeys(name for protocol in protocols.values() for name in protocol["by_type"])
    types["overall"] = types.pop("overall", None)  # last
    rows = []
    for name in types:
        cells = [protocol["by_type"].get(name) or {"n": 0} for protocol in protocols.values()]
        cell_texts = ((str(c["n"]), _mean("f1")(c)) if c["n"] else ("-", "-") for c in cells)
        rows.append([name, *chain(*cell_texts)])
    return Table(["type", *(text for name in protocols for text in ("n", f"F1 {name}"))], rows)


def by_key(summary: Mapping[str, Any]) -> Table:
    """Return one row per type: n and scores under the chosen and the original answer
    key, and the share of right gold answers in the original one where its errors are known.
    """
    keys = [summary["key"], summary["original_key"]]
    overall = summary["original_key"]["by_type"]["overall"]
    metrics = {column: title for column, title in _metrics([summary]).items() if column in overall}
    if overall[_JUDGE] is None:
        metrics.pop(_JUDGE, None)
    shown = {"n": "n", "f1": "F1", **metrics}
    rows = []
    for name, original in summary["original_key"]["by_type"].items():
        if original["n"]:
            cells_of = [key["by_type"][name] for key in keys]
            ceiling = (summary["ceiling"] or {}).get(name)
            texts = [
                _n(cell) if column == "n" else _mean(column)(cell)
                for column in shown
                for cell in cells_of
            ]
            rows.append([name, *texts, "-" if ceiling is None else f"{ceiling['ceiling']:.2%}"])
    header = [f"{title} {key['name']}" for title in shown.values() for key in keys]
    return Table(["type", *header, "ceiling original"], rows)


def key_sentences(summary: Mapping[str, Any]) -> list[str]:
    """Return sentences on the answer key, and on the best possible score under the original one."""
    lines, key, ceiling = [], summary["key"], summary["ceiling"] or {}
    if key is not None:
        lines.append(
            f"Answer key {key['name']}: {key['corrected']:,} gold answers corrected, "
            f"{key['excluded']:,} questions excluded."
        )
    total = ceiling.get("overall")
    if total and total["wrong"]:
        types = ", ".join(
            f"{name} {cell['ceiling']:.2%}" for name, cell in ceiling.items() if cell is not total
        )
        lines.append(
            f"{total['wrong']:,} of {total['n']:,} gold answers of types 1-4 are known to be "
            f"wrong in the original key: under it a perfect reader reaches {total['ceiling']:.2%} "
            f"({types})."
        )
        if key is None:
            lines.append("dataset.key=corrected or excluded scores without these errors.")
    return lines


def by_run(runs: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """Return one row per named run: types 1-4, and abstention on type 5 and on 1-4."""
    by_type = [(name, summary["by_type"]) for name, summary in runs]
    cells = [{**row[OVERALL], "run": name, "type 5": row["adversarial"]} for name, row in by_type]
    columns: dict[str, Column] = {
        "run": itemgetter("run"),
        **score_columns(_metrics(summary for _, summary in runs)),
        "n, type 5": lambda cell: _n(cell["type 5"]),
        "abstained, type 5": lambda cell: _mean("abstained")(cell["type 5"]),
        "false refusals, 1-4": _mean("abstained"),
    }
    return Table.of(cells, columns)


def scope_of(summaries: Iterable[Mapping[str, Any]]) -> str:
    """Return what the 95% intervals of runs are over, in words that follow "intervals"."""
    scopes = (summary["interval"].partition("; ")[2] for summary in summaries)
    return "; or ".join(dict.fromkeys(scopes))


def scope_note(summaries: Iterable[Mapping[str, Any]]) -> str:
    """Return a line on what the intervals of runs are over; empty if over conversations alone."""
    over = scope_of(summaries)
    return "" if over == scope([]) else f"Intervals are {over}.\n"


def _n(cell: Mapping[str, Any]) -> str:
    return str(cell["n"]) + (f" ({cell['errors']} errors)" if cell["errors"] else "")


def _mean(column: str, digits: int = 3) -> Column:
    return lambda cell: interval(interval_of(cell, column), digits)


def interval_of(cell: Mapping[str, Any], column: str) -> Interval | None:
    """Return a mean of a summary's cell with its interval, whose ends are the mean itself where
    none is stated; None if it is unknown.
    """
    mean = cell.get(column)
    if mean is None:
        return None
    low, high = cell.get(f"{column}_ci", (mean, mean))
    return Interval(mean, low, high, n=cell["n"] - cell.get("errors", 0))


def how_to_read(summary: Summary) -> str:
    """Return a sentence on the tables of a run, or of several, of which `summary` is one."""
    return "" if answerless(summary) else _READING


def run_tables(summary: Summary) -> Iterator[str | Table]:
    """Yield the scores by type, then by protocol and by answer key where there are several, each
    after the sentence that introduces it; of a run without answers, the scores of its rankings.
    """
    if answerless(summary):
        table = of_rankings(summary)
        yield table
        yield _UNANSWERED if set(table.header) - _OF_CONTEXTS else "Nobody answered the questions."
        yield from estimate_sentences(summary)
        return
    yield by_type(summary)
    if summary["judge"] and (note := summary["judge"].get("note")):
        score = summary["judge"]["score"]
        yield (
            f"{BY_RULE}: {note}. Verdicts are `scores.{score}` of records.jsonl; `python -m eval "
            f"compare RUN RUN --score {score}` compares runs by them."
        )
    if len(summary["protocols"]) > 1:
        yield "The same answers under each protocol:"
        yield by_protocol(summary)
    if about_key := key_sentences(summary):
        yield " ".join(about_key)
    if summary["key"] is not None:
        yield "The same answers under both answer keys:"
        yield by_key(summary)
    yield from estimate_sentences(summary)


def as_text(
    parts: Iterable[str | Table],
    table: Callable[[Table], str] = Table.text,
    text: Callable[[str], str] = sentence,
) -> str:
    """Join sentences and tables with an empty line between them; `table` and `text` render them,
    by default for the terminal.
    """
    return "\n\n".join(text(part) if isinstance(part, str) else table(part) for part in parts)


def report_md(manifest: Manifest, summary: Summary, files: Sequence[str]) -> str:
    """Return the text of a run's report.md; `files` are the other files of the folder."""
    protocol = f"F1 is that of the protocol {summary['scoring'][0]}. "
    parts = [
        f"# {summary['strategy']} on {summary['dataset']}",
        f"Run {summary['run_id']}: `{manifest['command']}`",
        f"Made with: {head(manifest)}",
        as_text(run_tables(summary), Table.markdown, str),
        f"Scores are 0 to 1 with a 95% interval ({summary['interval']}). "
        f"{'' if answerless(summary) else protocol}{summary['errors']} of {summary['n']} questions "
        "failed and are in no mean.",
    ]
    if used := manifest.get("evidence"):
        parts.append(
            f"Retrieval is scored by another evidence key than the data set's: {used['name']}, as "
            f"listed in {used['overlay']['name']} (data/README.md)."
        )
    judge = summary["judge"] or {}
    if failed := judge.get("errors"):
        parts.append(
            f"The judge failed on {failed} of {judge['n'] + failed} answers. They are in no mean "
            "of its score; judge_errors_as_zero in summary.json counts them as 0."
        )
    parts += [f"Warning: {warning}" for warning in summary["warnings"]]
    return "\n\n".join([*parts, f"Files: {', '.join(files)}"]) + "\n"
