"""Figures of `python -m eval.studies.bench_scale` as a page and as CSV rows."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.records.comma_separated import write_rows
from eval.rendering.terminal import markdown

Figures = Mapping[str, Any]  # of one process: a store or an alternative, at one size
_MB = 1_000_000


def page(figures: Sequence[Figures]) -> str:
    """Return the Markdown page: targets, ingestion, latency, size, and failed measurements."""
    parts = [
        "# scale",
        "    python -m eval.studies.bench_scale",
        "Stores of one owner unless stated otherwise; 384 dimensions; generated memories of 11 "
        "words and generated vectors (eval/studies/bench_scale/generated_data.py), so recall is of "
        "these vectors. Milliseconds are p50 / p95 / p99 over 200 questions, one at a time; the "
        "methods of one store took turns.",
        "## Targets\n\n" + markdown(["target", "measured", "met"], list(_targets(figures))),
        "## Ingestion, memories per second, with embeddings already computed\n\n"
        + markdown(_INGEST, list(_ingest(figures))),
        "## Latency of a question, ms\n\n" + markdown(_LATENCY, list(_ms(figures))),
        "## Size\n\n" + markdown(_SIZE, list(_size(figures))),
    ]
    failed = [one for one in figures if "failed" in one]
    if failed:
        rows = [[f"{one['memories']:,}", one["of"], one["failed"]] for one in failed]
        parts.append("## Not measured\n\n" + markdown(["memories", "what", "why"], rows))
    return "\n\n".join(parts) + "\n"


_LATENCY = ["memories", "store", "method", "ms"]
_INGEST = ["memories", "store", "all", "seconds: vectors", "words", "graph"]
_SIZE = ["memories", "store", "resident MB", "of raw vectors", "index on disk MB", "reopening s"]


def _targets(figures: Sequence[Figures]) -> Iterator[list[str]]:
    """Yield the targets of the largest store, with the measured values."""
    stores = [one for one in figures if "vectors" in one]
    largest = max((one["memories"] for one in stores), default=0)
    slow = [o for o in figures if (o["memories"], o["of"]) == (largest, "rank_bm25") and "ms" in o]
    for one in stores:
        if one["memories"] != largest or one["vectors"] == "hnsw":
            continue
        name, ms = f"{largest:,}, {one['vectors']}: ", one["ms"]
        ratio = ms["graph_expand"][1] / ms["raw vector search"][1]
        rate = largest / sum(one["ingest_s"].values())
        memory = one["resident_bytes"] / one["raw_bytes"]
        rows = [
            ("p95 of graph_expand ≤ 2 × raw search", f"{ratio:.2f} ×", ratio <= 2),
            ("ingestion ≥ 20,000 per second", f"{rate:,.0f}", rate >= 20_000),
            ("resident ≤ 2.5 × raw vectors", f"{memory:.2f} ×", memory <= 2.5),
        ]
        for other in slow:
            faster = other["ms"]["rank_bm25"][1] / ms["bm25s"][1]
            target = "p95 of bm25s ≥ 20 × faster than rank_bm25"
            rows.append((target, f"{faster:.0f} ×", faster >= 20))
        for target, measured, met in rows:
            yield [name + target, measured, "yes" if met else "no"]


def _ingest(figures: Sequence[Figures]) -> Iterator[list[str]]:
    for one in figures:
        spent, n = one.get("ingest_s"), one["memories"]
        if isinstance(spent, dict):
            seconds = [f"{spent[name]:.2f}" for name in ("vectors", "words", "graph")]
            yield [f"{n:,}", one["vectors"], f"{n / sum(spent.values()):,.0f}", *seconds]
        elif spent is not None:
            yield [f"{n:,}", _name(one), f"{n / spent:,.0f}", "-", "-", "-"]
        elif "embedded_per_s" in one:
            rate = f"{one['embedded_per_s']:,.0f}"
            yield [f"{n:,}", "embedding only (MiniLM, 500 of them)", rate, "-", "-", "-"]


def _ms(figures: Sequence[Figures]) -> Iterator[list[str]]:
    for one in figures:
        for method, values in one.get("ms", {}).items():
            times = " / ".join(f"{value:.2f}" for value in values)
            yield [f"{one['memories']:,}", _name(one), method, times]


def _size(figures: Sequence[Figures]) -> Iterator[list[str]]:
    for one in figures:
        if (resident := one.get("resident_bytes")) is not None:
            rest = ["-", "-", "-"]
            if "raw_bytes" in one:
                disk = f"{one['disk_bytes'] / _MB:,.0f}"
                rest = [f"{resident / one['raw_bytes']:.2f} ×", disk, f"{one['reopen_s']:.2f}"]
            yield [f"{one['memories']:,}", _name(one), f"{resident / _MB:,.0f}", *rest]


def _name(one: Figures) -> str:
    if "vectors" in one:
        return f"{one['vectors']} (recall@10 {one['recall']:.2f})"
    return f"{one['owners']:,} of 1,000, exact" if "owners" in one else str(one["of"])


def as_csv(figures: Sequence[Figures]) -> str:
    """Return CSV with a row per figure: memories, store, name, value."""
    file = io.StringIO()
    rows = [
        [one["memories"], one["of"], name, value] for one in figures for name, value in _flat(one)
    ]
    write_rows(file, [["memories", "store", "figure", "value"], *rows])
    return file.getvalue()


def _flat(one: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    for name, value in one.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        elif isinstance(value, list):
            named = zip(("p50", "p95", "p99"), value, strict=True)
            yield from ((f"{path}{name}.{part}", round(number, 4)) for part, number in named)
        elif isinstance(value, int | float) and name != "memories":
            yield f"{path}{name}", round(value, 4)
