"""Picture of the ranks under each protocol: docs/pictures/leaderboard.png and .svg."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.cards.leaderboard.board import Board
from eval.cards.leaderboard.page import of_protocols, title
from eval.cards.leaderboard.systems import Kind, SystemFacts
from eval.rendering.palette import COLOURS as PALETTE
from eval.rendering.palette import GREY

COLOURS: Mapping[Kind, str] = {
    "memory": PALETTE["indigo"][0],
    "retrieval": PALETTE["green"][0],
    "full context": PALETTE["ink"][0],
    "written to be wrong": PALETTE["amber"][0],
    "not stated": GREY,
}
_DPI = 200
_WIDTH = 8.8  # inches; the README shows it 880 pixels wide


def draw(board: Board, known: Mapping[str, SystemFacts], folder: Path) -> None:
    """Draw the rank of each system against the protocol, a line each with its name at both ends,
    into leaderboard.png and leaderboard.svg in `folder`.
    """
    import matplotlib.pyplot as plt  # noqa: PLC0415 - takes half a second
    from matplotlib.lines import Line2D  # noqa: PLC0415

    columns = [column for column in of_protocols() if column in board.pairs]
    rankings = [board.overall(column) for column in columns]
    most = max(map(len, rankings))
    with plt.rc_context({"svg.hashsalt": "leaderboard", "svg.fonttype": "none"}):
        size = (_WIDTH, 0.9 + 0.29 * most)
        figure, panel = plt.subplots(figsize=size, layout="constrained")
        for system in board.scores.names:
            at = [i for i, ranking in enumerate(rankings) if system in ranking]
            ranks = [rankings[i][system].rank for i in at]
            _line(panel, system, at, ranks, len(columns), COLOURS[known[system].kind])
        titles = [title(column).replace(" ", "\n") for column in columns]
        panel.set_xticks(range(len(columns)), titles, fontsize=10)
        panel.set(xlim=(-0.05, len(columns) - 0.95), ylim=(most + 0.6, 0.4))
        panel.set_yticks([])
        panel.xaxis.tick_top()
        panel.tick_params(length=0)
        for side in panel.spines.values():
            side.set_visible(False)
        kinds = [kind for kind in COLOURS if any(one.kind == kind for one in known.values())]
        handles = [Line2D([], [], color=COLOURS[kind], linewidth=3) for kind in kinds]
        where: Any = {"loc": "outside lower center", "ncols": len(kinds), "frameon": False}
        figure.legend(handles, list[str](kinds), fontsize=9, **where)
        for ending, metadata in (("png", {}), ("svg", {"Date": None})):
            figure.savefig(folder / f"leaderboard.{ending}", dpi=_DPI, metadata=metadata)
        plt.close(figure)


def _line(
    panel: Any, system: str, at: list[int], ranks: list[float], columns: int, colour: str
) -> None:
    """Draw one system: its line, its rank in each column, and its name at both ends."""
    panel.plot(at, ranks, color=colour, linewidth=1.8, alpha=0.75, zorder=2)
    dots = {"s": 150, "edgecolors": "white", "linewidths": 1.2, "zorder": 3, "clip_on": False}
    panel.scatter(at, ranks, color=colour, **dots)
    text = {"color": "white", "fontsize": 7, "ha": "center", "va": "center_baseline", "zorder": 4}
    for x, rank in zip(at, ranks, strict=True):
        panel.text(x, rank, f"{rank:g}", **text)
    name = {"color": colour, "fontsize": 8.5, "va": "center"}
    last = at[-1] == columns - 1
    begin = system if last else f"{system} (no judge)"
    panel.text(at[0] - 0.09, ranks[0], begin, ha="right", **name)
    if last:
        panel.text(at[-1] + 0.09, ranks[-1], system, ha="left", **name)
