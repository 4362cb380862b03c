"""Runs compared by measures of their rankings, those without answers among them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.compare.__main__ import main
from eval.metrics.retrieval.registry import parse
from eval.pages.report.cards import changes_block
from eval.pages.report.runs import load as load_reported
from eval.rendering.blocks import Deck
from eval.summary import retrieval
from eval.summary.contrast import contrast
from eval.summary.measures import choose, share
from memsys.core.errors import InputError
from tests.eval import factory
from tests.eval.analyse.compare.made_runs import CONVERSATIONS, load, record, write_run
from tests.eval.factory import write_rankings

Capture = pytest.CaptureFixture[str]

TURNS = [f"D{i // 5}:{i}" for i in range(30)]


def ranked(folder: Path, place: Callable[[int], int], depth: int = 30, **more: Any) -> Path:
    """A run of 12 questions in each conversation, whose evidence is at `place` in its ranking."""
    ids = [f"{conversation}/{i}" for conversation in CONVERSATIONS for i in range(12)]
    rows = [factory.record(id_, 1 + i % 4, evidence=[TURNS[0]]) for i, id_ in enumerate(ids)]
    write_run(folder, rows, folder.name)
    rankings = {}
    for i, id_ in enumerate(ids):
        ids_ = TURNS[1:]
        ids_.insert(place(i), TURNS[0])
        rankings[id_] = ids_[:depth]
    return write_rankings(folder, rankings, **{"depth": depth, **more})


def test_a_measure_of_rankings_is_compared_as_a_score(tmp_path, capsys):
    one = ranked(tmp_path / "one", lambda i: 4 if i % 3 else 20)
    other = ranked(tmp_path / "other", lambda i: 2 if i % 12 else 20)
    names = ["recall_any@5", "ndcg@10", "session_mrr", "recall@10tokens"]
    scores = [argument for name in names for argument in ("--score", name)]
    assert main([str(one), str(other), *scores]) == 0
    text = capsys.readouterr().out
    assert "other is better than one on types 1-4: recall_any@5 +0.250" in text
    assert "p (McNemar)" in text
    runs = load(one, other)
    measures = choose(runs, names, None)
    for measure, (*_, overall) in zip(
        measures,
        contrast([(measure, share(runs, measure)) for measure in measures], 0),
        strict=True,
    ):
        for run, mean in zip(runs, overall.means, strict=True):
            of_run = retrieval.by_type(run, [parse(measure.key)], 0)["overall"][measure.key]
            assert (mean.value, mean.low, mean.high) == (of_run.value, of_run.low, of_run.high)


def problem(one: Path, other: Path, name: str, capsys: Capture) -> str:
    """The line that compare prints on stderr, with exit code 2."""
    assert main([str(one), str(other), "--score", name]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_what_cannot_be_compared_is_one_line(tmp_path, capsys):
    one = ranked(tmp_path / "one", lambda i: i % 9)
    shallow = ranked(tmp_path / "shallow", lambda i: i % 9, depth=10)
    rows = [factory.record("a/1", evidence=[TURNS[0]])]
    bare = write_run(tmp_path / "bare", rows, "bare")
    assert problem(one, shallow, "recall@20", capsys).endswith(
        "shallow: depth 10: recall@20 is unknown; run it with retrieval.depth=20 or more"
    )
    assert problem(one, shallow, "mrr", capsys).endswith(
        "mrr is of the whole ranking, which is 30 deep in one and 10 in shallow; use mrr@10 or "
        "less; or use --force to compare anyway"
    )
    assert problem(bare, one, "recall@20", capsys).endswith(
        "bare: no rankings are recorded; run it again with retrieval.depth=100"
    )
    assert "did you mean recall@10?" in problem(one, shallow, "recal@10", capsys)
    assert "no record has the score 'recal'; it has abstained;" in problem(
        one, shallow, "recal", capsys
    )
    assert problem(one, shallow, "first_rank", capsys).endswith(
        "first_rank: has no value where nothing is found; use mrr instead, or the median by "
        "python -m eval retrieval RUN --measure first_rank"
    )


def test_a_measure_that_does_not_depend_on_the_depth_is_compared_across_depths(tmp_path, capsys):
    one = ranked(tmp_path / "one", lambda i: i % 9)
    shallow = ranked(tmp_path / "shallow", lambda i: i % 9, depth=10)
    for name in ("mrr@10", "r_precision", "recall@40tokens"):
        assert main([str(one), str(shallow), "--score", name]) == 0
        assert "all scores are equal" in capsys.readouterr().out


def test_a_score_of_the_records_goes_before_a_measure_of_its_name(tmp_path):
    rows = [factory.record(f"{name}/1", scores={"precision": 0.5}) for name in CONVERSATIONS]
    runs = load(*(write_run(tmp_path / name, rows, name) for name in ("one", "other")))
    (measure,) = choose(runs, ["precision"], None)
    assert measure.score(runs[0], "a/1") == 0.5
    with pytest.raises(InputError, match="no rankings are recorded"):
        choose(runs, ["ndcg@10"], None)


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
