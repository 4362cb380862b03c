"""The leaderboard: means under protocols and keys, ranks on joint draws, pairs and groups."""

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from eval.cards.card.schema import load_card
from eval.cards.card.verify import verify
from eval.cards.leaderboard import __main__ as leaderboard
from eval.cards.leaderboard.__main__ import (
    command,
    draw,
    published,
    scores_of,
    strategies_of,
    write,
)
from eval.cards.leaderboard.board import Board
from eval.cards.leaderboard.page import NO_FACTS, Facts, load_facts, page
from eval.cards.scores import Column
from eval.datasets.answer_key import KEYS
from eval.datasets.files import shared_folder
from eval.datasets.reload import config_of, load_dataset_of
from eval.datasets.types import TYPES, AnswerKey, Dataset, KeyChange, Question, SourceFile
from eval.records.run import Run
from eval.records.schema import Manifest
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from tests.eval import factory

ANSWERS = shared_folder() / "locomo" / "answers"
needs_answers = pytest.mark.skipif(not ANSWERS.is_dir(), reason="no shared answers to LoCoMo here")
F1 = Column("locomo", "f1", "original")
JUDGE = Column("", "judge", "original")
FACTS = Facts(unknown=["Everything."], systems={})


def question(id_: str, category: int, change: KeyChange | None = None) -> Question:
    golds = {"": None if category == 5 else "two bees", "corrected": "nine bees"}
    gold = golds.get(change.kind if change else "")
    conversation, text = id_.partition("/")[0], f"What of {id_}?"
    return Question(id_, conversation, category, TYPES[category], text, gold, (), key_change=change)


def made_dataset(key: str, conversations: int = 6, each: int = 5) -> Dataset:
    """Types 1 to 5 in turn; the gold answers of the first two questions are wrong."""
    changes = {
        "c0/0": KeyChange("corrected", "HALLUCINATION", "two bees"),
        "c0/1": KeyChange("excluded", "AMBIGUOUS", "two bees"),
    }
    if key == "excluded":
        changes = {id_: replace(change, kind="excluded") for id_, change in changes.items()}
    questions = [
        question(id_, 1 + i % 5, None if key == "original" else changes.get(id_))
        for c in range(conversations)
        for i in range(each)
        for id_ in [f"c{c}/{i}"]
    ]
    file = SourceFile("some.json", 9, "5" * 64)
    return Dataset("some", (), tuple(questions), (file,), key=AnswerKey(key, None, None, ()))


DATASETS = {key: made_dataset(key) for key in KEYS}
DATASET = DATASETS["original"]


def a_run(
    name: str, f1: float, ids: set[str] | None = None, judge: float | None = 1.0
) -> tuple[str, Run]:
    """A run with `f1` on every question under all protocols but strict, where it has half."""
    rows = [
        factory.record(
            one.id,
            one.category,
            gold=None if one.category == 5 else "two bees",
            answer="nine bees",
            scores={"locomo_f1": f1, "mem0_f1": f1, "memos_f1": f1, "strict_f1": f1 / 2}
            | {"bleu1": f1, "judge": judge},
        )
        for one in DATASET.questions
        if ids is None or one.id in ids
    ]
    return name, factory.run_of(rows, name)


def test_each_key_and_each_protocol_score_what_they_count():
    scores = scores_of([a_run("plain", 0.5)], DATASETS)
    at = [one.id for one in DATASET.questions]
    found = {key: scores.scores[Column("mem0", "f1", key)][0] for key in KEYS}
    assert found["original"][at.index("c0/0")] == 0.5
    assert found["corrected"][at.index("c0/0")] == 1.0  # the answer is the corrected one
    assert found["corrected"][at.index("c1/0")] == 0.5
    for key in ("corrected", "excluded"):
        assert np.isnan(found[key][at.index("c0/1")])
    assert np.isnan(found["excluded"][at.index("c0/0")])
    verdicts = scores.scores[Column("", "judge", "corrected")][0]
    assert np.isnan(verdicts[at.index("c0/0")])  # given under another gold answer
    assert verdicts[at.index("c1/0")] == 1.0
    # each protocol counts its types
    board = Board.of("systems", scores, 0)
    n = len(DATASET.questions)
    for protocol, mean, counted in (("locomo", 0.5, n), ("mem0", 0.5, n - 6), ("strict", 0.25, 24)):
        found = board.mean(Column(protocol, "f1", "original"), OVERALL, "plain")
        assert found is not None
        assert found.value == pytest.approx(mean)
        assert found.n == counted
    assert board.mean(Column("mem0", "f1", "original"), "adversarial", "plain") is None


