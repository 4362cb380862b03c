"""Retrieval or reading: shares by evidence, what is lost where, and the ranks of what is missed."""

from pathlib import Path

import numpy as np
import pytest

from eval.analyse.diagnose import __main__ as diagnose
from eval.analyse.diagnose.retrieval_vs_reading import (
    LEAST,
    Marking,
    PointsLost,
    missed_by_rank,
    points_lost,
    retrieval_and_reading,
    state,
)
from eval.records.run import load_run
from eval.rendering.blocks import Table
from memsys.core.errors import InputError
from tests.eval.analyse.diagnose.made_runs import (
    imported,
    made_run,
    record,
    repeated,
    sentences,
    tables,
    values,
    write_run,
)
from tests.eval.factory import write_rankings

F1 = Marking("locomo_f1", 0.5)
RANKED = [f"D1:{n}" for n in range(1, 101)]


def some(name: str, category: int = 4) -> list[dict]:
    """10 questions: 6 with all evidence, 2 with some, 2 with none."""
    made = [(1, "ab"), (1, "ab"), (1, "ab"), (1, "ab"), (0.2, "ab"), (0, "ab")]
    made += [(0.5, "a"), (0, "b"), (0, "x"), (0, "")]
    return [
        record(f"{name}/{i}", "ab", found, f1=f1, category=category)
        for i, (f1, found) in enumerate(made)
    ]


def test_how_much_evidence_was_retrieved():
    for row, known in (
        (record("a/1", "ab", "abx"), "all"),
        (record("a/1", "ab", "a", "b"), "all"),
        (record("a/1", "ab", "", "b"), "some"),
        (record("a/1", "ab", "xyz", "q"), "none"),
        (record("a/1", "ab", ""), "none"),
        (record("a/1", "aab", "a"), "some"),
        (record("a/1", "aa", "a"), "all"),
        (record("a/1", "", "abc"), "no evidence given"),
        (imported(record("a/1", "ab")), "unknown"),
    ):
        assert state(row) == known, row


def test_share_correct_given_all_some_and_none_of_the_evidence(tmp_path):
    rows = [*some("a"), *some("b"), record("a/90", "", f1=1.0), record("a/91", "a", category=5)]
    table = tables(retrieval_and_reading(made_run(tmp_path / "run", rows), F1))[0]
    shown = [tuple(cell.partition(" [")[0] for cell in row) for row in table.rows[:5]]
    assert shown == [
        ("single_hop", "all", "12", "0.700", "0.667"),
        ("single_hop", "some", "4", "0.250", "0.500"),
        ("single_hop", "none", "4", "0.000", "0.000"),
        ("single_hop", "no evidence given", "1", "1.000", "1.000"),
        ("single_hop", "(any)", "21", "0.495", "0.524"),
    ]
    assert [row[1:] for row in table.rows[5:]] == [row[1:] for row in table.rows[:5]]
    assert {row[0] for row in table.rows[5:]} == {"overall (types 1-4)"}


def lost(rows: list[dict]) -> PointsLost | None:
    return points_lost(rows, [F1.value(row) for row in rows], seed=0)


def test_what_a_type_lost_is_split_without_rest():
    rows = [*some("a"), *some("b"), record("a/90", "", f1=1.0)]
    found = lost(rows)
    assert (found.score.n, found.whole) == (20, 12)
    parts = [found.score.value, found.retrieval.value, found.reading.value]
    assert parts == pytest.approx([0.47, 0.70 - 0.47, 1 - 0.70])


def test_overall_weighs_types_by_their_questions_not_by_what_was_found():
    easy = [record(f"a/{i}", "a", "a" * (i < 5), f1=float(i < 5), category=2) for i in range(15)]
    hard = [record(f"b/{i}", "a", "a", category=1) for i in range(5)]
    found = lost(easy + hard)
    assert found.reading.value == pytest.approx(5 / 20)  # pooled it would be 5 / 10
    assert found.retrieval.value == pytest.approx(1 - 5 / 20 - 5 / 20)
    # all read or none read has a width
    rows = repeated([record(str(i), "a", "a") for i in range(5)])
    found = lost(rows)
    assert (found.reading.value, found.reading.high) == (1.0, 1.0)
    assert 0.6 < found.reading.low < 0.8


def test_a_type_with_too_few_whole_questions_is_not_in_overall(tmp_path):
    few = [record(f"a/9{i}", "a", "a", f1=1.0, category=1) for i in range(LEAST - 1)]
    run = made_run(tmp_path / "run", [*some("a"), *some("b"), *few])
    section = retrieval_and_reading(run, F1)
    split = tables(section)[1]
    assert [row[0] for row in split.rows] == [
        *("single_hop", "single_hop", "overall (types 1-4)", "overall (types 1-4)")
    ]
    assert values(split, "overall (types 1-4)", "n", "lost in reading") == ("20", "30.0")
    assert "Neither split nor in overall: multi_hop (fewer than 5" in sentences(section)
    nothing = [record("a/1", "a", "x"), record("b/1", "a")]
    section = retrieval_and_reading(made_run(tmp_path / "nothing", nothing), F1)
    assert len(tables(section)) == 1
    assert "no type has 5 questions with all evidence" in sentences(section)


