"""How latency and memory grow, on logarithmic axes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MARKS = "osv^Dxp*"


def plot(found: Sequence[Mapping[str, Any]], path: Path) -> None:
    """A picture at `path`: p95 milliseconds of a question, and resident memory, by memories."""
    import matplotlib  # noqa: PLC0415 - half a second that only pictures cost

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    times: dict[str, list[tuple[int, float]]] = defaultdict(list)
    sizes: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for one in found:
        kind = f" ({one['vectors']})" if "vectors" in one else ""
        for way, values in one.get("ms", {}).items():
            # What searches words or everything is the same beside every index.
            if kind in ("", " (ivf)") or way in ("raw vector search", "graph_expand"):
                own = kind if way in ("raw vector search", "vector_only", "graph_expand") else ""
                label = "graph_expand (1,000 an owner)" if "owners" in one else way + own
                times[label].append((one["memories"], values[1]))
        if "raw_bytes" in one:
            sizes[f"store{kind}"].append((one["memories"], one["resident_bytes"] / 1e6))
            if kind == " (ivf)":
                sizes["raw vectors"].append((one["memories"], one["raw_bytes"] / 1e6))
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 6), layout="constrained")
    for axis, lines, title in zip(
        axes, (times, sizes), ("p95 of a question, ms", "resident memory, MB"), strict=True
    ):
        for number, (label, points) in enumerate(lines.items()):
            mark = _MARKS[number % len(_MARKS)]
            axis.plot(*zip(*sorted(points), strict=True), marker=mark, label=label, linewidth=1.2)
        axis.set(xscale="log", yscale="log", xlabel="memories", title=title)
        axis.grid(visible=True, which="major", alpha=0.3)
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
