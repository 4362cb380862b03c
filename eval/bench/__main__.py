"""`python -m eval bench`: seconds and memory of runs, of calls to models and of large stores.

Prints figures and asserts nothing: machines are noisy. Runs are whole processes as a user starts
them; what a ratio compares is measured in turns within one call of this command.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from math import floor, log10
from pathlib import Path

from eval.bench.runs import Row, calls, growth, harness, tokens
from eval.bench.scale import SIZES, scale
from eval.cli import code_of, parser
from eval.rendering.numbers import ABSENT, number
from eval.rendering.terminal import markdown

_PARTS = {
    "growth": "Growth with conversations and questions (bm25, generated data)",
    "tokens": "Counting tokens of long turns",
    "harness": "Share of the harness",
    "calls": "Calls to a model",
    "scale": "Large stores (generated memories and vectors)",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return the exit code."""
    options = parser(
        "bench",
        "Measure on this machine how runs grow, how long counting tokens takes, the share of the "
        "harness (needs LoCoMo), and calls to models: ten minutes. --part scale measures stores of "
        "a thousand to a million memories: 10 GB and half an hour.",
    )
    add = options.add_argument
    add("--part", action="append", choices=_PARTS, help="this part; may be repeated")
    add("--questions", type=int, default=10_000, help="of growth: of its largest data set (10000)")
    add("--dataset", default="locomo", help="of harness: locomo (default) or sample")
    add("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="of scale: memories")
    add("--out", type=Path, metavar="FOLDER", help="also write bench.md and bench.json there")
    return code_of(lambda: _bench(options.parse_args(arguments)))


def _bench(options: argparse.Namespace) -> None:
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "growth": lambda: growth(options.questions),
        "tokens": tokens,
        "harness": lambda: harness(options.dataset),
        "calls": calls,
        "scale": lambda: scale(options.sizes),
    }
    chosen = options.part or [name for name in _PARTS if name != "scale"]
    texts = [f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start\n"]
    print(texts[0])
    measured: dict[str, list[Row]] = {}
    for name in (name for name in _PARTS if name in chosen):
        print(f"## {_PARTS[name]}\n", flush=True)
        measured[name] = list(parts[name]())
        table = markdown(*_cells(measured[name]))
        print(f"{table}\n", flush=True)
        texts.append(f"## {_PARTS[name]}\n\n{table}\n")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "bench.md").write_text("\n".join(texts), encoding="utf-8")
        (options.out / "bench.json").write_text(json.dumps(measured, indent=1) + "\n", "utf-8")


def _cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Return the header, of the columns that any row has, and the cells of a table."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    return header, [[_cell(row.get(name)) for name in header] for row in rows]


def _cell(value: str | float | None) -> str:
    """Return whole numbers in full, and others with three significant digits."""
    if value is None or isinstance(value, str):
        return value or ABSENT
    if isinstance(value, int) or not value:
        return f"{value:,.0f}"
    return number(value, max(0, 2 - floor(log10(abs(value)))))


if __name__ == "__main__":
    sys.exit(main())
