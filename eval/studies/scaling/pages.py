"""The figures of eval.studies.bench_scale as a page and as rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.rendering.tables import markdown

Found = Mapping[str, Any]
_MB = 1_000_000


def page(found: Sequence[Found]) -> str:
    """Markdown: targets, ingest, latency, size, and what could not be measured."""
    parts = [
        "# scale",
        "    python -m eval.studies.bench_scale",
        "Stores of one owner unless it says otherwise; 384 dimensions; made memories of 11 words "
        "and made vectors (eval/studies/scaling/made.py), so that recall is of these vectors. "
        "Milliseconds are p50 / p95 / p99 over 200 questions, one at a time; the ways in one row "
        "of a store took turns.",
        "## Targets\n\n" + markdown(["target", "found", "met"], list(_targets(found))),
        "## Ingest, memories a second, embeddings given\n\n"
        + markdown(_INGEST, list(_ingest(found))),
        "## A question, ms\n\n" + markdown(["memories", "store", "way", "ms"], list(_ms(found))),
        "## Size\n\n" + markdown(_SIZE, list(_size(found))),
    ]
    failed = [one for one in found if "failed" in one]
    if failed:
        rows = [[f"{one['memories']:,}", one["of"], one["failed"]] for one in failed]
        parts.append("## Not measured\n\n" + markdown(["memories", "what", "why"], rows))
    return "\n\n".join(parts) + "\n"


_INGEST = ["memories", "store", "all", "seconds: vectors", "words", "graph"]
_SIZE = ["memories", "store", "resident MB", "of raw vectors", "index on disk MB", "reopened in s"]


def _stores(found: Sequence[Found]) -> Iterator[Found]:
    return (one for one in found if "vectors" in one)


def _other(found: Sequence[Found], n: int, name: str) -> Found | None:
    return next(
        (o for o in found if o["memories"] == n and o["of"] == name and "failed" not in o), None
    )


def _targets(found: Sequence[Found]) -> Iterator[list[str]]:
    """Those that are set for the largest store."""
    largest = max((one["memories"] for one in _stores(found)), default=0)
    for one in _stores(found):
        if one["memories"] != largest or one["vectors"] == "hnsw":
            continue
        name, ms = f"{largest:,}, {one['vectors']}", one["ms"]
        ratio = ms["graph_expand"][1] / ms["raw vector search"][1]
        yield [f"{name}: p95 of graph_expand ≤ 2 × raw search", f"{ratio:.2f} ×", _met(ratio <= 2)]
        rate = largest / sum(one["ingest_s"].values())
        yield [f"{name}: ingest ≥ 20,000 a second", f"{rate:,.0f}", _met(rate >= 20_000)]
        held = one["resident_bytes"] / one["raw_bytes"]
        yield [f"{name}: resident ≤ 2.5 × raw vectors", f"{held:.2f} ×", _met(held <= 2.5)]
        slow = _other(found, largest, "rank_bm25")
        if slow is not None:
            faster = slow["ms"]["rank_bm25"][1] / ms["bm25s"][1]
            target = f"{name}: p95 of bm25s ≥ 20 × faster than rank_bm25"
            yield [target, f"{faster:.0f} ×", _met(faster >= 20)]


def _met(is_met: bool) -> str:
    return "yes" if is_met else "no"


def _ingest(found: Sequence[Found]) -> Iterator[list[str]]:
    for one in found:
        spent = one.get("ingest_s")
        n = one["memories"]
        if isinstance(spent, dict):
            own = [f"{spent[name]:.2f}" for name in ("vectors", "words", "graph")]
            yield [f"{n:,}", one["vectors"], f"{n / sum(spent.values()):,.0f}", *own]
        elif spent is not None:
            yield [f"{n:,}", _name(one), f"{n / spent:,.0f}", "-", "-", "-"]
        elif "embedded_per_s" in one:
            rate = f"{one['embedded_per_s']:,.0f}"
            yield [f"{n:,}", "embedding alone (MiniLM, 500 of them)", rate, "-", "-", "-"]


def _ms(found: Sequence[Found]) -> Iterator[list[str]]:
    for one in found:
        for way, values in one.get("ms", {}).items():
            times = " / ".join(f"{value:.2f}" for value in values)
            yield [f"{one['memories']:,}", _name(one), way, times]


def _size(found: Sequence[Found]) -> Iterator[list[str]]:
    for one in found:
        if "resident_bytes" not in one:
            continue
        held = one["resident_bytes"]
        row = [f"{one['memories']:,}", _name(one), f"{held / _MB:,.0f}"]
        if "raw_bytes" not in one:
            yield [*row, "-", "-", "-"]
            continue
        share = f"{held / one['raw_bytes']:.2f} ×"
        disk = f"{one['disk_bytes'] / _MB:,.0f}"
        yield [*row, share, disk, f"{one['reopen_s']:.2f}"]


def _name(one: Found) -> str:
    if "vectors" in one:
        return f"{one['vectors']} (recall@10 {one['recall']:.2f})"
    return f"{one['owners']:,} of 1,000, exact" if "owners" in one else str(one["of"])


def as_csv(found: Sequence[Found]) -> str:
    """One row a figure: memories, store, name, value."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["memories", "store", "figure", "value"])
    for one in found:
        for name, value in _flat(one):
            writer.writerow([one["memories"], one["of"], name, value])
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
