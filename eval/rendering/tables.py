"""Tables of summaries, for the terminal and for markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval.datasets.types import TYPES
from eval.metrics.registry import columns, metrics, titles
from eval.metrics.stats.interval import Interval, scope
from eval.rendering.numbers import ABSENT, interval, number, price
from eval.summary.summarise import OVERALL

_JUDGE = "judge"
UNJUDGED = "no judge"
PRICE = "$ per 1,000 questions"  # retrieval and answers, without ingestion and judge
Rows = Sequence[Sequence[str]]


def _metrics(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return column -> heading of the scores besides F1 that any of `summaries` shows."""
    shown = [summary.get("metrics") or titles(columns()) for summary in summaries]
    order = list(columns())
    found = {column: title for one in shown for column, title in one.items()}
    unknown = [column for column in found if column not in order]  # a user's metrics
    place = order.index(_JUDGE) + 1
    order[place:place] = unknown
    return {column: found[column] for column in order if column in found}


def score_row(cell: Mapping[str, Any], metrics: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return heading -> text of a cell of a summary: n, F1, `metrics`, context tokens, cost,
    latencies.

    `metrics`: column -> heading; None for those of this project.
    """
    if metrics is None:
        metrics = titles(columns())
    return {
        "n": _n(cell),
        "F1": _interval(cell, "f1"),
        **{
            title: _judge(cell) if column == _JUDGE else _interval(cell, column)
            for column, title in metrics.items()
        },
        "context tokens": _interval(cell, "context_tokens_mean", 0),
        PRICE: price(cell.get("cost_usd")),
        "retrieve p95 ms": number(cell["retrieve_ms_p95"], 1),
        "total p95 ms": number(cell["total_ms_p95"], 1),
    }


def _judge(cell: Mapping[str, Any]) -> str:
    failed = cell.get("judge_errors", 0)
    if cell[_JUDGE] is None:
        return f"0 judged ({failed} errors)" if failed else UNJUDGED
    text = _interval(cell, _JUDGE) + (f" ({failed} not judged)" if failed else "")
    return f"{text} {cell['judge_source']}" if cell.get("judge_source") else text


def type_name(type_: str, types: Iterable[str] = ()) -> str:
    """Return the name that tables show for a question type, one of `types` (none: LoCoMo's)."""
    return f"overall ({answered(types)})" if type_ == OVERALL else type_


def answered(types: Iterable[str]) -> str:
    """Return the name of all `types` but adversarial together; for LoCoMo's it has their numbers.

    `types` may contain OVERALL.
    """
    return "all but type 5" if {*types} - {*TYPES.values(), OVERALL} else "types 1-4"


def by_type(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and one row per question type that has questions, overall (types 1-4) last."""
    overall = type_name(OVERALL, summary["by_type"])
    metrics = _metrics([summary])
    rows = [
        [overall if name == "overall" else name, *score_row(cell, metrics).values()]
        for name, cell in summary["by_type"].items()
        if cell["n"]
    ]
    header = score_row(summary["by_type"]["overall"], metrics)
    return ["type", *header], rows


def answerless(summary: Mapping[str, Any]) -> bool:
    """Return whether nobody answered the questions of a run: only its rankings have scores."""
    cells = summary["by_type"].values()
    return summary["n"] > summary["errors"] and all(
        cell.get("answer_tokens_mean") is None and cell["f1"] is None for cell in cells
    )


def of_rankings(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows by question type of a run without answers: the scores of rankings, the
    context and the latency; columns without any value are left out.
    """
    cells = {name: cell for name, cell in summary["by_type"].items() if cell["n"]}
    overall = type_name(OVERALL, summary["by_type"])
    table = [
        {
            "type": overall if name == OVERALL else name,
            "n": _n(cell),
            **{
                one.title: _interval(cell, one.column)
                for one in metrics()
                if one.applies_to == "ranking" or (one.applies_to == "retrieval" and one.in_tables)
            },
            "context tokens": _interval(cell, "context_tokens_mean", 0),
            "retrieve p95 ms": number(cell.get("retrieve_ms_p95"), 1),
        }
        for name, cell in cells.items()
    ]
    shown = [title for title in table[0] if any(row[title] != ABSENT for row in table)]
    return shown, [[row[title] for title in shown] for row in table]


def by_protocol(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and one row per type: n and F1 under each protocol of the run."""
    protocols = summary["protocols"]
    types = dict.fromkeys(name for one in protocols.values() for name in one["by_type"])
    types["overall"] = types.pop("overall", None)  # last
    rows = []
    for name in types:
        row = [name]
        for one in protocols.values():
            cell = one["by_type"].get(name)
            row += [str(cell["n"]), _interval(cell, "f1")] if cell and cell["n"] else ["-", "-"]
        rows.append(row)
    return ["type", *(text for name in protocols for text in ("n", f"F1 {name}"))], rows


def by_key(summary: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return header and one row per type: n and scores under the chosen and the original answer
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
                _n(cell) if column == "n" else _interval(cell, column)
                for column in shown
                for cell in cells_of
            ]
            rows.append([name, *texts, "-" if ceiling is None else f"{ceiling['ceiling']:.2%}"])
    header = [f"{title} {key['name']}" for title in shown.values() for key in keys]
    return ["type", *header, "ceiling original"], rows


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


def by_run(
    runs: Sequence[tuple[str, Mapping[str, Any]]],
) -> tuple[list[str], list[list[str]]]:
    """Return header and one row per named run: types 1-4, and abstention on type 5 and on 1-4."""
    rows = []
    metrics = _metrics(summary for _, summary in runs)
    for name, summary in runs:
        overall, adversarial = summary["by_type"]["overall"], summary["by_type"]["adversarial"]
        abstained = [_interval(cell, "abstained") for cell in (adversarial, overall)]
        rows.append([name, *score_row(overall, metrics).values(), _n(adversarial), *abstained])
    header = score_row(runs[0][1]["by_type"]["overall"], metrics) if runs else ()
    return ["run", *header, "n, type 5", "abstained, type 5", "false refusals, 1-4"], rows


def plain(header: Sequence[str], rows: Rows) -> str:
    """Return a table as text: the first column left-aligned, the others right-aligned."""
    return lined([header], rows)


def lined(heads: Rows, rows: Rows, gap: int = 2) -> str:
    """Return a table as text whose header has several lines; `gap`: characters between columns."""
    widths = [max(map(len, column)) for column in zip(*heads, *rows, strict=True)]
    lines = [*heads, ["-" * width for width in widths], *rows]
    return "\n".join(_line(line, widths, " " * gap).rstrip() for line in lines)


def markdown(header: Sequence[str], rows: Rows) -> str:
    """Return a table in markdown."""
    marks = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, marks, *rows])


def scope_of(summaries: Iterable[Mapping[str, Any]]) -> str:
    """Return what the 95% intervals of runs are over, in words that follow "intervals".

    Summaries of earlier versions do not say it: theirs are over conversations.
    """
    scopes = (one["interval"].partition("; ")[2] or scope([]) for one in summaries)
    return "; or ".join(dict.fromkeys(scopes))


def scope_note(summaries: Iterable[Mapping[str, Any]]) -> str:
    """Return a line on what the intervals of runs are over; empty if over conversations alone."""
    over = scope_of(summaries)
    return "" if over == scope([]) else f"Intervals are {over}.\n"


def _line(row: Sequence[str], widths: Sequence[int], gap: str) -> str:
    first = row[0].ljust(widths[0])
    return gap.join([first, *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])


def _n(cell: Mapping[str, Any]) -> str:
    return str(cell["n"]) + (f" ({cell['errors']} errors)" if cell["errors"] else "")


def _interval(cell: Mapping[str, Any], column: str, digits: int = 3) -> str:
    mean = cell.get(column)
    return interval(None if mean is None else Interval(mean, *cell[f"{column}_ci"]), digits)