def test_other_data_and_other_keys_are_refused():
    name, run = a_run("plain", 0.5)
    other = factory.FILE | {"sha256": "6" * 64}
    data = replace(run, manifest=cast(Manifest, run.manifest | {"data": [other]}))
    with pytest.raises(InputError, match="not the files of some"):
        scores_of([(name, data)], DATASETS)
    changed = run.manifest | {"key": {**run.manifest["key"], "name": "excluded"}}
    key = replace(run, manifest=changed)
    with pytest.raises(InputError, match="--key original"):
        scores_of([(name, key)], DATASETS)


def test_ranks_are_on_the_questions_that_all_answered_and_pairs_on_those_of_both():
    some = {one.id for one in DATASET.questions if one.conversation != "c5"}
    runs = [a_run("all", 0.5), a_run("too", 0.4), a_run("some", 0.3, some)]
    runs.append(a_run("mute", 0.2, judge=None))
    board = Board.of("systems", scores_of(runs, DATASETS), 0)
    assert {one.mean.n for one in board.overall(F1).values()} == {25}
    counts = {(one.first, one.second): one.difference.n for one in board.pairs if one.column == F1}
    assert counts["all", "too"] == 30
    assert counts["all", "some"] == counts["too", "some"] == 25
    own = [board.mean(F1, OVERALL, name) for name in ("all", "some")]
    assert [one and one.n for one in own] == [30, 25]
    assert set(board.overall(JUDGE)) == {"all", "too", "some"}
    text = page([board], {name: FACTS.of(name, "0" * 64) for name in board.scores.names}, FACTS)
    assert "ranks are on 25 questions; answered: all 30, too 30, mute 30." in text
    # systems without a common question are named
    ids = [one.id for one in DATASET.questions]
    runs = [a_run("first", 0.5, set(ids[:20])), a_run("last", 0.5, set(ids[20:]))]
    with pytest.raises(InputError, match="last: no multi_hop question that all other systems"):
        Board.of("systems", scores_of(runs, DATASETS), 0)


def test_files_repeat_the_board_and_no_text(tmp_path):
    runs = [a_run("one", 0.5), a_run("two", 0.2), a_run("mute", 0.2, judge=None)]
    board = Board.of("systems", scores_of(runs, DATASETS), 0)
    assert {
        name: (one.rank, one.rank_low, one.rank_high, one.top[1])
        for name, one in board.overall(F1).items()
    } == {"one": (1, 1, 1, 1), **dict.fromkeys(("two", "mute"), (2.5, 2.5, 2.5, 0))}  # ties
    (both,) = (one for one in board.pairs if one.column == F1 and one.verdict != "better")
    assert ({both.first, both.second}, bool(both.groups)) == ({"two", "mute"}, True)
    write([board], tmp_path)
    tables = {path.stem: list(csv.DictReader(path.open())) for path in tmp_path.glob("*.csv")}
    assert set(tables) == {"scores", "ranks", "groups"}
    (found,) = (
        row
        for row in tables["ranks"]
        if (row["protocol"], row["measure"], row["key"]) == F1 and row["type"] == OVERALL
        if row["system"] == "two"
    )
    assert (found["rank"], found["top1"], found["mean"]) == ("2.5", "0.0", "0.2")
    assert {row["verdict"] for row in tables["groups"]} == {"better", "no difference shown"}
    protocols = {row["protocol"] for row in tables["scores"]}
    assert protocols == {"locomo", "mem0", "memos", "strict", ""}
    known = {name: FACTS.of(name, "0" * 64) for name in board.scores.names}
    (tmp_path / "page.md").write_text(page([board, board], known, FACTS), encoding="utf-8")
    draw(board, known, tmp_path)
    assert (tmp_path / "leaderboard.png").read_bytes().startswith(b"\x89PNG")
    contents = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not [word for word in (b"bees", b"What of") if word in contents]
    # each system at both ends, and the same picture again
    drawn = (tmp_path / "leaderboard.svg").read_text(encoding="utf-8")
    assert drawn.count(">one<") == drawn.count(">two<") == 2
    assert drawn.count(">mute (no judge)<") == 1
    draw(board, known, tmp_path)
    assert (tmp_path / "leaderboard.svg").read_text(encoding="utf-8") == drawn


