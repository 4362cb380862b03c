"""`python -m eval cost RUN [RUN ...]`: tokens and dollars of runs by phase, and the break-even."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from eval import cli
from eval.analyse.cost.tables import INGESTION, by_phase, ingestion_table, per_question
from eval.records.prices import Spending, price_dates, spending
from eval.records.run import load_run
from eval.rendering.terminal import sentence
from eval.summary.summarise import OVERALL, summarise
from memsys.core.errors import InputError
from memsys.core.places import find_run

_NOTES = (
    "System: ingestion, retrieval and answers, without the judge. Per question: retrieval and "
    "answer.",
    "Replayed calls count at their cost when live; failed attempts are not counted.",
    "Break-even: questions of a conversation until ingestion and questions cost less than "
    "full_context.",
)
_USED = {  # source of a latency -> what was not made anew
    "shared": "an index or graph of an earlier job of the sweep, at the time that making it took",
    "vectors": "cached vectors, at the time that they took",
}


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
    parser.add_argument(
        "--writing",
        action="store_true",
        help="the cost of ingestion by session and conversation, the size of the stores, and the "
        "scores",
    )
    cli.add_wide(parser)
    options = parser.parse_args(arguments)
    return cli.code_of(lambda: _show(options.runs, writing=options.writing))


def _show(names: Sequence[str], *, writing: bool) -> None:
    folders = [find_run(name) for name in names]
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise InputError("RUN: one run is named twice")
    runs = [load_run(one, label=one.name, complete=False, answered=False) for one in folders]
    spendings = [spending(run) for run in runs]
    paid = [one for one in spendings if not _keyless(one)]
    for one in spendings:
        title = f"{one.run.label}: {one.run.strategy} on {one.run.manifest['dataset']}"
        status = one.run.manifest["status"]
        so_far = "" if status == "complete" else f"; the run is {status}: so far"
        if one not in paid and not writing:
            count = f"{len(one.run.records):,} questions"
            print(sentence(f"{title}: {count}, keyless: $0{so_far}"))
            continue
        print(f"{title}\n{sentence(_about(one) + so_far)}")
        print("" if writing else f"\n{by_phase(one).text()}\n")
    if writing:
        summaries = [summarise(list(r.records.values()), r.manifest, r.seed) for r in runs]
        cells = [summary["by_type"][OVERALL] for summary in summaries]
        print(ingestion_table(list(zip(runs, cells, strict=True))).text())
        print(f"\n{INGESTION}")
        return
    if not paid:
        return
    print(per_question(spendings).text())
    print("\n" + "\n".join(map(sentence, _NOTES)))


def _keyless(one: Spending) -> bool:
    """Return whether the run is known to have called no model with a price."""
    return all(phase.calls == 0 for phase in one.phases.values())


def _about(one: Spending) -> str:
    """Return number of questions, models, date of the prices, and whether the run is complete."""
    manifest, records = one.run.manifest, one.run.records.values()
    reader = f"reader {manifest['models'].get('reader') or 'unknown'}"
    reader += f" ({manifest['llm']})" if manifest["llm"] else ", no language model"
    judge = manifest["judge"]
    parts = [
        f"questions {len(records):,}, conversations {one.conversations}, {reader}, "
        + (f"judge {judge['name']}" if judge else "no judge")
    ]
    as_of = price_dates(one.run)
    if _keyless(one):
        parts.append("keyless: no model with a price was called")
    elif all(phase.usd == 0 for phase in one.phases.values()):
        parts.append("the price of its models is 0, as on your own machine")
    else:
        parts.append(
            f"prices as of {as_of}" if as_of else "no prices of its models in its manifest"
        )
    if replayed := sum(record["recorded"] is not None for record in records):
        parts.append(f"{replayed:,} questions used recorded answers")
    for source, used in _USED.items():
        if count := sum(record["latency_source"] == source for record in records):
            parts.append(f"{count:,} questions used {used}")
    return "; ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
