"""The gate against an oracle gate, on questions whose outcome is known, and abstention."""

from eval.analyse.diagnose.gate import (
    abstention,
    against_oracle,
    by_rule,
    cases,
    gate,
    reached,
    rules,
)
from tests.eval.analyse.diagnose.made_runs import (
    expanded,
    gated,
    imported,
    made_run,
    record,
    sentences,
    tables,
    values,
)

OVERALL = "overall (types 1-4)"
# rule, direct finds, expansion finds (of evidence "ab"): raised, lowered, swapped or as before
OUTCOMES = [
    ("similarity", "a", "ab"),  # raised, opened
    ("word:other", "", "a"),  # raised, opened
    ("closed", "", "ab"),  # raised, missed
    ("similarity", "ab", "a"),  # lowered, opened: harmful
    ("word:also", "a", "b"),  # swapped: the oracle stays shut
    ("similarity", "a", "a"),
    ("closed", "ab", ""),  # lowered, spared
    ("closed", "a", "a"),
]


def made(category: int = 4) -> tuple[list[dict], list[dict], list[dict]]:
    """Records of the gated, direct and expanding run, alternating between two conversations."""
    runs: tuple[list[dict], ...] = ([], [], [])
    for i, (rule, without, with_) in enumerate(OUTCOMES):
        id_ = f"{'ab'[i % 2]}/{i}"
        shut = rule == "closed"
        runs[0].append(gated(id_, "ab", without if shut else with_, rule=rule, category=category))
        runs[1].append(record(id_, "ab", without, category=category))
        runs[2].append(expanded(id_, "ab", with_, "", category=category))
    return runs  # type: ignore[return-value]


FOUND = cases(*made())


def test_precision_recall_and_harm_against_the_oracle():
    # a gate that never opened has no precision
    shut = [gated("a/1", "a", ""), gated("b/1", "a", "")]
    always = [expanded("a/1", "a", "", "a"), expanded("b/1", "a", "", "")]
    for some, wanted in (
        (FOUND, ("37.5%", "40.0%", "66.7%", "20.0%")),  # 3/8, 2/5, 2/3, 1/5
        (cases(shut, shut, always), ("50.0%", "-", "0.0%", "-")),
    ):
        table = against_oracle(some, seed=0)
        columns = ("oracle opens", "precision", "recall", "harmful")
        assert values(table, OVERALL, *columns) == wanted
    table = against_oracle(FOUND, seed=0)
    assert [cell.partition("n=")[2] for cell in table.rows[-1][1:]] == ["8", "5", "3", "5"]
    assert table.rows[0][1:] == table.rows[-1][1:]


def test_what_each_gate_would_have_reached(tmp_path):
    table = reached(FOUND, seed=0)
    gates = ("never", "this gate", "always", "oracle gate", "room")
    # of 16 evidence turns: 8 never, 9 always; the gate wins 2, loses 1; the oracle wins 4
    assert values(table, OVERALL, *gates) == ("0.500", "0.562", "0.562", "0.750", "0.250")
    run = made_run(tmp_path / "run", made()[0], "hybrid_gate")
    table = tables(gate(run, FOUND))[-1]
    assert values(table, "never open", "n", "recall difference") == ("8", "+0.062")
    assert values(table, "always open", "n", "recall difference") == ("8", "0.000")


def test_rules_stand_with_words_together_and_closed_last():
    names = [name for name, _ in rules(case.record for case in FOUND)]
    assert names == ["similarity", "word:(any)", "word:also", "word:other", "closed"]
    assert [name for name, _ in rules([FOUND[0].record])] == ["similarity"]
    table = by_rule(FOUND, seed=0)
    for rule, *wanted in (
        ("similarity", "3", "33.3%", "33.3%", "33.3%"),
        ("word:(any)", "2", "50.0%", "0.0%", "33.3%"),
        ("word:also", "1", "0.0%", "0.0%", "0.0%"),
        ("closed", "3", "33.3%", "33.3%", "33.3%"),
    ):
        header = ("n", "raised", "lowered", "share of the oracle's")
        assert [*values(table, rule, *header)] == wanted


