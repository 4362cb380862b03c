from __future__ import annotations

from pathlib import Path

import pytest

from eval.diagnose import __main__ as diagnose
from eval.diagnose.missed_evidence import missed_by_rank
from eval.diagnose.retrieval_vs_reading import Marking, retrieval_and_reading
from eval.records.run import load_run
from eval.rendering.blocks import Table
from tests.eval.diagnose.made_runs import record, write_run
from tests.eval.factory import write_rankings

RANKED = [f"D1:{n}" for n in range(1, 101)]
MARKING = Marking("locomo_f1", 0.5)


def _row(id_: str, evidence: list[str], read: list[str], **more: object) -> dict[str, object]:
    found = {"direct": [turn for turn in evidence if turn in read], "expanded": []}
    return record(id_, **{"evidence": evidence, "evidence_found": found, **more})


def _counts(folder: Path) -> tuple[list[str], list[list[str]]]:
    table = missed_by_rank(load_run(folder))[-1]
    assert isinstance(table, Table)
    return [*table.header], [[*row] for row in table.rows]


def test_missed_turns_are_counted_by_rank_and_type(tmp_path):
    rows = [
        _row("a/0", ["D1:4", "D1:10", "D1:11", "D1:20"], ["D1:4"]),
        _row("a/1", ["D1:21", "D1:100", "D9:1"], [], category=1),
        _row("a/2", ["D1:12"], [], category=5),
    ]
    folder = write_run(tmp_path / "run", rows)
    write_rankings(folder, {row["id"]: RANKED for row in rows})
    header, counts = _counts(folder)
    assert header[1:] == [
        *("turns", "rank 1-10", "rank 11-20", "rank 21-50", "rank 51-100", "not within 100")
    ]
    assert counts == [
        ["multi_hop", "3", "0", "0", "1", "1", "1"],
        ["single_hop", "3", "1", "2", "0", "0", "0"],
        ["overall (types 1-4)", "6", "1", "2", "1", "1", "1"],
    ]


def test_ranks_beyond_the_recorded_depth_are_not_guessed(tmp_path):
    folder = write_run(tmp_path / "run", [_row("a/0", ["D1:9", "D1:12", "D1:16"], [])])
    write_rankings(folder, {"a/0": RANKED[:15]}, depth=15)
    header, (_, overall) = _counts(folder)
    assert header[2:] == ["rank 1-10", "rank 11-15", "not within 15"]
    assert overall[1:] == ["3", "1", "1", "1"]


@pytest.mark.parametrize("selected", [True, False])
def test_memories_without_an_order_have_no_ranks(tmp_path, *, selected):
    folder = write_run(tmp_path / "run", [_row("a/0", ["D1:12"], [])])
    write_rankings(folder, {"a/0": RANKED}, selected=selected)
    assert bool(missed_by_rank(load_run(folder))) is not selected


def test_the_table_follows_the_points_lost(tmp_path):
    folder = write_run(tmp_path / "run", [_row("a/0", ["D1:12"], [])])
    before = retrieval_and_reading(load_run(folder), MARKING).parts
    write_rankings(folder, {"a/0": RANKED})
    run = load_run(folder)
    assert retrieval_and_reading(run, MARKING).parts == [*before, *missed_by_rank(run)]


def test_a_ranking_without_answers_has_the_ranks_of_all_evidence(tmp_path, capsys):
    unread = {"answer": None, "abstained": None, "retrieved": None, "evidence_found": None}
    row = _row("a/0", ["D1:4", "D1:12"], [], scores={}, **unread)
    folder = write_rankings(write_run(tmp_path / "run", [row]), {"a/0": RANKED})
    assert diagnose.main([str(folder)]) == 0
    out = capsys.readouterr().out
    assert "has no answers" in out
    assert "Abstention" not in out
    _, (_, overall) = _counts(folder)
    assert overall[1:4] == ["2", "1", "1"]
