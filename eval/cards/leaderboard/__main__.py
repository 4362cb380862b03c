"""`python -m eval leaderboard`: rank published answers to LoCoMo, and our strategies."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.cards.card.scores import load_keys
from eval.cards.leaderboard.board import Board
from eval.cards.leaderboard.page import of_protocols, page, title
from eval.cards.leaderboard.systems import (
    DATASET,
    FOLDER,
    STRATEGIES,
    Kind,
    SystemFacts,
    command,
    load_facts,
    published,
    scores_of,
    strategies_of,
    write_cards,
)
from eval.cards.scores import Scores
from eval.cli import code_of, parser
from eval.datasets.files import shared_folder
from eval.datasets.reload import config_of
from eval.datasets.types import Dataset
from eval.records.answer_key_views import ORIGINAL
from eval.records.comma_separated import text_of
from eval.records.run import load_run
from eval.rendering.palette import COLOURS as PALETTE
from eval.rendering.palette import GREY
from eval.rendering.plots import figure
from memsys.core.errors import InputError, check_whole
from memsys.core.places import SHIPPED


def main(arguments: Sequence[str] | None = None) -> int:
    """Score, rank, print and write; return the exit code: 2 for bad input."""
    options = parser(
        "leaderboard",
        "Rank published answers to LoCoMo under four protocols and three answer keys, with the "
        "uncertainty of the ranks, and runs of our strategies in a table of their own. "
        "docs/cards.md explains the tables.",
    )
    add = options.add_argument
    runs = "runs of our strategies (default: the newest of each with default settings)"
    add("runs", nargs="*", metavar="RUN", help=runs)
    where = "folder of answers, a file per system; default: $MEMSYS_SHARED/locomo/answers"
    add("--answers", type=Path, metavar="FOLDER", help=where)
    add("--out", type=Path, default=FOLDER, help="folder of the tables (results/leaderboard)")
    pictures = "folder of leaderboard.png and .svg (docs/pictures)"
    add("--pictures", type=Path, default=SHIPPED / "docs" / "pictures", help=pictures)
    add("--seed", type=int, default=0, help="seed of the resampling (default: 0)")
    return code_of(lambda: _leaderboard(options.parse_args(arguments)))


def _leaderboard(options: argparse.Namespace) -> None:
    check_whole("--seed", options.seed, 0)
    folder = options.answers or shared_folder() / "locomo" / "answers"
    facts = load_facts()
    runs = strategies_of(options.runs)
    datasets, missing = load_keys(config_of(DATASET, ORIGINAL, None))
    if missing:
        raise InputError(next(iter(missing.values())))
    with TemporaryDirectory() as temporary:
        imports = Path(temporary)
        systems = published(folder, datasets[ORIGINAL], facts, imports)
        if len(systems) < 2:
            raise InputError(f"{folder}: has one file of answers; a ranking needs two or more")
        named = [(name, imports / name) for name in systems]
        boards = [Board.of("systems", _scores(named, datasets), options.seed)]
        if runs:
            boards.append(Board.of("strategies", _scores(runs.items(), datasets), options.seed))
        write_cards(systems, imports, runs, facts, options.out)
    for path in (options.out, options.pictures):
        path.mkdir(parents=True, exist_ok=True)
    write(boards, options.out)
    text = page(boards, systems, facts)
    (options.out / "leaderboard.md").write_text(text, encoding="utf-8")
    draw(boards[0], systems, options.pictures)
    print(text)
    for name in () if options.runs else [one for one in STRATEGIES if one not in runs]:
        print(f"no run of {name}; for its row: {command(name)}")
    print(f"written: {options.out}, {options.pictures}/leaderboard.png and .svg")


def _scores(folders: Iterable[tuple[str, Path]], datasets: Mapping[str, Dataset]) -> Scores:
    return scores_of(((name, load_run(folder)) for name, folder in folders), datasets)


def write(boards: Sequence[Board], folder: Path) -> None:
    """Write scores.csv, ranks.csv and groups.csv: the rows of all boards."""
    for name in ("scores", "ranks", "groups"):
        rows = [row for board in boards for row in board.rows()[name]]
        text = text_of([*rows[0]] if rows else [], rows)
        (folder / f"{name}.csv").write_text(text, encoding="utf-8", newline="")


COLOURS: Mapping[Kind, str] = {
    "memory": PALETTE["indigo"][0],
    "retrieval": PALETTE["green"][0],
    "full context": PALETTE["ink"][0],
    "written to be wrong": PALETTE["amber"][0],
    "not stated": GREY,
}
_NAME = "leaderboard"
_WIDTH = 8.8  # inches; the README shows it 880 pixels wide


def draw(board: Board, known: Mapping[str, SystemFacts], folder: Path) -> None:
    """Draw the rank of each system against the protocol, a line each with its name at both ends,
    into leaderboard.png and leaderboard.svg in `folder`.
    """
    from matplotlib.lines import Line2D  # noqa: PLC0415 - takes half a second

    columns = board.compared(of_protocols())
    rankings = [board.overall(column) for column in columns]
    most = max(map(len, rankings))
    with figure(folder / _NAME, 0.9 + 0.29 * most, _WIDTH, {"svg.fonttype": "none"}) as drawn:
        panel = drawn.subplots()
        panel.grid(visible=False)
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
        drawn.legend(handles, list[str](kinds), fontsize=9, **where)


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
