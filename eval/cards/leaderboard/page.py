"""The page leaderboard.md: facts about systems, and tables of their means, ranks and groups."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from eval.cards.card.schema import Strict
from eval.cards.leaderboard.board import TOPS, Board, Move, Rank
from eval.cards.scores import BLEU1, F1, Column
from eval.datasets.answer_key import KEYS
from eval.datasets.types import TYPES
from eval.metrics.protocols import PROTOCOLS
from eval.records.answer_key_views import ORIGINAL
from eval.rendering.blocks import Table, Value
from eval.rendering.numbers import number, share
from eval.rendering.page import render
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, problems
from memsys.core.places import SHIPPED
from memsys.core.yaml_text import load_yaml

COMMAND = "python -m eval leaderboard"
COLUMNS = (*(Column(name, F1, ORIGINAL) for name in PROTOCOLS), Column("", JUDGE, ORIGINAL))
BLEU = Column(next(iter(PROTOCOLS)), BLEU1, ORIGINAL)
Cell = Callable[[str], Value]  # of a system
UNKNOWN = "not known"
FOLDER = SHIPPED / "results" / "leaderboard"
FACTS = FOLDER / "systems.yaml"
NO_FACTS = "Source, reader, judge and licence: systems.yaml has no entry of this system."
Kind = Literal["memory", "retrieval", "full context", "written to be wrong", "not stated"]


class SystemFacts(Strict):
    """One file of answers; None for what is not known, and `unknown` says so in sentences.

    `sha256`: of the file that was scored. `judge_runs`: verdicts for each answer, of which the file
    has the majority.
    """

    what: str
    kind: Kind
    repository: str | None
    commit: str | None
    licence: str | None
    reader: str | None
    judge: str | None
    judge_runs: int | None = None
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    unknown: list[str]


class Facts(Strict):
    """Facts by system; `unknown` is unknown of every one."""

    unknown: list[str]
    systems: Mapping[str, SystemFacts]

    def of(self, name: str, sha256: str) -> SystemFacts:
        """Return the facts about the file of `name`, which has this hash.

        A system without an entry has facts without any content. Raises InputError where the entry
        is about another file.
        """
        facts = self.systems.get(name)
        if facts is None:
            nothing = dict.fromkeys(("repository", "commit", "licence", "reader", "judge"))
            return SystemFacts(
                what=name, kind="not stated", sha256=sha256, unknown=[NO_FACTS], **nothing
            )
        if facts.sha256 != sha256:
            raise InputError(
                f"{name}: the file has sha256 {sha256[:12]}..., and {FACTS.name} describes "
                f"{facts.sha256[:12]}...; rename the file, or correct the entry"
            )
        return facts


def load_facts(path: Path = FACTS) -> Facts:
    """Load and validate the file. Raises InputError naming file and field."""
    with problems(path, "; correct it"):
        return Facts.model_validate(load_yaml(path))


def page(boards: Sequence[Board], by_system: Mapping[str, SystemFacts], facts: Facts) -> str:
    """Return the page; `by_system`: the facts about the systems of the first board."""
    systems, *strategies = boards
    text = render(
        "leaderboard.md.j2",
        package="eval.cards.leaderboard",
        command=COMMAND,
        tops=TOPS,
        systems=_tables(systems, by_system),
        strategies=[_tables(board, {}) for board in strategies],
        sources=_sources(systems, by_system),
        by_system=by_system,
        facts=facts,
    )
    return text.rstrip("\n") + "\n"


def _tables(board: Board, by_system: Mapping[str, SystemFacts]) -> dict[str, Any]:
    """Return the tables of a board by their names in the template."""
    columns = board.compared(COLUMNS)
    ranks = (rank for column in columns for rank in board.overall(column).values())
    first = {rank.system for rank in ranks if rank.top[TOPS[-1]]}
    in_first = [system for system in _order(board) if system in first]
    keys = [
        move for column in columns for move in board.moves([column._replace(key=k) for k in KEYS])
    ]
    return {
        "main": _main(board, by_system),
        "coverage": _coverage(board),
        "ranks": _by_column(
            board, lambda rank: f"{rank.rank:g} [{rank.rank_low:g}, {rank.rank_high:g}]"
        ),
        "top": _by_column(
            board, lambda rank: " / ".join(share(rank.top[k], 0) for k in TOPS), in_first
        ),
        "groups": _by_column(
            board, lambda rank: f"{rank.groups} [{rank.best_left}, {rank.worst_left}]"
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
    for column in board.compared(COLUMNS):
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
    return list(board.overall(COLUMNS[0]))


def _table(systems: Sequence[str], columns: Mapping[str, Cell], heading: str = "system") -> str:
    """Return a table with a row for each of `systems` and the cell of each column."""
    return Table.of(systems, {heading: str, **columns}).markdown()


def _by_column(
    board: Board, text: Callable[[Rank], str], systems: Sequence[str] | None = None
) -> str:
    """Return the table of `text`, of the rank of a system, by ranked column."""
    return _table(_order(board) if systems is None else systems, _cells(board, text))


def _cells(board: Board, value: Callable[[Rank], Value]) -> dict[str, Cell]:
    """Return a cell with the `value` of a system's rank for each ranked column, by its title."""

    def cell(column: Column) -> Cell:
        ranks = board.overall(column)
        return lambda system: value(ranks[system]) if system in ranks else None

    return {title(column): cell(column) for column in board.compared(COLUMNS)}


def title(column: Column) -> str:
    """Return the heading of a column."""
    return f"F1 {column.protocol}" if column.protocol else "reported judge"


def _main(board: Board, by_system: Mapping[str, SystemFacts]) -> str:
    columns: dict[str, Cell] = {}
    if by_system:
        columns["reader"] = lambda system: by_system[system].reader or UNKNOWN
        columns["judge"] = lambda system: by_system[system].judge or "no judge"
    first = board.overall(COLUMNS[0])
    columns["n"] = lambda system: first[system].mean.n
    scores = _cells(board, lambda rank: rank.mean)
    judge = {name: scores.pop(name) for name in [*scores][len(PROTOCOLS) :]}
    columns |= scores | {"BLEU-1": lambda system: board.mean(BLEU, OVERALL, system)}
    return _table(_order(board), columns | judge)


def _types(board: Board) -> str:
    first = COLUMNS[0]

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
                "; ".join(f"{s} {old:g} to {new:g}" for s, old, new in move.furthest)
                or "none moves"
            ),
        },
    ).markdown()


def _name(move: Move, column: Column) -> str:
    """Return the title of a column of a move; with the answer key, where these differ."""
    return title(column) + ("" if move.one.key == move.other.key else f", {column.key}")


def _sources(board: Board, by_system: Mapping[str, SystemFacts]) -> str:
    def fact(name: str) -> Cell:
        return lambda system: getattr(by_system[system], name) or UNKNOWN

    def judge(system: str) -> str:
        runs = by_system[system].judge_runs
        return (by_system[system].judge or "none") + (f" x {runs}" if runs else "")

    columns = {name: fact(name) for name in ("repository", "commit", "licence", "reader")}
    columns |= {"judge": judge, "sha256 of the file": lambda system: by_system[system].sha256[:12]}
    return _table(sorted(board.scores.names), {"what": fact("what"), **columns})
