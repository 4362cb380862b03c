"""`python -m eval leaderboard`: rank published answers to LoCoMo, and our strategies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from eval.cards.card.data import load_keys
from eval.cards.leaderboard.board import Board, scores_of, write
from eval.cards.leaderboard.page import page
from eval.cards.leaderboard.picture import draw
from eval.cards.leaderboard.systems import (
    DATASET,
    FOLDER,
    STRATEGIES,
    command,
    load_facts,
    published,
    strategies_of,
    write_cards,
)
from eval.cards.scores import Scores
from eval.cli import code_of, parser
from eval.datasets.files import shared_folder
from eval.datasets.named import config_of
from eval.datasets.types import Dataset
from eval.records.answer_key_views import ORIGINAL
from eval.records.run import load_run
from memsys.core.errors import InputError
from memsys.core.places import SHIPPED


def main(arguments: Sequence[str] | None = None) -> int:
    """Score, rank, print and write; return the exit code: 2 for bad input."""
    options = parser(
        "leaderboard",
        "Rank published answers to LoCoMo under four protocols and three answer keys, with the "
        "uncertainty of the ranks, and runs of our strategies in a table of their own. "
        "docs/leaderboard.md explains the tables.",
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
    given = options.parse_args(arguments)
    return code_of(lambda: _leaderboard(given))


def _leaderboard(options: argparse.Namespace) -> None:
    if options.seed < 0:
        raise InputError(f"--seed {options.seed}: use a whole number of 0 or more")
    folder = options.answers or shared_folder() / "locomo" / "answers"
    facts = load_facts()
    runs = strategies_of(options.runs)
    datasets, missing = load_keys(config_of(DATASET, ORIGINAL, None))
    if missing:
        raise InputError(next(iter(missing.values())))
    with TemporaryDirectory() as imports:
        systems = published(folder, datasets[ORIGINAL], facts, Path(imports))
        if len(systems) < 2:
            raise InputError(f"{folder}: has one file of answers; a ranking needs two or more")
        named = [(one.name, one.folder) for one in systems]
        boards = [Board.of("systems", _scores(named, datasets), options.seed)]
        if runs:
            boards.append(Board.of("strategies", _scores(runs.items(), datasets), options.seed))
        write_cards(systems, runs, facts, options.out)
    for path in (options.out, options.pictures):
        path.mkdir(parents=True, exist_ok=True)
    write(boards, options.out)
    known = {one.name: one.facts for one in systems}
    text = page(boards, known, facts)
    (options.out / "leaderboard.md").write_text(text, encoding="utf-8")
    draw(boards[0], known, options.pictures)
    print(text)
    for name in () if options.runs else [one for one in STRATEGIES if one not in runs]:
        print(f"no run of {name}; for its row: {command(name)}")
    print(f"written: {options.out}, {options.pictures}/leaderboard.png and .svg")


def _scores(folders: Iterable[tuple[str, Path]], datasets: Mapping[str, Dataset]) -> Scores:
    return scores_of(((name, load_run(folder)) for name, folder in folders), datasets)


if __name__ == "__main__":
    sys.exit(main())
