"""`python -m eval.studies.bench_scale`: speed and memory of stores with up to a million memories.

Prints figures and asserts nothing. Every size is measured in a separate process; within it the
search methods take turns, so that their ratios do not depend on the load of the machine.
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
from eval.studies.bench_scale.report import as_csv, page, plot

_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_LIBRARY = 10_000  # largest size for mem0ai, which adds memories one by one
_TIMEOUT_S = 300  # of mem0ai; our stores take less at a million
_HNSW = 100_000  # largest size for hnsw, which is slow to build
_PACKAGE = "eval.studies.bench_scale"
_TABLES, _PICTURES = Path("results/tables"), Path("docs/pictures")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the tables and the plot; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.studies.bench_scale",
        description="Fill and query stores of many memories: ingestion, latency, memory and size "
        "on disk, compared with rank_bm25, plain numpy and the library mem0ai. A million memories "
        "take 10 GB and half an hour.",
    )
    parser.add_argument(
        "sizes",
        nargs="*",
        type=int,
        default=_SIZES,
        metavar="N",
        help="default: 1k to 1M",
    )
    parser.add_argument("--out", type=Path, default=_TABLES, help=f"for tables ({_TABLES})")
    parser.add_argument(
        "--pictures", type=Path, default=_PICTURES, help=f"for the plot ({_PICTURES})"
    )
    options = parser.parse_args(arguments)
    return code_of(lambda: _bench(options))


def _bench(options: argparse.Namespace) -> None:
    jobs = [job for n in options.sizes for job in _jobs(n)]
    jobs.sort(key=lambda job: job[2] == "mem0ai")  # last: it may time out
    figures: list[dict[str, Any]] = []
    with tqdm(jobs, unit="store", disable=None) as bar:
        for n, module, *words in bar:
            bar.set_description(f"{n:,} {' '.join(words)}")
            figures.append({"memories": n, "of": words[0], **_measured(module, n, words)})
    text = page(figures)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scale.md").write_text(text, encoding="utf-8")
    (options.out / "scale.csv").write_text(as_csv(figures), encoding="utf-8")
    options.pictures.mkdir(parents=True, exist_ok=True)
    plot(figures, options.pictures / "scale.png")
    print(text)


def _jobs(n: int) -> list[tuple[Any, ...]]:
    kinds = ["ivf", "flat", *(["hnsw"] if n <= _HNSW else [])]
    stores = [(n, f"{_PACKAGE}.one_store", kind) for kind in kinds]
    others = ["rank_bm25", "many_owners", "embedding", *(["mem0ai"] if n <= _LIBRARY else [])]
    return stores + [(n, f"{_PACKAGE}.comparisons", name) for name in others]


def _measured(module: str, n: int, words: Sequence[str]) -> dict[str, Any]:
    """Figures printed by the process, or `failed` with the reason, such as a missing library."""
    order = [str(n), *words] if module.endswith("one_store") else [*words, str(n)]
    command = [sys.executable, "-m", module, *order]
    timeout = _TIMEOUT_S if words == ["mem0ai"] else None
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
