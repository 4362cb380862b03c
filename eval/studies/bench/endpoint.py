"""LoCoMo with reader and judge over an endpoint, beside a bare client of the same requests."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from eval.studies.bench.processes import MeasuredProcess, measure_process, measure_run
from eval.studies.bench.schedule import MODEL
from eval.studies.loopback_model import Plan, loopback_model

_DELAY_S, _CONCURRENCY = 0.02, 4
_TYPES = "dataset.types=[multi_hop,temporal,open_domain,single_hop]"


def endpoint(dataset: str = "locomo", runs: int = 3) -> Iterator[str]:
    """Yield medians of `runs` runs on types 1-4 of `dataset`, each followed by the bare client."""
    arguments = [*MODEL, f"dataset={dataset}", _TYPES, f"concurrency={_CONCURRENCY}"]
    arguments.append(f"llm.concurrency={_CONCURRENCY}")
    pairs: list[tuple[MeasuredProcess, MeasuredProcess]] = []
    with tempfile.TemporaryDirectory() as folder:
        log, bodies = Path(folder) / "log", Path(folder) / "bodies"
        with loopback_model(Plan(_DELAY_S, log=log)) as base_url:
            measure_run([*arguments, f"llm.base_url={base_url}"], Path(folder) / "first")
        attempts = [json.loads(line) for line in log.read_text().splitlines()]
        bodies.write_text("".join(json.dumps(one["body"]) + "\n" for one in attempts))
        bare = [sys.executable, "-m", "eval.studies.bench.bare_client", str(bodies)]
        with loopback_model(Plan(_DELAY_S)) as base_url:
            for number in range(runs):
                cache = Path(folder) / f"cache {number}"  # empty: every call is live
                run = measure_run([*arguments, f"llm.base_url={base_url}"], cache)
                other = measure_process([*bare, base_url, str(_CONCURRENCY)])
                pairs.append((run.process, other))
    run_s, bare_s = (median(one.wall_s for one in ends) for ends in zip(*pairs, strict=True))
    beyond = median(run.wall_s - other.wall_s for run, other in pairs)
    yield (
        f"{dataset}, types 1-4, bm25, reader and judge: {len(attempts):,} requests of "
        f"{_DELAY_S * 1000:.0f} ms at concurrency {_CONCURRENCY}, median of {runs} whole processes"
    )
    yield f"run {run_s:.1f} s, bare client {bare_s:.1f} s, beyond it {beyond:.1f} s"
    cpu_s = [median(one.cpu_s for one in ends) for ends in zip(*pairs, strict=True)]
    yield f"CPU: run {cpu_s[0]:.1f} s, bare client {cpu_s[1]:.1f} s"
    yield f"peak {max(run.peak_mb for run, _ in pairs):.0f} MB"
