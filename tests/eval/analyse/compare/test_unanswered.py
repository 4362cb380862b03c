from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main
from eval.pages.report.cards import changes_block
from eval.pages.report.runs import load as load_reported
from eval.rendering.blocks import Deck
from eval.summary.measures import choose
from tests.eval.analyse.compare.made_runs import load, record, write_run
from tests.eval.factory import write_rankings

Capture = pytest.CaptureFixture[str]

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
def test_runs_without_answers_are_compared_by_their_rankings(tmp_path, capsys, *, read):
    first = _run(tmp_path / "first", 12, read=read, scoring=["mem0"] if read else ["locomo"])
    assert main([str(first), str(_run(tmp_path / "theirs", 2))]) == 0
    *_, recall, ndcg = capsys.readouterr().out.splitlines()
    assert recall.startswith("theirs is better than first on types 1-4: recall@10 +1.000")
    assert ndcg.startswith("theirs is better than first on types 1-4: ndcg@10 +0.631")


def test_answers_come_first_where_all_runs_have_some(tmp_path):
    runs = load(*(_run(tmp_path / name, 2, read=True) for name in ("one", "two")))
    assert [measure.key for measure in choose(runs, (), None)] == ["locomo_f1", "abstained"]


def test_neither_answers_nor_rankings(tmp_path, capsys):
    one, two = _run(tmp_path / "one", 2), _run(tmp_path / "two", 2)
    (two / "rankings.jsonl").unlink()
    assert main([str(one), str(two)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "two: no rankings are recorded" in line


def _of_sessions(folder: Path) -> Path:
    """The run, as one that ranked whole sessions."""
    path = folder / "manifest.json"
    text = path.read_text(encoding="utf-8").replace('"unit": "turn"', '"unit": "session"')
    path.write_text(text, encoding="utf-8")
    sessions = [f"D{n}" for n in range(20, 0, -1)]
    lines = [
        {"id": id_, "store": id_.partition("/")[0], "selected": False}
        | {"ranking": [[session, 1.0] for session in sessions]}
        for id_ in IDS
    ]
    memories = [
        {"store": store, "id": session, "turns": [session], "tokens": 5}
        for store in "abcd"
        for session in sessions
    ]
    for name, rows in (("rankings.jsonl", lines), ("memories.jsonl", memories)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return folder


def test_whole_sessions_are_compared_by_measures_of_sessions(tmp_path, capsys):
    theirs = _of_sessions(_run(tmp_path / "theirs", 1))  # D1 is the last of 20
    for mine in (_run(tmp_path / "read", 2, read=True), _run(tmp_path / "unread", 2)):
        assert main([str(theirs), str(mine)]) == 0
        *_, recall, ndcg = capsys.readouterr().out.splitlines()
        assert f"{mine.name} is better than theirs on types 1-4: session_recall@10 +1.0" in recall
        assert f"{mine.name} is better than theirs on types 1-4: session_ndcg@10 +" in ndcg
    block = changes_block(load_reported([theirs, mine]))
    assert block is not None
    (deck,) = (part for part in block.parts if isinstance(part, Deck))
    assert deck.title == "unread against theirs: 10 of 24 gains in session_recall@10 (+1.00)"
    assert "unread has no losses against theirs in session_recall@10." in block.parts


def test_abstention_is_listed_where_it_is_recorded(tmp_path, capsys):
    unread = [str(_run(tmp_path / name, 2)) for name in ("one", "two")]
    assert main([*unread, "--score", "abstained"]) == 2
    assert "no record has the score 'abstained'; it has none; rankings" in capsys.readouterr().err