def test_only_questions_that_all_three_answered_and_that_have_evidence_count():
    mine, without, with_ = made()
    found = cases(mine, without[1:], with_[:-1])
    assert [case.record["id"] for case in found] == [row["id"] for row in mine[1:-1]]
    bare = [row | {"evidence": []} for row in mine]
    assert cases(*made(category=5)) == cases(bare, without, with_) == []


def test_how_often_it_opened_counts_every_question(tmp_path):
    rows = [*made()[0], gated("a/90", "", "x", rule="similarity", category=5)]
    run = made_run(tmp_path / "run", rows, "hybrid_gate")
    section = gate(run, None)
    opened, deciding = tables(section)
    assert values(opened, OVERALL, "n", "opened") == ("8", "62.5%")
    assert values(opened, "adversarial", "n", "opened") == ("1", "100.0%")
    assert values(deciding, "similarity", *deciding.header[1:]) == ("4", "44.4%")
    assert values(deciding, "closed", *deciding.header[1:]) == ("3", "33.3%")
    assert "requires --direct RUN and --expanded RUN" in sentences(section)


def test_what_cannot_be_told_is_said(tmp_path):
    mine, without, _ = made()
    run = made_run(tmp_path / "one", without)
    assert sentences(gate(run, None)) == "vector_only records no gate."
    run = made_run(tmp_path / "two", [imported(row) for row in mine])
    assert sentences(gate(run, None)).startswith("Unknown: imported answers")
    run = made_run(tmp_path / "three", mine, "hybrid_gate")
    assert "was answered by all three runs" in sentences(gate(run, []))


SIDES = ("n, type 5", "abstained (correct)", "official phrase match", "n, types 1-4")


def english(abstained: str = "1100", refused: str = "10000") -> list[dict]:
    """A digit a question: whether it abstained on type 5, or refused on types 1-4."""
    rows = [
        record(f"{'ab'[i % 2]}/{i}", category=5, abstained=digit == "1", f1=float(i == 0))
        for i, digit in enumerate(abstained)
    ]
    return rows + [
        record(f"{'ab'[i % 2]}/1{i}", category=1 + i % 4, abstained=digit == "1")
        for i, digit in enumerate(refused)
    ]


def test_right_and_false_refusals_stand_side_by_side(tmp_path):
    for given, wanted, expected in (
        (("1100", "10000"), ("4", "50.0%", "25.0%", "5", "20.0%"), ""),
        (("", "10"), ("0", "-", "-", "2", "50.0%"), "no question of type 5"),
        (("10", ""), ("2", "50.0%", "50.0%", "0", "-"), "no question of types 1-4"),
    ):
        section = abstention(made_run(tmp_path / "-".join(given), english(*given)))
        (table,) = tables(section)
        assert values(table, "all", *SIDES, "false refusals") == wanted
        assert [row[0] for row in table.rows] == ["all"]
        assert expected in sentences(section)
        assert ("unknown" in sentences(section)) == bool(expected)


def test_languages_stand_apart_where_there_are_two(tmp_path):
    chinese = [
        row | {"id": f"{row['id']}z", "question": "他说了什么？"}
        for row in english("1110", "01111")
    ]
    (table,) = tables(abstention(made_run(tmp_path / "run", english() + chinese)))
    assert [row[0] for row in table.rows] == ["all", "English", "Chinese"]
    columns = ("n, type 5", "abstained (correct)", "n, types 1-4", "false refusals")
    assert [values(table, name, *columns) for name in ("all", "English", "Chinese")] == [
        *(("8", "62.5%", "10", "50.0%"), ("4", "50.0%", "5", "20.0%"), ("4", "75.0%", "5", "80.0%"))
    ]
