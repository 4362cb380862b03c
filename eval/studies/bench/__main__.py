"""`python -m eval bench`: seconds and memory of runs, of calls to models and of tokens.

Prints figures and asserts nothing: machines are noisy. Runs are whole processes as a user starts
them; what is compared is measured in turns within one call of this command.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from eval.cli import code_of, parser
from eval.studies.bench.calls import calls
from eval.studies.bench.endpoint import endpoint
from eval.studies.bench.growth import growth
from eval.studies.bench.harness import harness
from eval.studies.bench.schedule import schedules
from eval.studies.bench.tokens import tokens

_PARTS = {
    "growth": "Growth with conversations and questions (bm25, generated data)",
    "tokens": "Long turns",
    "harness": "Share of the harness",
    "calls": "Calls to a model",
    "endpoint": "A whole run over an endpoint",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    options = parser(
        "studies.bench",
        "Measure how runs grow, the share of the harness, calls to models and counting tokens on "
        "this machine: ten minutes, or one part of it. harness and endpoint need LoCoMo.",
    )
    add = options.add_argument
    add("--part", action="append", choices=_PARTS, help="only this part; may be repeated")
    add("--dataset", default="locomo", help="of harness and endpoint: locomo (default) or sample")
    add("--runs", type=int, default=3, help="of harness and endpoint: runs of each kind (3)")
    add("--questions", type=int, default=10_000, help="of growth: of its largest data set (10000)")
    add("--calls", type=int, default=800, help="of calls: live calls in each mode (800)")
    given = options.parse_args(arguments)
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "growth": lambda: growth(given.questions),
        "tokens": tokens,
        "harness": lambda: harness(given.dataset, given.runs),
        "calls": lambda: _calls(given.calls),
        "endpoint": lambda: endpoint(given.dataset, given.runs),
    }
    chosen = given.part or list(_PARTS)
    return code_of(lambda: _bench({name: parts[name] for name in _PARTS if name in chosen}))


def _bench(parts: dict[str, Callable[[], Iterator[str]]]) -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    for name, part in parts.items():
        started = time.perf_counter()
        print(f"\n## {_PARTS[name]}\n", flush=True)
        for text in part():
            print(text, flush=True)
        print(f"({time.perf_counter() - started:.0f} s)")


def _calls(count: int) -> Iterator[str]:
    yield from calls(count)
    yield from schedules()


if __name__ == "__main__":
    sys.exit(main())
