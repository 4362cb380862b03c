"""Picture of the figures of `python -m eval.studies.bench_scale`, drawn from their table."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from eval.rendering.figures import figure, log_axis
from eval.rendering.palette import looks

_MB = 1_000_000
_RAW, _P95 = "raw vector search", "p95 of a question, ms"
# Panels: title, name of the vertical axis, and its lines: label, store and figure of the table.
_PANELS: list[tuple[str, str, list[tuple[str, str, str]]]] = [
    (
        "Exact search",
        _P95,
        [
            (_RAW, "flat", f"ms.{_RAW}.p95"),
            ("numpy alone", "flat", "ms.numpy.p95"),
            ("graph_expand", "flat", "ms.graph_expand.p95"),
        ],
    ),
    (
        "Inverted file (ivf)",
        _P95,
        [
            (_RAW, "ivf", f"ms.{_RAW}.p95"),
            ("vector_only", "ivf", "ms.vector_only.p95"),
            ("graph_expand", "ivf", "ms.graph_expand.p95"),
        ],
    ),
    (
        "Graph of neighbours (hnsw)",
        _P95,
        [
            (_RAW, "hnsw", f"ms.{_RAW}.p95"),
            ("vector_only", "hnsw", "ms.vector_only.p95"),
            ("graph_expand", "hnsw", "ms.graph_expand.p95"),
        ],
    ),
    (
        "Words",
        _P95,
        [("bm25s", "ivf", "ms.bm25s.p95"), ("rank_bm25", "rank_bm25", "ms.rank_bm25.p95")],
    ),
    (
        "Other stores",
        _P95,
        [
            ("graph_expand,\n1,000 per owner", "many_owners", "ms.graph_expand.p95"),
            ("mem0ai", "mem0ai", "ms.mem0ai.p95"),
        ],
    ),
    (
        "Resident memory",
        "MB",
        [
            ("ivf", "ivf", "resident_bytes"),
            ("flat", "flat", "resident_bytes"),
            ("hnsw", "hnsw", "resident_bytes"),
            ("raw vectors", "ivf", "raw_bytes"),
        ],
    ),
]
_LIKE = {"bm25s": "bm25", "graph_expand,\n1,000 per owner": "graph_expand"}  # their strategies
_ASIDE = 1.2  # factor between the places of two lines at one number of memories


def draw(table: Path, path: Path) -> None:
    """Draw latency and memory against the number of memories, from the CSV of the figures."""
    found: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["store"], row["figure"]][int(row["memories"])] = float(row["value"])
    sizes = sorted({size for values in found.values() for size in values})
    with figure(path, 6.4) as drawn:
        panels = list(drawn.subplots(2, 3, sharex=True).flat)
        times = [panel for panel, (_, up, _) in zip(panels, _PANELS, strict=True) if up == _P95]
        for panel, (title, up, lines) in zip(panels, _PANELS, strict=True):
            labels = [label for label, *of in lines if found[of[0], of[1]]]
            looked = looks(labels, [_LIKE.get(label, label) for label in labels])
            named = {look.name: look for look in looked}
            for i, (label, store, figure_) in enumerate(lines):
                if not (values := found[store, figure_]):
                    continue
                aside = _ASIDE ** (i - (len(lines) - 1) / 2)
                unit = _MB if up == "MB" else 1
                at = [size * aside for size in sorted(values)]
                high = [values[size] / unit for size in sorted(values)]
                look = named[label]
                panel.plot(at, high, color=look.hex, marker=look.symbol, ms=look.size, label=label)
            panel.set(title=title, yscale="log")
            log_axis(panel, sizes)
            panel.set_xticks(sizes, [_short(size) for size in sizes])
            if labels:
                panel.legend(loc="upper left", fontsize=8.5)
        low = min(panel.get_ylim()[0] for panel in times)
        for panel in times:
            panel.set_ylim(low, 10_000)
        panels[0].set_ylabel(f"{_P95} (log scale)")
        panels[3].set_ylabel(f"{_P95} (log scale)")
        panels[5].set(ylabel="MB (log scale)", ylim=(1, 100_000))
        drawn.supxlabel("memories (log scale)", fontsize=10)


def _short(size: int) -> str:
    return f"{size // 1000:,}k" if size < _MB else f"{size // _MB}M"
