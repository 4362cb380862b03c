"""Ranks on joint draws, pairs of systems, and groups without a difference shown."""

import numpy as np
import pytest

from eval.cards.leaderboard.board import Board, Pair, groups_of, ranked, shares
from eval.cards.scores import Column, Scores
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.metrics.stats.paired import permutation_test, permutation_tests

F1 = Column("locomo", "f1", "original")
JUDGE = Column("", "judge", "original")


def board_of(names: str, values: np.ndarray, verdicts: np.ndarray | None = None) -> Board:
    """The board of systems with one-letter names on questions of two types in 6 conversations."""
    count = values.shape[1]
    types = np.array([("single_hop", "temporal")[i % 2] for i in range(count)])
    conversations = np.array([f"c{6 * i // count}" for i in range(count)])
    scores = {F1: values} | ({} if verdicts is None else {JUDGE: verdicts})
    return Board.of("systems", Scores(tuple(names), types, conversations, scores), 0)


def test_shares_of_places_sum_to_the_places_also_with_ties():
    drawn = np.array([[3.0, 3.0, 1.0, 0.0], [1.0, 2.0, 2.0, 2.0], [0.1 + 0.2, 0.3, 0.0, 0.0]])
    for places in (1, 2, 3, 4):
        assert shares(drawn, places).sum() == pytest.approx(places)
    assert shares(drawn, 1) == pytest.approx([1 / 3, (0.5 + 1 / 3 + 0.5) / 3, 1 / 9, 1 / 9])
    assert ranked(drawn).tolist() == [[1.5, 1.5, 3, 4], [4, 2, 2, 2], [1.5, 1.5, 3.5, 3.5]]
    # A system that is better by the same on every question is better in every resample.
    values = np.random.default_rng(0).random((1, 30)).repeat(2, axis=0)
    values[1] += 1e-6
    drawn = ClusterBootstrap([f"c{i // 5}" for i in range(30)], 0).sums(values.T)
    assert len(drawn) == 1000
    assert shares(drawn, 1).tolist() == [0, 1]
    assert drawn[:, 0].std() > 0


def test_ranks_of_a_board_sum_properly_and_follow_the_means():
    random = np.random.default_rng(0).random((6, 30))
    board = board_of("abcdef", (random + 0.1 * np.arange(6)[:, np.newaxis]) / 2)
    for type_ in ("single_hop", "temporal", "overall"):
        of_type = [one for one in board.ranks if one.type == type_]
        assert sum(one.rank for one in of_type) == 21
        for k in (1, 3, 5):
            assert sum(one.top[k] for one in of_type) == pytest.approx(k)
        by_mean = sorted(of_type, key=lambda one: -one.mean.value)
        assert [one.rank for one in by_mean] == [1, 2, 3, 4, 5, 6]
        assert all(one.rank_low <= one.rank_high for one in of_type)


def test_groups_are_the_largest_without_a_difference_shown():
    shown, names = {("a", "c"), ("a", "d"), ("b", "d")}, "abcd"
    pairs = [
        Pair(F1, x, y, Interval(0, 0, 0), 1, "better" if (x, y) in shown else "no difference shown")
        for i, x in enumerate(names)
        for y in names[i + 1 :]
    ]
    assert groups_of(names, pairs) == {"a": ("a", "b"), "b": ("b", "c"), "c": ("c", "d")}


def test_a_difference_on_every_question_is_shown_and_noise_is_not():
    noise = np.random.default_rng(1).random((2, 60))
    board = board_of("boc", np.vstack([noise[0] + 0.5, noise]) / 2)
    ranks, by_pair = board.overall(F1), {(one.first, one.second): one for one in board.pairs}
    assert ranks["b"].groups not in (ranks["o"].groups, "")
    (both,) = (one.groups for one in board.pairs if {one.first, one.second} == {"o", "c"})
    assert both == ranks["o"].groups
    left = [(ranks[name].best_left, ranks[name].worst_left) for name in "bc"]
    assert left == [(1, 1), (2, 3)]
    assert {one.groups for one in board.ranks if one.type != "overall"} == {""}
    assert by_pair["b", "o"].verdict == "better"
    assert by_pair["b", "o"].difference.value == pytest.approx(0.25)
    # each pair has the p of its own permutation test
    differences = np.random.default_rng(2).normal(0.05, 0.3, (3, 40))
    together = permutation_tests(differences, 7)
    assert together == [permutation_test(row.tolist(), 7) for row in differences]
    assert permutation_tests(np.zeros((2, 4)), 0) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("other", "systems", "rho", "furthest"),
    [
        # a move is between the systems of both columns
        ([0.0, np.nan, 1.0], 2, -1, {("a", 1.0, 2.0), ("c", 2.0, 1.0)}),
        ([0.5, np.nan, 0.2], 2, 1, set()),
        ([0.5, np.nan, 0.5], 2, np.nan, {("a", 1.0, 1.5), ("c", 2.0, 1.5)}),
    ],
)
def test_ranks_move_between_two_columns(other, systems, rho, furthest):
    values = np.array([[0.9, 0.8, 0.7], [0.1, 0.9, 0.2], [0.5, 0.4, 0.6]]).repeat(10, axis=1)
    verdicts = np.array([other]).T.repeat(30, axis=1)
    (move,) = board_of("abc", values, verdicts).moves([F1, JUDGE])
    assert move.systems == systems
    assert move.rho == pytest.approx(rho, nan_ok=True)
    assert set(move.furthest) == furthest
