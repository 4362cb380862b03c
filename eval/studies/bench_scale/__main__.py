"""`python -m eval.studies.bench_scale`: speed and memory of stores with up to a million memories.

Prints figures and asserts nothing. Every size is measured in a separate process; within it the
search methods take turns, so that their ratios do not depend on the load of the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.cli import beside, code_of, parser
from eval.studies.bench_scale.picture import draw
from eval.studies.bench_scale.report import as_csv, page

_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_LARGEST = {"mem0ai": 10_000, "hnsw": 100_000}  # adds memories one by one; is slow to build
_TIMEOUT_S = 300  # of mem0ai; our stores take less at a million
_TABLES, _PICTURES = Path("results/tables"), Path("docs/pictures")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the tables and the plot; return the exit code."""
    options = parser(
        "studies.bench_scale",
        "Fill and query stores of many memories: ingestion, latency, memory and size on disk, "
        "compared with rank_bm25, plain numpy and the library mem0ai. A million memories take "
        "10 GB and half an hour.",
    )
    add = options.add_argument
    add("sizes", nargs="*", type=int, default=_SIZES, metavar="N", help="default: 1k to 1M")
    add("--out", type=Path, default=_TABLES, help=f"for tables ({_TABLES})")
    add("--pictures", type=Path, default=_PICTURES, help=f"for the plot ({_PICTURES})")
    given = options.parse_args(arguments)
    return code_of(lambda: _bench(given.sizes, given.out, given.pictures))


def _bench(sizes: Sequence[int], out: Path, pictures: Path) -> None:
    jobs = [(n, name) for n in sizes for name in _names(n)]
    jobs.sort(key=lambda job: job[1] == "mem0ai")  # last: it may time out
    figures: list[dict[str, Any]] = []
    with tqdm(jobs, unit="store", disable=None) as bar:
        for n, name in bar:
            bar.set_description(f"{n:,} {name}")
            figures.append({"memories": n, "of": name, **_measured(n, name)})
    text = page(figures)
    out.mkdir(parents=True, exist_ok=True)
    name = "scale"
    if tuple(sizes) != _SIZES and (out == _TABLES or pictures == _PICTURES):
        name = beside(name, [str(n) for n in sizes])  # the shipped files are of all sizes
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    (out / f"{name}.csv").write_text(as_csv(figures), encoding="utf-8")
    pictures.mkdir(parents=True, exist_ok=True)
    draw(out / f"{name}.csv", pictures / name)
    print(text)
    print(f"written: {out / name}.md, {out / name}.csv, {pictures / name}.png and .svg")


def _names(n: int) -> list[str]:
    """Return the names of the measurements at `n` memories; see measure.MEASURES."""
    names = ("ivf", "flat", "hnsw", "rank_bm25", "many_owners", "embedding", "mem0ai")
    return [name for name in names if n <= _LARGEST.get(name, n)]


def _measured(n: int, name: str) -> dict[str, Any]:
    """Return the figures printed by the process, or `failed` with the reason."""
    command = [sys.executable, "-m", "eval.studies.bench_scale.measure", name, str(n)]
    timeout = _TIMEOUT_S if name == "mem0ai" else None
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not finished after {timeout} s"}
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["no output"])[-1]
        return {"failed": last.partition("InputError: ")[2] or last}
    answer: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return answer


if __name__ == "__main__":
    sys.exit(main())
