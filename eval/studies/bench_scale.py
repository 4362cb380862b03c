"""`python -m eval.studies.bench_scale`: stores of a thousand to a million memories.

Prints, never asserts. Every size is measured in a process of its own; within it the ways of
searching take turns, so that their ratios hold whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.cli import code_of
from eval.studies.scaling.pages import as_csv, page
from eval.studies.scaling.plot import plot

_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_LIBRARY = 10_000  # the library adds its memories one by one
_PATIENCE_S = 300  # with it; our own stores take less at a million
_HNSW = 100_000  # it takes long to build
_TABLES, _PICTURES = Path("results/tables"), Path("docs/pictures")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the table and the plot; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.studies.bench_scale",
        description="Fill and ask stores of many memories: ingest, latency, memory, disk, beside "
        "rank_bm25, plain numpy and the library mem0ai. A million takes 10 GB and half an hour.",
    )
    parser.add_argument(
        "sizes", nargs="*", type=int, default=_SIZES, metavar="N", help="default: 1k to 1M"
    )
    parser.add_argument("--out", type=Path, default=_TABLES, help=f"of the table ({_TABLES})")
    parser.add_argument("--pictures", type=Path, default=_PICTURES, help=f"({_PICTURES})")
    options = parser.parse_args(arguments)
    return code_of(lambda: _bench(options))


def _bench(options: argparse.Namespace) -> None:
    jobs = [job for n in options.sizes for job in _jobs(n)]
    jobs.sort(key=lambda job: job[2] == "mem0ai")  # last: it may not end
    found: list[dict[str, Any]] = []
    with tqdm(jobs, unit="store", disable=None) as bar:
        for n, module, *words in bar:
            bar.set_description(f"{n:,} {' '.join(words)}")
            found.append({"memories": n, "of": words[0], **_measured(module, n, words)})
    text = page(found)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scale.md").write_text(text, encoding="utf-8")
    (options.out / "scale.csv").write_text(as_csv(found), encoding="utf-8")
    options.pictures.mkdir(parents=True, exist_ok=True)
    plot(found, options.pictures / "scale.png")
    print(text)


def _jobs(n: int) -> list[tuple[Any, ...]]:
    kinds = ["ivf", "flat", *(["hnsw"] if n <= _HNSW else [])]
    stores = [(n, "eval.studies.scaling.one_store", kind) for kind in kinds]
    beside = ["rank_bm25", "many_owners", "embedding", *(["mem0ai"] if n <= _LIBRARY else [])]
    return stores + [(n, "eval.studies.scaling.others", name) for name in beside]


def _measured(module: str, n: int, words: Sequence[str]) -> dict[str, Any]:
    """What the process says, or why it could not: a library that is not installed is no failure."""
    order = [str(n), *words] if module.endswith("one_store") else [*words, str(n)]
    command = [sys.executable, "-m", module, *order]
    patience = _PATIENCE_S if words == ["mem0ai"] else None
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {patience} s"}
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["no word"])[-1]
        return {"failed": last.partition("InputError: ")[2] or last}
    answer: dict[str, Any] = json.loads(ended.stdout.strip().splitlines()[-1])
    return answer


if __name__ == "__main__":
    sys.exit(main())
