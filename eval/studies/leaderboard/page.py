"""The table as Markdown: results/leaderboard/leaderboard.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from eval.datasets.types import TYPES
from eval.metrics.protocols import PROTOCOLS
from eval.rendering.numbers import ABSENT, interval, number, share
from eval.rendering.tables import markdown
from eval.studies.leaderboard.board import Board, Move
from eval.studies.leaderboard.facts import Facts, SystemFacts
from eval.studies.leaderboard.ranks import TOPS, Rank
from eval.studies.leaderboard.scores import F1, KEYS, ORIGINAL, Column
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL

COMMAND = "python -m eval.studies.leaderboard"
VERDICTS = Column("", JUDGE, ORIGINAL)
Cells = tuple[list[str], list[list[str]]]


def of_protocols(key: str = ORIGINAL) -> list[Column]:
    """Return F1 under each protocol, and verdicts, under the answer key `key`."""
    return [*(Column(name, F1, key) for name in PROTOCOLS), Column("", JUDGE, key)]


def page(boards: Sequence[Board], known: Mapping[str, SystemFacts], facts: Facts) -> str:
    """Return the page; `known`: the facts about the systems of the first board."""
    systems, *strategies = boards
    parts = [
        "# Leaderboard of LoCoMo",
        f"Made by `{COMMAND}`; docs/leaderboard.md explains it. Scores are 0 to 1 with 95% "
        "intervals over conversations. Ranks are on the questions that all systems of a table "
        "answered; in brackets: 95% of the resamples.",
        "## Published systems",
        markdown(*_main(systems, known)),
        "The judge is the one its publisher used: verdicts of different judges, and of different "
        "prompts to one judge, are not comparable.",
        *_sections(systems),
        "## Sources",
        markdown(*_sources(systems, known)),
        "Not known of any: " + " ".join(facts.unknown),
        *[f"- {name}: {' '.join(one.unknown)}" for name, one in known.items() if one.unknown],
    ]
    for board in strategies:
        parts += [
            "## Strategies of this project",
            "All have the keyless extractive reader, which copies words of the context: these "
            "scores are not comparable with those of systems that have an LLM as reader.",
            markdown(*_main(board, {})),
            *_sections(board),
        ]
    return "\n\n".join(parts).replace("\n\n- ", "\n- ") + "\n"


def _sections(board: Board) -> list[str]:
    """Return the blocks on ranks, groups, types, keys and moves."""
    shown = [column for column in of_protocols() if column in board.pairs]
    return [
        "### Ranks",
        markdown(*_ranks(board, shown)),
        f"### Share of resamples in the first {', '.join(map(str, TOPS))} places",
        markdown(*_tops(board, shown)),
        "### No difference shown",
        "Two systems with a common letter have no difference shown (Holm over all pairs).",
        markdown(*_letters(board, shown)),
        "### F1 of LoCoMo's protocol by type",
        markdown(*_types(board)),
        "### Answer keys",
        markdown(*_keys(board)),
        "### How ranks move",
        markdown(*_moves(board.moves(shown))),
        *(
            markdown(*_moves(board.moves([one._replace(key=key) for key in KEYS])))
            for one in shown
        ),
    ]


def _order(board: Board) -> list[str]:
    """Return the systems by F1 of the first protocol, the highest first."""
    return list(board.overall(of_protocols()[0]))


def _title(column: Column) -> str:
    return f"F1 {column.protocol}" if column.protocol else "reported judge"


def _main(board: Board, known: Mapping[str, SystemFacts]) -> Cells:
    columns = [column for column in of_protocols() if column in board.pairs]
    rows = []
    for system in _order(board):
        one = known.get(system)
        facts = [] if one is None else [one.reader or "not known", one.judge or "no judge"]
        ranked = [board.overall(column).get(system) for column in columns]
        cells = [interval(found and found.mean) for found in ranked]
        rows.append([system, *facts, str(_n(ranked)), *cells])
    header = ["system", *(["reader", "judge"] if known else []), "n"]
    return [*header, *map(_title, columns)], rows


def _n(ranked: Sequence[Rank | None]) -> int:
    return next((one.mean.n for one in ranked if one is not None), 0)


def _ranks(board: Board, columns: Sequence[Column]) -> Cells:
    rows = [
        [system, *(_rank(board.overall(column).get(system)) for column in columns)]
        for system in _order(board)
    ]
    return ["system", *map(_title, columns)], rows


def _rank(found: Rank | None) -> str:
    if found is None:
        return ABSENT
    return f"{found.rank:g} [{found.low:g}, {found.high:g}]"


def _tops(board: Board, columns: Sequence[Column]) -> Cells:
    rows = []
    for system in _order(board):
        cells = []
        for column in columns:
            found = board.overall(column).get(system)
            cells.append(" / ".join(share(found.top[k], 0) for k in TOPS) if found else ABSENT)
        rows.append([system, *cells])
    return ["system", *map(_title, columns)], rows


def _letters(board: Board, columns: Sequence[Column]) -> Cells:
    rows = [
        [system, *(board.pairs[column].letters(system) or ABSENT for column in columns)]
        for system in _order(board)
    ]
    return ["system", *map(_title, columns)], rows


def _types(board: Board) -> Cells:
    column = of_protocols()[0]
    types = [*TYPES.values(), OVERALL]
    rows = []
    for system in _order(board):
        found = [board.mean(column, type_, system) for type_ in types]
        rows.append([system, *map(interval, found), str(found[-1].n if found[-1] else 0)])
    return ["system", *types, "n"], rows


def _keys(board: Board) -> Cells:
    first = of_protocols()[0]
    by_key = {key: board.overall(first._replace(key=key)) for key in KEYS}
    rows = [
        [
            system,
            *(
                f"{number(ranking[system].mean.value)} ({ranking[system].rank:g})"
                for ranking in by_key.values()
            ),
        ]
        for system in _order(board)
    ]
    counts = [next(iter(ranking.values())).mean.n for ranking in by_key.values()]
    titles = [f"{key}, n={n:,} (rank)" for key, n in zip(KEYS, counts, strict=True)]
    return ["F1 locomo", *titles], rows


def _moves(moves: Sequence[Move]) -> Cells:
    rows = []
    for move in moves:
        furthest = "; ".join(f"{s} {one:g} to {two:g}" for s, one, two in move.furthest)
        rho = ABSENT if math.isnan(move.rho) else f"{move.rho:.3f}"
        rows.append([*_names(move), str(move.systems), rho, furthest or "none moves"])
    return ["from", "to", "systems", "Spearman's rho", "furthest"], rows


def _names(move: Move) -> tuple[str, str]:
    if move.one.key == move.other.key:
        return _title(move.one), _title(move.other)
    one, other = (f"{_title(column)}, {column.key}" for column in (move.one, move.other))
    return one, other


def _sources(board: Board, known: Mapping[str, SystemFacts]) -> Cells:
    rows = []
    for name in sorted(board.scores.names):
        one = known[name]
        runs = f" x {one.judge_runs}" if one.judge_runs else ""
        rows.append(
            [
                name,
                one.what,
                one.repository or "not known",
                one.commit or "not known",
                one.licence or "not known",
                one.reader or "not known",
                (one.judge or "none") + runs,
                one.sha256[:12],
            ]
        )
    header = ["system", "what", "repository", "commit", "licence", "reader", "judge"]
    return [*header, "sha256 of the file"], rows
