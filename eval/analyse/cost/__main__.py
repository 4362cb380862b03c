"""`python -m eval cost RUN [RUN ...]`: tokens and dollars of runs by phase, and the break-even."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eval import cli
from eval.records import prices
from eval.records.run import Run, load_runs
from eval.records.schema import Cell, IngestLine
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, UNJUDGED, dollars, interval, number, questions
from eval.rendering.tables import interval_of
from eval.rendering.terminal import sentence
from eval.summary.summarise import OVERALL, summarise
from memsys.core.yaml_text import load_table

UNKNOWN = "unknown"
_TEXTS = load_table(Path(__file__).with_name("texts.yaml"))
INGESTION: str = _TEXTS["ingestion"]
_UNITS = ("memories", "tokens", "nodes", "edges", "bytes")  # of a store; tokens are o200k


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the costs; return exit code 2 for invalid input, 130 after Ctrl-C."""
    parser = cli.parser(
        "cost",
        "Tokens and dollars of runs by phase and per question, and the break-even: the "
        "number of questions of a conversation from which ingestion and questions cost less than "
        "the full_context run among them. Tokens are as the endpoints report them, prices those of "
        "each run's manifest.",
    )
    cli.add_runs(parser)
    writing = (
        "the cost of ingestion by session and conversation, the size of the stores, and the scores"
    )
    parser.add_argument("--writing", action="store_true", help=writing)
    cli.add_wide(parser)
    options = parser.parse_args(arguments)
    return cli.code_of(lambda: _show(options.runs, writing=options.writing))


def _show(names: Sequence[str], *, writing: bool) -> None:
    runs = [replace(run, label=run.folder.name) for run in load_runs(names, complete=False)]
    spendings = [prices.spending(run) for run in runs]
    paid = [spent for spent in spendings if not _keyless(spent)]
    for spent in spendings:
        title = f"{spent.run.label}: {spent.run.strategy} on {spent.run.manifest['dataset']}"
        status = spent.run.manifest["status"]
        so_far = "" if status == "complete" else f"; the run is {status}: so far"
        if spent not in paid and not writing:
            count = f"{len(spent.run.records):,} questions"
            print(sentence(f"{title}: {count}, keyless: $0{so_far}"))
            continue
        print(f"{title}\n{sentence(_about(spent) + so_far)}")
        print("" if writing else f"\n{by_phase(spent).text()}\n")
    if writing:
        summaries = [summarise(list(r.records.values()), r.manifest, r.seed) for r in runs]
        cells = [summary["by_type"][OVERALL] for summary in summaries]
        print(ingestion_table(list(zip(runs, cells, strict=True))).text())
        print(f"\n{INGESTION}")
        return
    if not paid:
        return
    print(per_question(spendings).text())
    print("\n" + "\n".join(map(sentence, _TEXTS["notes"])))


def _keyless(spending: prices.Spending) -> bool:
    """Return whether the run is known to have called no model with a price."""
    return all(phase.calls == 0 for phase in spending.phases.values())


def _about(spending: prices.Spending) -> str:
    """Return number of questions, models, date of the prices, and whether the run is complete."""
    manifest, records = spending.run.manifest, spending.run.records.values()
    reader = f"reader {manifest['models'].get('reader') or 'unknown'}"
    reader += f" ({manifest['llm']})" if manifest["llm"] else ", no language model"
    judge = manifest["judge"]
    parts = [
        f"questions {len(records):,}, conversations {spending.conversations}, {reader}, "
        + (f"judge {judge['name']}" if judge else "no judge")
    ]
    as_of = prices.price_dates(spending.run)
    if _keyless(spending):
        parts.append("keyless: no model with a price was called")
    elif all(phase.usd == 0 for phase in spending.phases.values()):
        parts.append("the price of its models is 0, as on your own machine")
    else:
        parts.append(
            f"prices as of {as_of}" if as_of else "no prices of its models in its manifest"
        )
    if replayed := sum(record["recorded"] is not None for record in records):
        parts.append(f"{replayed:,} questions used recorded answers")
    for source, used in _TEXTS["used"].items():
        if count := sum(record["latency_source"] == source for record in records):
            parts.append(f"{count:,} questions used {used}")
    return "; ".join(parts)


def by_phase(run: prices.Spending) -> Table:
    """Calls, tokens and dollars: a row for each phase."""
    columns: dict[str, Callable[[tuple[str, prices.PhaseUsage]], str]] = {
        "phase": lambda row: row[0],
        "calls": lambda row: number(row[1].calls, 0, UNKNOWN),
        "input tokens": lambda row: number(row[1].input_tokens, 0, UNKNOWN),
        "output tokens": lambda row: number(row[1].output_tokens, 0, UNKNOWN),
        "$": lambda row: dollars(row[1].usd, UNKNOWN),
    }
    return Table.of(run.phases.items(), columns)


