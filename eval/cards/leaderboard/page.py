"""The table as Markdown: results/leaderboard/leaderboard.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from eval.cards.leaderboard.board import Board, Move
from eval.cards.leaderboard.facts import Facts, SystemFacts
from eval.cards.leaderboard.pairs import Pairs
from eval.cards.leaderboard.ranks import TOPS, Rank
from eval.cards.leaderboard.scores import BLEU1, F1, ORIGINAL, Column
from eval.datasets.answer_key import KEYS
from eval.datasets.types import TYPES
from eval.metrics.protocols import PROTOCOLS
from eval.rendering.numbers import ABSENT, interval, number, share
from eval.rendering.terminal import markdown
from eval.summary.measures import JUDGE
from eval.summary.summarise import OVERALL

COMMAND = "python -m eval leaderboard"
BLEU = Column(next(iter(PROTOCOLS)), BLEU1, ORIGINAL)
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
    keys = [move for one in shown for move in board.moves([one._replace(key=k) for k in KEYS])]
    return [
        *_coverage(board, shown),
        "### Ranks",
        markdown(*_ranks(board, shown)),
        f"### Share of resamples in the first {', '.join(map(str, TOPS))} places",
        markdown(*_tops(board, shown)),
        "Systems that are not here are in the first five places in no resample.",
        "### No difference shown",
        "Two systems with a common letter have no difference shown (Holm over all pairs). In "
        "brackets: the ranks that the differences shown leave.",
        markdown(*_letters(board, shown)),
        "### F1 of LoCoMo's protocol by type",
        "On each system's own questions.",
        markdown(*_types(board)),
        "### Answer keys",
        markdown(*_keys(board)),
        "### How ranks move",
        markdown(*_moves(board.moves(shown))),
        markdown(*_moves([move for move in keys if move.furthest])),
        f"Between the other {sum(not move.furthest for move in keys)} pairs of answer keys no "
        "system changes its rank.",
    ]


def _coverage(board: Board, columns: Sequence[Column]) -> list[str]:
    """Return a sentence for each column in which a system answered other questions than all did."""
    found: dict[str, list[str]] = {}
    for column in columns:
        own = {name: board.mean(column, OVERALL, name) for name in board.overall(column)}
        counts = {name: mean.n for name, mean in own.items() if mean is not None}
        ranked = _n(list(board.overall(column).values()))
        others = [f"{name} {n:,}" for name, n in counts.items() if n != ranked]
        if others:
            text = f"ranks are on {ranked:,} questions; answered: {', '.join(others)}."
            found.setdefault(text, []).append(title(column))
    return [f"{', '.join(names)}: {text}" for text, names in found.items()]


def _order(board: Board) -> list[str]:
    """Return the systems by F1 of the first protocol, the highest first."""
    return list(board.overall(of_protocols()[0]))


def title(column: Column) -> str:
    """Return the heading of a column."""
    return f"F1 {column.protocol}" if column.protocol else "reported judge"


def _main(board: Board, known: Mapping[str, SystemFacts]) -> Cells:
    columns = [column for column in of_protocols() if column in board.pairs]
    rows = []
    for system in _order(board):
        one = known.get(system)
        facts = [] if one is None else [one.reader or "not known", one.judge or "no judge"]
        ranked = [board.overall(column).get(system) for column in columns]
        cells = [interval(None if found is None else found.mean) for found in ranked]
        cells.insert(len(PROTOCOLS), interval(board.mean(BLEU, OVERALL, system)))
        rows.append([system, *facts, str(_n(ranked)), *cells])
    header = ["system", *(["reader", "judge"] if known else []), "n"]
    titles = [title(column) for column in columns]
    return [*header, *titles[: len(PROTOCOLS)], "BLEU-1", *titles[len(PROTOCOLS) :]], rows


def _n(ranked: Sequence[Rank | None]) -> int:
    return next((one.mean.n for one in ranked if one is not None), 0)


def _ranks(board: Board, columns: Sequence[Column]) -> Cells:
    rows = [
        [system, *(_rank(board.overall(column).get(system)) for column in columns)]
        for system in _order(board)
    ]
    return ["system", *map(title, columns)], rows


def _rank(found: Rank | None) -> str:
    if found is None:
        return ABSENT
    return f"{found.rank:g} [{found.low:g}, {found.high:g}]"


def _tops(board: Board, columns: Sequence[Column]) -> Cells:
    rows = []
    for system in _order(board):
        found = [board.overall(column).get(system) for column in columns]
        if any(one is not None and one.top[TOPS[-1]] for one in found):
            rows.append([system, *map(_top, found)])
    return ["system", *map(title, columns)], rows


def _top(found: Rank | None) -> str:
    return " / ".join(share(found.top[k], 0) for k in TOPS) if found else ABSENT


def _letters(board: Board, columns: Sequence[Column]) -> Cells:
    rows = [
        [system, *(_letter(board.pairs[column], system) for column in columns)]
        for system in _order(board)
    ]
    return ["system", *map(title, columns)], rows


def _letter(found: Pairs, system: str) -> str:
    if system not in found.systems:
        return ABSENT
    best, worst = found.possible(system)
    return f"{found.letters(system)} [{best}, {worst}]"


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
        return title(move.one), title(move.other)
    one, other = (f"{title(column)}, {column.key}" for column in (move.one, move.other))
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
