"""The simulation that docs/statistics.md reports."""

from __future__ import annotations

from eval.studies.coverage import (
    FEW,
    WORLDS,
    Coverage,
    SimulatedWorld,
    coverage,
    coverage_of_few,
    main,
)

SMALL = SimulatedWorld(conversations=5, questions=10, chance=0.3, spread=0.0)


def test_follows_from_its_seed():
    first, again = (coverage(SMALL, trials=30, seed=2) for _ in range(2))
    assert first == again
    assert all(0.7 < share <= 1 for share in first)
    # nobody right: an interval that contains 0
    assert coverage(SMALL._replace(chance=0.0), trials=3, seed=0) == Coverage(1.0, 1.0, 1.0)


def test_few_conversations_cover_their_own_score_and_not_that_of_all():
    for conversations in (2, 4):
        world = SimulatedWorld(conversations, questions=40, chance=0.4, spread=0.2)
        found = coverage_of_few(world, trials=800, seed=0)
        assert 0.93 <= found.these <= 0.97
        assert found.all < 0.75


def test_prints_a_row_for_each_world(capsys):
    assert main(["--trials", "1"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows if row and row[0].isdigit()] == [
        [str(world.conversations), str(world.questions), f"{world.spread:.2f}"]
        for world in (*WORLDS, *FEW)
    ]
