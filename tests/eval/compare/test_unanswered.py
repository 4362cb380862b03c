from __future__ import annotations

from pathlib import Path

import pytest

from eval.compare.__main__ import main
from eval.summary.measures import choose
from tests.eval.compare.made_runs import load, record, write_run
from tests.eval.factory import write_rankings

IDS = [f"{conversation}/{n}" for conversation in "abcd" for n in range(6)]


def _run(folder: Path, place: int, *, read: bool = False, **more: object) -> Path:
    """A run that ranked the evidence at `place` and, unless `read`, did not answer."""
    rows = [record(*id_.split("/"), 4, 0.5, evidence=["D1:1"]) for id_ in IDS]
    for row in rows:
        row["scores"] = {"locomo_f1": 0.5 if read else None}
        row["answer"] = "answer" if read else None
        row["abstained"] = False if read else None
    turns = [f"D9:{n}" for n in range(20)]
    turns[place - 1] = "D1:1"
    written = write_run(folder, rows, folder.name, **more)
    return write_rankings(written, dict.fromkeys(IDS, turns), depth=20)


@pytest.mark.parametrize("read", [False, True])
def test_runs_without_answers_are_compared_by_their_rankings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, read: bool
):
    first = _run(tmp_path / "first", 12, read=read, scoring=["mem0"] if read else ["locomo"])
    assert main([str(first), str(_run(tmp_path / "theirs", 2))]) == 0
    *_, recall, ndcg = capsys.readouterr().out.splitlines()
    assert recall.startswith("theirs is better than first on types 1-4: recall@10 +1.000")
    assert ndcg.startswith("theirs is better than first on types 1-4: ndcg@10 +0.631")


def test_answers_come_first_where_all_runs_have_some(tmp_path: Path):
    runs = load(*(_run(tmp_path / name, 2, read=True) for name in ("one", "two")))
    assert [measure.key for measure in choose(runs, (), None)] == ["locomo_f1", "abstained"]


def test_neither_answers_nor_rankings(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    one, two = _run(tmp_path / "one", 2), _run(tmp_path / "two", 2)
    (two / "rankings.jsonl").unlink()
    assert main([str(one), str(two)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "two: no rankings are recorded" in line