def test_intervals_of_losses_are_those_of_resampled_conversations():
    rng = np.random.default_rng(7)
    rows = []
    for name in "abcdefghij":
        level = rng.uniform(0.2, 0.8)
        for i in range(60):
            whole = rng.random() < level
            f1 = round(float(np.clip(rng.normal(0.3 + 0.4 * whole * level, 0.1), 0, 1)), 6)
            rows.append(record(f"{name}/{i}", "a", "a" * whole, f1=f1, category=1 + i % 2))
    found = lost(rows)
    names = sorted({row["conversation"] for row in rows})
    cells = np.zeros((len(names), 2, 4))  # by conversation and type: n, sum, n whole, sum of whole
    for row in rows:
        value, whole = row["scores"]["locomo_f1"], state(row) == "all"
        cells[names.index(row["conversation"]), row["category"] - 1] += (
            *(1, value, whole, whole * value),
        )
    drawn = rng.multinomial(10, np.full(10, 0.1), size=4000)
    n, total, whole_n, whole_sum = np.moveaxis(np.tensordot(drawn, cells, 1), 2, 0)
    reading = 1 - (n * whole_sum / whole_n).sum(axis=1) / n.sum(axis=1)
    retrieval = 1 - reading - total.sum(axis=1) / n.sum(axis=1)
    widen = 2.262 * np.sqrt(10 / 9)  # t of 9 degrees of freedom, as ClusterBootstrap
    for figure, resampled in ((found.reading, reading), (found.retrieval, retrieval)):
        reach = (figure.high - figure.low) / 2
        assert reach == pytest.approx(widen * resampled.std(), rel=0.1)


def test_a_verdict_of_a_judge_goes_before_the_score(tmp_path):
    rows = [
        record(f"a/{i}", "a", "a") | {"scores": {"locomo_f1": f1, "judge": judge}}
        for i, (f1, judge) in enumerate([(0.1, 1.0), (0.9, 0.0), (0.9, None)])
    ]
    assert [F1.right(row) for row in rows] == [1.0, 0.0, 1.0]
    assert Marking("locomo_f1", 0.95).right(rows[2]) == 0.0
    text = sentences(retrieval_and_reading(made_run(tmp_path / "run", rows), F1))
    assert "the judge's verdict on 2 of 3 answers, else locomo_f1 of 0.5 or more" in text
    text = sentences(retrieval_and_reading(made_run(tmp_path / "two", rows[:2]), F1))
    assert text.startswith("Correct: the judge's verdict.")


def test_imported_answers_get_no_split_and_an_unknown_score_is_refused(tmp_path):
    run = made_run(tmp_path / "run", some("a"))
    with pytest.raises(InputError, match=r"score 'bleu2'; use --score with one of locomo_f1"):
        retrieval_and_reading(run, Marking("bleu2", 0.5))
    only = made_run(tmp_path / "five", [record("a/1", "a", "a", category=5)])
    assert sentences(retrieval_and_reading(only, F1)) == "No question of types 1-4 was answered."
    rows = [imported(row) for row in some("a") + some("b")]
    section = retrieval_and_reading(made_run(tmp_path / "imported", rows), F1)
    (table,) = tables(section)
    assert [row[1] for row in table.rows] == ["unknown", "unknown"]
    assert "is unknown (imported answers)" in sentences(section)


def ranked_row(id_: str, evidence: list[str], read: list[str], **more: object) -> dict[str, object]:
    found = {"direct": [turn for turn in evidence if turn in read], "expanded": []}
    return record(id_, **{"evidence": evidence, "evidence_found": found, **more})


def counts(folder: Path) -> tuple[list[str], list[list[str]]]:
    table = missed_by_rank(load_run(folder))[-1]
    assert isinstance(table, Table)
    return [*table.header], [[*row] for row in table.rows]


def test_missed_turns_are_counted_by_rank_and_type(tmp_path):
    rows = [
        ranked_row("a/0", ["D1:4", "D1:10", "D1:11", "D1:20"], ["D1:4"]),
        ranked_row("a/1", ["D1:21", "D1:100", "D9:1"], [], category=1),
        ranked_row("a/2", ["D1:12"], [], category=5),
    ]
    folder = write_run(tmp_path / "run", rows)
    write_rankings(folder, {row["id"]: RANKED for row in rows})
    header, found = counts(folder)
    assert header[1:] == [
        *("turns", "rank 1-10", "rank 11-20", "rank 21-50", "rank 51-100", "not within 100")
    ]
    assert found == [
        ["multi_hop", "3", "0", "0", "1", "1", "1"],
        ["single_hop", "3", "1", "2", "0", "0", "0"],
        ["overall (types 1-4)", "6", "1", "2", "1", "1", "1"],
    ]
    # ranks beyond the recorded depth are not guessed
    folder = write_run(tmp_path / "short", [ranked_row("a/0", ["D1:9", "D1:12", "D1:16"], [])])
    write_rankings(folder, {"a/0": RANKED[:15]}, depth=15)
    header, (_, overall) = counts(folder)
    assert header[2:] == ["rank 1-10", "rank 11-15", "not within 15"]
    assert overall[1:] == ["3", "1", "1", "1"]


def test_the_table_follows_the_points_lost_where_memories_have_an_order(tmp_path):
    for selected in (True, False):
        folder = write_run(tmp_path / str(selected), [ranked_row("a/0", ["D1:12"], [])])
        before = retrieval_and_reading(load_run(folder), F1).parts
        write_rankings(folder, {"a/0": RANKED}, selected=selected)
        run = load_run(folder)
        assert bool(missed_by_rank(run)) is not selected
        assert retrieval_and_reading(run, F1).parts == [*before, *missed_by_rank(run)]


def test_a_ranking_without_answers_has_the_ranks_of_all_evidence(tmp_path, said):
    unread = {"answer": None, "abstained": None, "retrieved": None, "evidence_found": None}
    row = ranked_row("a/0", ["D1:4", "D1:12"], [], scores={}, **unread)
    folder = write_rankings(write_run(tmp_path / "run", [row]), {"a/0": RANKED})
    out = said(diagnose.main, folder)
    assert "has no answers" in " ".join(out.split())  # lines wrap
    assert "Abstention" not in out
    _, (_, overall) = counts(folder)
    assert overall[1:4] == ["2", "1", "1"]
