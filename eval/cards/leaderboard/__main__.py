"""`python -m eval leaderboard`: rank published answers to LoCoMo, and our strategies."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.cards.card.make import card_of, load_keys
from eval.cards.card.schema import Origin, save_card
from eval.cards.leaderboard.board import Board
from eval.cards.leaderboard.page import (
    COLUMNS,
    FOLDER,
    Facts,
    Kind,
    SystemFacts,
    load_facts,
    page,
    title,
)
from eval.cards.scores import ByQuestion, Scores, of_protocols, of_records, under_keys
from eval.cli import code_of, parser
from eval.datasets.files import shared_folder
from eval.datasets.reload import config_of
from eval.datasets.types import Dataset
from eval.imports.rescore.imports import read_import, write_import
from eval.imports.rescore.recompute import check_files
from eval.records.answer_key_views import ORIGINAL, key_name
from eval.records.comma_separated import text_of
from eval.records.manifest import load_manifest
from eval.records.run import Run, load_run
from eval.rendering.palette import COLOURS as PALETTE
from eval.rendering.palette import GREY
from eval.rendering.plots import figure
from eval.summary.closing import IMPORTED, system_name
from memsys.core.errors import InputError, check_whole
from memsys.core.places import MANIFEST, RUNS, SHIPPED, find_run

CARDS = "cards"
DATASET = "locomo"
_ENDINGS = (".jsonl", ".json", ".csv")  # each gzipped or not
STRATEGIES = (
    *("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate"),
    *("no_memory", "oracle", "bm25", "hybrid_rank", "graph_walk", "fusion"),
    "late_interaction_fusion",
)


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
    for name in () if options.runs else [key for key in STRATEGIES if key not in runs]:
        print(f"no run of {name}; for its row: {command(name)}")
    print(f"written: {options.out}, {options.pictures}/leaderboard.png and .svg")


def _scores(folders: Iterable[tuple[str, Path]], datasets: Mapping[str, Dataset]) -> Scores:
    return scores_of(((name, load_run(folder)) for name, folder in folders), datasets)


def published(answers: Path, dataset: Dataset, facts: Facts, runs: Path) -> dict[str, SystemFacts]:
    """Import each file in the folder `answers` into a run folder in `runs`, named as its system;
    return what is known of the systems.

    Raises InputError if there is none, or one cannot be imported.
    """
    paths = sorted(answers.iterdir()) if answers.is_dir() else []
    paths = [path for path in paths if path.name.removesuffix(".gz").endswith(_ENDINGS)]
    if not paths:
        kinds = ", ".join(_ENDINGS)
        raise InputError(f"{answers}: no file of answers ({kinds}); name a folder with --answers")
    systems: dict[str, SystemFacts] = {}
    for path in paths:
        name = system_name(None, path)
        if name in systems:
            raise InputError(f"{path}: another file has the name {name} as well; rename one")
        source = read_import(path, None, name, dataset)
        systems[name] = facts.of(name, source.file.source.sha256)
        write_import(source, runs / name, {"dataset": dataset.name, "name": name})
    return systems


def strategies_of(names: Sequence[str]) -> dict[str, Path]:
    """Return the run folders of our strategies: those named, else the newest complete ones under
    results/runs by `command`.

    Raises InputError for two runs of one strategy, or answers of another system.
    """
    if not names:
        return _newest()
    folders: dict[str, Path] = {}
    for folder in map(find_run, names):
        manifest = load_manifest(folder)
        if manifest.get("kind") == IMPORTED:
            raise InputError(f"{folder}: has answers of another system; put them in --answers")
        if other := folders.get(manifest["strategy"]):
            raise InputError(f"{folder}: {other} is of {manifest['strategy']} as well; name one")
        folders[manifest["strategy"]] = folder
    return folders


def command(strategy: str) -> str:
    """Return the command of a run of `strategy` with default settings."""
    return f"python -m eval.run dataset={DATASET} strategy={strategy}"


def _newest() -> dict[str, Path]:
    latest: dict[str, tuple[str, Path]] = {}
    for path in sorted(RUNS.glob(f"*/{MANIFEST}")) if RUNS.is_dir() else ():
        try:
            manifest = load_manifest(path.parent)
        except InputError:
            continue  # of an earlier version, or torn
        name = manifest["strategy"]
        default = {*manifest["command"].split()} == {*command(name).split()}
        if manifest["status"] == "complete" and default:
            latest[name] = max(latest.get(name, ("", path)), (manifest["started"], path.parent))
    return {name: latest[name][1] for name in STRATEGIES if name in latest}


def scores_of(runs: Iterable[tuple[str, Run]], datasets: Mapping[str, Dataset]) -> Scores:
    """Return the scores of runs, by the names of their systems, under all protocols and answer
    keys. The runs are read one after the other, and none is needed again.

    `datasets`: the data set of the runs by answer key, the original one first. Raises InputError
    for a run on other data, or scored under another key than the original one.
    """
    first, systems = datasets[ORIGINAL], dict[str, ByQuestion]()
    for name, run in runs:
        check_files(first, run.manifest, run.folder)
        if (key := key_name(run.manifest)) != ORIGINAL:
            raise InputError(
                f"{run.folder}: scored under the {key} answer key; first: python -m eval rescore "
                f"{run.folder} --key {ORIGINAL}"
            )
        views = under_keys(run.records.values(), datasets)
        systems[name] = {
            column: scores
            for part in (of_protocols, of_records)
            for key, records in views.items()
            for column, scores in part(records, key).items()
        }
    return Scores.of(systems, first.questions)


def write_cards(
    systems: Mapping[str, SystemFacts],
    imports: Path,
    runs: Mapping[str, Path],
    facts: Facts,
    out: Path,
) -> None:
    """Write a card of each published system, whose run folder is in `imports`, and of each of the
    `runs` of strategies into the folder `cards` in `out`, by name.
    """
    cards = {}
    for name, entry in systems.items():
        models = {"reader": entry.reader, "judge": entry.judge}
        cards[name] = card_of(
            imports / name,
            origin=Origin(repository=entry.repository, commit=entry.commit, licence=entry.licence),
            unknown=[*entry.unknown, *facts.unknown],
            models={role: model for role, model in models.items() if model is not None},
        )
    cards |= {name: card_of(folder) for name, folder in runs.items()}
    for name, card in cards.items():  # all are made of the same state of the code
        save_card(card, out / CARDS / f"{name}.json")


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


def draw(board: Board, systems: Mapping[str, SystemFacts], folder: Path) -> None:
    """Draw the rank of each system against the protocol, a line each with its name at both ends,
    into leaderboard.png and leaderboard.svg in `folder`.
    """
    from matplotlib.lines import Line2D  # noqa: PLC0415 - takes half a second

    columns = board.compared(COLUMNS)
    rankings = [board.overall(column) for column in columns]
    most = max(map(len, rankings))
    with figure(folder / _NAME, 0.9 + 0.29 * most, _WIDTH, {"svg.fonttype": "none"}) as drawn:
        panel = drawn.subplots()
        panel.grid(visible=False)
        for system in board.scores.names:
            at = [i for i, ranking in enumerate(rankings) if system in ranking]
            ranks = [rankings[i][system].rank for i in at]
            _line(panel, system, at, ranks, len(columns), COLOURS[systems[system].kind])
        titles = [title(column).replace(" ", "\n") for column in columns]
        panel.set_xticks(range(len(columns)), titles, fontsize=10)
        panel.set(xlim=(-0.05, len(columns) - 0.95), ylim=(most + 0.6, 0.4))
        panel.set_yticks([])
        panel.xaxis.tick_top()
        panel.tick_params(length=0)
        for side in panel.spines.values():
            side.set_visible(False)
        kinds = [kind for kind in COLOURS if any(facts.kind == kind for facts in systems.values())]
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
