"""`python -m eval bench`: the harness beside what it measures, growth, and large stores.

Prints figures and asserts nothing: machines are noisy. What a ratio compares is measured in turns
within one call of this command. Each part has a process of its own, which a time limit ends.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from math import floor, inf, log10
from pathlib import Path

from hydra.utils import instantiate

from eval.bench.ratios import calls, runs, search
from eval.bench.runs import Part, Row, growth, limited
from eval.bench.scale import SIZES, scale
from eval.cli import FAILED, code_of, parser
from eval.rendering.blocks import Table
from eval.rendering.errors import configuration_errors
from eval.rendering.numbers import ABSENT, number
from eval.run.composing import composed
from memsys.core.errors import InputError
from memsys.core.yaml_text import load_yaml

_PARTS = {  # title, and the seconds after which it is ended
    "runs": ("Runs of cached data beside their parts in a bare loop", 110),
    "calls": ("Calls to a model beside a bare client", 50),
    "search": ("Search beside raw faiss", 20),
    "growth": ("Growth with conversations and questions (bm25, generated data)", 900),
    "scale": ("Large stores (generated memories and vectors)", 7200),
}
_SHORT = ("runs", "calls", "search")
_RELEASE = Path(__file__).with_name("release.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return the exit code: 1 if a part failed, 2 for wrong input."""
    options = parser(
        "bench",
        "Measure on this machine the share of the harness (needs LoCoMo), calls to models and "
        "search: at most three minutes. --part growth measures how runs grow, --part scale stores "
        "of a thousand to a million memories: 10 GB and half an hour.",
    )
    add = options.add_argument
    add("--part", action="append", choices=_PARTS, help="this part; may be repeated")
    add("--longer", type=float, default=1, help="multiply the time limits of the parts by this")
    add("--questions", type=int, default=10_000, help="of growth: of its largest data set (10000)")
    add("--dataset", default="locomo", help="of runs, calls: locomo (default) or sample")
    add("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="of scale: memories")
    add("--out", type=Path, metavar="FOLDER", help="also write bench.md and bench.json there")
    return code_of(lambda: _bench(options.parse_args(arguments)))


def _bench(options: argparse.Namespace) -> int:
    if not 0 < options.longer < inf:
        raise InputError(f"--longer {options.longer:g}: use a number above 0")
    names = options.part or _SHORT
    if {"runs", "calls"} & {*names}:
        with configuration_errors():
            instantiate(composed([f"dataset={options.dataset}"])[0].dataset).load()  # or refuse it
    limits = {name: seconds * options.longer for name, (_, seconds) in _PARTS.items()}
    parts: dict[str, Part] = {
        "runs": partial(runs, options.dataset, limits["runs"]),
        "calls": partial(calls, options.dataset, limits["calls"]),
        "search": search,
        "growth": partial(growth, options.questions),
        "scale": partial(scale, options.sizes),
    }
    texts = [f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start\n"]
    print(texts[0])
    measured: dict[str, list[Row]] = {}
    for name in (name for name in _PARTS if name in names):
        title = _PARTS[name][0]
        print(f"## {title}\n", flush=True)
        rows = limited(parts[name], limits[name])
        measured[name] = list(_beside_release(rows) if name in _SHORT else rows)
        columns = dict.fromkeys(column for row in measured[name] for column in row)
        cells = {column: lambda row, column=column: _cell(row.get(column)) for column in columns}
        table = Table.of(measured[name], cells).markdown()
        print(f"{table}\n", flush=True)
        texts.append(f"## {title}\n\n{table}\n")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "bench.md").write_text("\n".join(texts), encoding="utf-8")
        (options.out / "bench.json").write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    return FAILED if any("failed" in row for rows in measured.values() for row in rows) else 0


def _beside_release(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows with the figures of the last release on the machine of its file."""
    release = load_yaml(_RELEASE)
    column = f"{release['version']}, {release['date']}, {release['machine']}"
    for row in rows:
        yield {**row, column: release["figures"].get(row["what"], "")}


def _cell(value: str | float | None) -> str:
    """Return whole numbers in full, and others with three significant digits."""
    if value is None or isinstance(value, str):
        return value or ABSENT
    if isinstance(value, int) or not value:
        return f"{value:,.0f}"
    return number(value, max(0, 2 - floor(log10(abs(value)))))


if __name__ == "__main__":
    sys.exit(main())
