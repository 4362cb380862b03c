"""What runs used and cost, as rows of text."""

from __future__ import annotations

from collections.abc import Sequence

from eval.cost.ingestion import UNITS, Ingestion
from eval.pricing.usage import Spending, baseline_of
from eval.rendering import numbers
from eval.rendering.tables import score_row

Table = tuple[list[str], list[list[str]]]
UNKNOWN, NOT_TOLD = "unknown", "-"
WRITING = (
    "Ingestion: all sessions and the building of the indexes; replayed calls count at their "
    "recorded cost and time, queues and failed attempts not at all. Stored: mean over "
    "conversations at their end; tokens are o200k; kB are 1,000 bytes of memories, vectors and "
    "graph in plain files (docs/models.md); - where it is not known. Break-even: questions until "
    "ingestion and questions cost less than the full_context run among these."
)
_SCORES = ("F1", "judge", "evidence recall", "context tokens")  # of score_row


def by_phase(run: Spending) -> Table:
    """Calls, tokens and dollars: a row a phase."""
    rows = [
        [
            name,
            count(phase.calls),
            count(phase.input_tokens),
            count(phase.output_tokens),
            dollars(phase.usd),
        ]
        for name, phase in run.phases.items()
    ]
    return ["phase", "calls", "input tokens", "output tokens", "$"], rows


def per_question(runs: Sequence[Spending]) -> Table:
    """Tokens and dollars of a question, and after how many remembering is repaid: a row a run."""
    header = [
        *("run", "questions", "input tokens a question", "output tokens a question"),
        *("$ a question", "judge $ a question", "ingest $ a conversation", "system $"),
        "repaid after",
    ]
    rows = [
        [
            run.name,
            f"{len(run.asked):,}",
            mean(run.per_question("input_tokens")),
            mean(run.per_question("output_tokens")),
            dollars(run.question_usd),
            dollars(run.judge_question_usd),
            dollars(run.ingest_usd),
            dollars(run.system_usd),
            repaid(run, runs),
        ]
        for run in runs
    ]
    return header, rows


def writing(runs: Sequence[Ingestion]) -> Table:
    """What memory costs to write, beside the answers it buys: a column a run."""
    spendings = [run.spending for run in runs]
    columns = [_written(run, spendings) for run in runs]
    names = [name for name, _ in columns[0]]
    rows = [[name, *(column[i][1] for column in columns)] for i, name in enumerate(names)]
    return ["what memory costs to write", *(run.label for run in runs)], rows


def repaid(run: Spending, runs: Sequence[Spending]) -> str:
    """Questions of a conversation until `run` costs less than the full_context run of `runs`."""
    if run.is_full_context:
        return "-"
    baseline = baseline_of(run, runs)
    if baseline is None:
        return "no such run"
    after = run.repaid_against(baseline)
    if after is None:
        return UNKNOWN
    return "never" if after == float("inf") else f"{after:,.1f}"


def count(value: int | None) -> str:
    """A whole number."""
    return UNKNOWN if value is None else f"{value:,}"


def mean(value: float | None, digits: int = 1) -> str:
    """To so many digits."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def dollars(value: float | None) -> str:
    """Format US dollars; UNKNOWN for None."""
    return numbers.dollars(value, UNKNOWN)


def _written(run: Ingestion, runs: Sequence[Spending]) -> list[tuple[str, str]]:
    used = run.used
    rows = [
        ("sessions", NOT_TOLD if run.sessions is None else f"{run.sessions:,}"),
        ("conversations", f"{run.spending.conversations:,}"),
    ]
    for unit, each in (("session", run.a_session), ("conversation", run.a_conversation)):
        rows += [
            (f"calls a {unit}", mean(each(used.calls))),
            (f"input tokens a {unit}", mean(each(used.input_tokens))),
            (f"output tokens a {unit}", mean(each(used.output_tokens))),
            (f"$ a {unit}", dollars(each(used.usd))),
            (f"seconds a {unit}", _seconds(each(run.seconds), replayed=run.replayed)),
        ]
    for unit in UNITS:
        held, shown = run.store.get(unit), unit
        if unit == "bytes":
            held, shown = None if held is None else held / 1000, "kB"
        rows.append((f"{shown} stored, a conversation", NOT_TOLD if held is None else mean(held)))
    scores = score_row(run.cell)
    for name in _SCORES:
        counted = f" n={scores['n']}" if "[" in scores[name] else ""
        rows.append((f"{name}, types 1-4", scores[name] + counted))
    return [*rows, ("repaid after questions of a conversation", repaid(run.spending, runs))]


def _seconds(value: float | None, *, replayed: bool) -> str:
    return mean(value, 3) + (" (some replayed)" if replayed and value is not None else "")