def test_facts_name_each_shared_file_and_what_is_not_known(tmp_path):
    facts = load_facts()
    assert len(facts.systems) == 17
    assert all(one.repository and one.commit and one.licence for one in facts.systems.values())
    assert all([*one.unknown, *facts.unknown] for one in facts.systems.values())
    assert facts.of("mine", "0" * 64).unknown == [NO_FACTS]
    with pytest.raises(InputError, match="zep_mirix: the file has sha256 000000000000"):
        facts.of("zep_mirix", "0" * 64)
    path = tmp_path / "systems.yaml"
    path.write_text("unknown: []\nsystems: {mine: {what: x}}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"systems\.mine\.kind"):
        load_facts(path)


def test_the_newest_complete_run_with_default_settings_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = Path("results/runs")
    for folder, strategy, more, fields in (
        ("old", "bm25", "", {}),
        ("new", "bm25", "", {"started": "2026-02-01T00:00:00+00:00"}),
        ("wide", "bm25", " k=20", {"started": "2026-03-01T00:00:00+00:00"}),
        ("torn", "oracle", "", {"status": "running"}),
        ("other", "decompose", "", {}),
    ):
        given: dict[str, Any] = {"command": command(strategy) + more, **fields}
        factory.write_run(runs / folder, [factory.record()], strategy, **given)
    assert strategies_of([]) == {"bm25": runs / "new"}
    assert strategies_of(["wide"]) == {"bm25": runs / "wide"}
    with pytest.raises(InputError, match=r"old: .*new is of bm25 as well"):
        strategies_of(["new", "old"])


def test_bad_input_is_named(tmp_path, said, monkeypatch):
    assert "--seed: -1; use" in said(leaderboard.main, "--seed", "-1", "--out", tmp_path, code=2)
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"no file of answers \(\.jsonl, \.json, \.csv\)"):
        published(tmp_path, DATASET, FACTS, tmp_path / "runs")
    asked = load_dataset_of(config_of("sample", "original", None))
    first = asked.questions[0]
    row = {"sample_id": first.conversation, "question": first.text, "prediction": "two bees"}
    line = json.dumps(row).encode() + b"\n"
    (tmp_path / "mine.jsonl").write_bytes(line)
    (tmp_path / "mine.jsonl.gz").write_bytes(gzip.compress(line))
    with pytest.raises(InputError, match=r"mine\.jsonl\.gz: another file has the name mine"):
        published(tmp_path, asked, FACTS, tmp_path / "runs")
    (tmp_path / "mine.jsonl.gz").unlink()
    (found,) = published(tmp_path, asked, FACTS, tmp_path / "again").items()
    assert (found[0], found[1].kind) == ("mine", "not stated")
    monkeypatch.setattr(leaderboard, "DATASET", "sample")
    given = ("--answers", tmp_path, "--out", tmp_path / "out")
    assert "has one file of answers" in said(leaderboard.main, *given, code=2)


@pytest.mark.slow
@needs_answers
def test_two_published_systems(tmp_path, monkeypatch, capsys):
    """In a folder without runs: a table of one board, whose cards verify."""
    monkeypatch.chdir(tmp_path)
    answers, out = tmp_path / "answers", tmp_path / "out"
    answers.mkdir()
    names = ("mirix_run1", "automem_e2e")
    for name in names:
        path = ANSWERS / f"{name}.jsonl.gz"
        (answers / path.name).write_bytes(path.read_bytes())
    given = ["--answers", str(answers), "--out", str(out), "--pictures", str(out)]
    assert leaderboard.main(given) == 0
    assert f"\nwritten: {out}, {out}/leaderboard.png and .svg\n" in capsys.readouterr().out
    found = {
        row["system"]: row
        for row in csv.DictReader((out / "scores.csv").open())
        if (row["protocol"], row["measure"], row["key"]) == ("strict", "f1", "corrected")
        if row["type"] == OVERALL
    }
    for name in names:
        card = load_card(out / "cards" / f"{name}.json")
        assert card.origin is not None
        assert card.origin.commit
        assert card.unknown
        assert verify(card, answers=answers / f"{name}.jsonl.gz").differences == []
        scores = {one.identity: one.mean for one in card.scores}
        same = float(found[name]["mean"])
        assert scores["corrected", "strict", OVERALL, "f1"] == pytest.approx(same, abs=1e-4)
