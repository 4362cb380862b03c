"""The table as Markdown: results/leaderboard/leaderboard.md."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eval.cards.leaderboard.board import TOPS, Board, Move, Rank
from eval.cards.leaderboard.systems import Facts, SystemFacts
from eval.cards.scores import BLEU1, F1, Column
from eval.datasets.answer_key import KEYS
from eval.datasets.types import TYPES
from eval.metrics.protocols import PROTOCOLS
from eval.records.answer_key_views import ORIGINAL
from eval.rendering.blocks import Table, Value
from eval.rendering.numbers import ABSENT, number, share
from eval.rendering.page import render
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL

COMMAND = "python -m eval leaderboard"
BLEU = Column(next(iter(PROTOCOLS)), BLEU1, ORIGINAL)
Cell = Callable[[str], Value]  # of a system
UNKNOWN = "not known"


def of_protocols(key: str = ORIGINAL) -> list[Column]:
    """Return F1 under each protocol, and verdicts, under the answer key `key`."""
    return [*(Column(name, F1, key) for name in PROTOCOLS), Column("", JUDGE, key)]


def page(boards: Sequence[Board], known: Mapping[str, SystemFacts], facts: Facts) -> str:
    """Return the page; `known`: the facts about the systems of the first board."""
    systems, *strategies = boards
    text = render(
        "leaderboard.md.j2",
        package="eval.cards.leaderboard",
        command=COMMAND,
        tops=TOPS,
        systems=_tables(systems, known),
        strategies=[_tables(board, {}) for board in strategies],
        sources=_sources(systems, known),
        known=known,
        facts=facts,
    )
    return text.rstrip("\n") + "\n"


def _tables(board: Board, known: Mapping[str, SystemFacts]) -> dict[str, Any]:
    """Return the tables of a board by their names in the template."""
    columns = board.compared(of_protocols())
    ranks = (rank for column in columns for rank in board.overall(column).values())
    first = {rank.system for rank in ranks if rank.top[TOPS[-1]]}
    in_first = [system for system in _order(board) if system in first]
    keys = [move for one in columns for move in board.moves([one._replace(key=k) for k in KEYS])]
    return {
        "main": _main(board, known),
        "coverage": _coverage(board),
        "ranks": _by_column(
            board, lambda one: f"{one.rank:g} [{one.rank_low:g}, {one.rank_high:g}]"
        ),
        "top": _by_column(
            board, lambda one: " / ".join(share(one.top[k], 0) for k in TOPS), in_first
        ),
        "groups": _by_column(
            board, lambda one: f"{one.groups} [{one.best_left}, {one.worst_left}]"
        ),
        "types": _types(board),
        "answer_keys": _keys(board),
        "moves": _moves(board.moves(columns)),
        "moves_of_keys": _moves([move for move in keys if move.furthest]),
        "unmoved": sum(not move.furthest for move in keys),
    }


def _coverage(board: Board) -> list[str]:
    """Return a sentence for each column in which a system answered other questions than all did."""
    titles: dict[str, list[str]] = {}
    for column in board.compared(of_protocols()):
        ranks = board.overall(column)
        own = {name: board.mean(column, OVERALL, name) for name in ranks}
        shared = next(iter(ranks.values())).mean.n
        others = [f"{name} {mean.n:,}" for name, mean in own.items() if mean and mean.n != shared]
        if others:
            text = f"ranks are on {shared:,} questions; answered: {', '.join(others)}."
            titles.setdefault(text, []).append(title(column))
    return [f"{', '.join(names)}: {text}" for text, names in titles.items()]


def _order(board: Board) -> list[str]:
    """Return the systems by F1 of the first protocol, the highest first."""
    return list(board.overall(of_protocols()[0]))


def _table(systems: Sequence[str], columns: Mapping[str, Cell], heading: str = "system") -> str:
    """Return a table with a row for each of `systems` and the cell of each column."""
    return Table.of(systems, {heading: str, **columns}).markdown()


def _by_column(
    board: Board, text: Callable[[Rank], str], systems: Sequence[str] | None = None
) -> str:
    """Return the table of `text`, of the rank of a system, by ranked column."""

    def cell(column: Column) -> Cell:
        ranks = board.overall(column)
        return lambda system: text(ranks[system]) if system in ranks else ABSENT

    columns = {title(column): cell(column) for column in board.compared(of_protocols())}
    return _table(_order(board) if systems is None else systems, columns)


def title(column: Column) -> str:
    """Return the heading of a column."""
    return f"F1 {column.protocol}" if column.protocol else "reported judge"


def _main(board: Board, known: Mapping[str, SystemFacts]) -> str:
    def score(column: Column) -> Cell:
        ranks = board.overall(column)
        return lambda system: ranks[system].mean if system in ranks else None

    columns: dict[str, Cell] = {}
    if known:
        columns["reader"] = lambda system: known[system].reader or UNKNOWN
        columns["judge"] = lambda system: known[system].judge or "no judge"
    first = board.overall(of_protocols()[0])
    columns["n"] = lambda system: first[system].mean.n
    scores = {title(column): score(column) for column in board.compared(of_protocols())}
    judge = {name: scores.pop(name) for name in [*scores][len(PROTOCOLS) :]}
    columns |= scores | {"BLEU-1": lambda system: board.mean(BLEU, OVERALL, system)}
    return _table(_order(board), columns | judge)


def _types(board: Board) -> str:
    first = of_protocols()[0]

    def mean(type_: str) -> Cell:
        return lambda system: board.mean(first, type_, system)

    def count(system: str) -> int:
        overall = board.mean(first, OVERALL, system)
        return overall.n if overall else 0

    columns = {type_: mean(type_) for type_ in (*TYPES.values(), OVERALL)}
    return _table(_order(board), {**columns, "n": count})


def _keys(board: Board) -> str:
    def cell(ranks: Mapping[str, Rank]) -> Cell:
        return lambda system: f"{number(ranks[system].mean.value)} ({ranks[system].rank:g})"

    columns = {}
    for key in KEYS:
        ranks = board.overall(Column(next(iter(PROTOCOLS)), F1, key))
        n = next(iter(ranks.values())).mean.n
        columns[f"{key}, n={n:,} (rank)"] = cell(ranks)
    return _table(_order(board), columns, "F1 locomo")


def _moves(moves: Sequence[Move]) -> str:
    return Table.of(
        moves,
        {
            "from": lambda move: _name(move, move.one),
            "to": lambda move: _name(move, move.other),
            "systems": lambda move: move.systems,
            "Spearman's rho": lambda move: number(move.rho),
            "furthest": lambda move: (
                "; ".join(f"{s} {one:g} to {two:g}" for s, one, two in move.furthest)
                or "none moves"
            ),
        },
    ).markdown()


def _name(move: Move, column: Column) -> str:
    """Return the title of a column of a move; with the answer key, where these differ."""
    return title(column) + ("" if move.one.key == move.other.key else f", {column.key}")


def _sources(board: Board, known: Mapping[str, SystemFacts]) -> str:
    def fact(name: str) -> Cell:
        return lambda system: getattr(known[system], name) or UNKNOWN

    def judge(system: str) -> str:
        runs = known[system].judge_runs
        return (known[system].judge or "none") + (f" x {runs}" if runs else "")

    columns = {name: fact(name) for name in ("repository", "commit", "licence", "reader")}
    columns |= {"judge": judge, "sha256 of the file": lambda system: known[system].sha256[:12]}
    return _table(sorted(board.scores.names), {"what": fact("what"), **columns})