def per_question(runs: Sequence[prices.Spending]) -> Table:
    """Tokens and dollars of a question, and the break-even: a row for each run."""
    columns: dict[str, Callable[[prices.Spending], str]] = {
        "run": lambda run: run.run.label,
        "questions": lambda run: f"{len(run.run.records):,}",
        "input tokens per question": lambda run: number(run.question.input_tokens, 1, UNKNOWN),
        "output tokens per question": lambda run: number(run.question.output_tokens, 1, UNKNOWN),
        "$ per question": lambda run: dollars(run.question.usd, UNKNOWN),
        "judge $ per question": lambda run: dollars(
            run.phases["judge"].per(len(run.run.records)).usd, UNKNOWN
        ),
        "ingestion $ per conversation": lambda run: dollars(run.conversation.usd, UNKNOWN),
        "system $": lambda run: dollars(run.system.usd, UNKNOWN),
        "break-even after questions": lambda run: _break_even(run, runs),
    }
    return Table.of(runs, columns)


def ingestion_table(runs: Sequence[tuple[Run, Cell]]) -> Table:
    """Cost and duration of ingestion, sizes of stores, and scores: a column for each run, given
    with its summary's cell of types 1 to 4.
    """
    spendings = [prices.spending(run) for run, _ in runs]
    columns = [_ingestion(spending, runs[i][1], spendings) for i, spending in enumerate(spendings)]
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    return Table(["ingestion", *(run.label for run, _ in runs)], rows)


def _break_even(run: prices.Spending, runs: Sequence[prices.Spending]) -> str:
    if run.run.strategy == prices.FULL_CONTEXT:
        return ABSENT
    baseline = prices.full_context_of(run, runs)
    if baseline is None:
        return "no such run"
    after = prices.break_even(run.conversation.usd, run.question.usd, baseline.question.usd)
    return questions(after, absent=UNKNOWN)


def _ingestion(run: prices.Spending, cell: Cell, runs: Sequence[prices.Spending]) -> dict[str, str]:
    """Return the cells of a run's column by the name of their row."""
    lines = run.run.ingests
    sessions = len({(line["conversation"], line["session"]) for line in lines if line["session"]})
    has_usage = lines and all(line["usage"] is not None for line in lines)
    seconds = sum(line["latency_ms"] for line in lines) / 1000 if has_usage else None
    sources = {line["latency_source"] for line in lines}
    sources |= {"shared" for line in lines if "shared_ms" in line}
    notes = [f" ({note})" for source, note in _TEXTS["not_live"].items() if source in sources]
    column = {"sessions": number(sessions or None, 0), "conversations": f"{run.conversations:,}"}
    for unit, count in (("session", sessions), ("conversation", run.conversations)):
        mean = run.phases[prices.INGEST].per(count)
        duration = number(prices.each(seconds, count), 3, UNKNOWN)
        column |= {
            f"calls a {unit}": number(mean.calls, 1, UNKNOWN),
            f"input tokens a {unit}": number(mean.input_tokens, 1, UNKNOWN),
            f"output tokens a {unit}": number(mean.output_tokens, 1, UNKNOWN),
            f"$ a {unit}": dollars(mean.usd, UNKNOWN),
            f"seconds a {unit}": duration + "".join(notes),
        }
    stored = _store_sizes(lines)
    for unit in _UNITS:
        size, name = stored.get(unit), unit
        if unit == "bytes":
            size, name = prices.each(size, 1000), "kB"
        column[f"{name} stored, a conversation"] = number(size, 1)
    failed = f" ({cell['errors']} errors)" if cell["errors"] else ""
    for score, (title, digits) in _TEXTS["scores"].items():
        text = UNJUDGED if score == "judge" else ABSENT
        if average := interval_of(cell, score):
            source = cell.get("judge_source") if score == "judge" else None
            parts = [interval(average, digits), *([source] if source else []), f"n={cell['n']}"]
            text = " ".join(parts) + failed
        column[f"{title}, types 1-4"] = text
    return column | {"break-even after questions of a conversation": _break_even(run, runs)}


def _store_sizes(lines: Sequence[IngestLine]) -> Mapping[str, float]:
    """Mean size of a conversation's store by unit, without units unknown for a conversation."""
    conversations = {line["conversation"] for line in lines}
    sizes = {line["conversation"]: line["store"] for line in lines if line.get("store")}
    if sizes.keys() != conversations or not sizes:
        return {}
    return {
        unit: sum(size[unit] for size in sizes.values()) / len(sizes)
        for unit in _UNITS
        if all(unit in size for size in sizes.values())
    }
