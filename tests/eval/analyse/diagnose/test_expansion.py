"""Evidence found directly and by expansion, and what it displaces."""

from eval.analyse.diagnose.__main__ import displaced, expansion, where_found
from eval.analyse.diagnose.gate import found_turns, recall
from eval.analyse.diagnose.pairing import pair_with_direct
from tests.eval.analyse.diagnose.made_runs import (
    expanded,
    imported,
    made_run,
    record,
    sentences,
    shown,
    tables,
)

# Direct and expanding run, k = 3. Of a/1 expansion finds b and pushes out y; of a/2 it loses b to
# p; of a/3 it swaps a for b; of b/1 it reaches nothing new.
WITHOUT = [
    record("a/1", "ab", "axy"),
    record("a/2", "ab", "abx", category=2),
    record("a/3", "abcd", "xya", category=2),
    record("b/1", "a", "xyz", category=2),
    record("b/2", "", "xyz"),
    record("b/3", "a", "xya", category=5),
]
WITH = [
    expanded("a/1", "ab", "ax", "b"),
    expanded("a/2", "ab", "ax", "p", "q", category=2),
    expanded("a/3", "abcd", "xy", "b", category=2),
    expanded("b/1", "a", "xyz", "", "x", category=2),
    expanded("b/2", "", "xy", "p"),
    expanded("b/3", "a", "xy", "p", category=5),
]
PAIRS = list(zip(WITH, WITHOUT, strict=True))[:4]


def test_evidence_turns_by_how_they_were_found_and_what_was_pushed_out():
    assert shown(where_found(WITH[:4], seed=0)) == {
        "single_hop": ("1", "2", "50.0%", "50.0%", "0.0%"),
        "temporal": ("3", "7", "14.3%", "14.3%", "71.4%"),
        "overall (types 1-4)": ("4", "9", "22.2%", "22.2%", "55.6%"),
    }
    assert shown(displaced(PAIRS, seed=0)) == {
        "single_hop": ("1", "1.00", "0.0%", "1", "0", "+1"),
        "temporal": ("3", "0.67", "100.0%", "1", "2", "-1"),
        "overall (types 1-4)": ("4", "0.75", "66.7%", "2", "2", "0"),
    }


def test_a_turn_found_both_ways_is_direct_and_one_named_twice_counts_once():
    row = record("a/1", "aab", "a", "b") | {
        "evidence_found": {"direct": ["a", "a"], "expanded": ["a", "b"]}
    }
    assert found_turns(row, "direct") == {"a"}
    assert found_turns(row, "expanded") == {"b"}
    assert recall(row) == 1.0
    table = where_found([row], seed=0)
    assert shown(table)["single_hop"][1:4] == ("2", "50.0%", "50.0%")


def test_memories_reached_and_added_and_the_difference_in_recall(tmp_path):
    direct = made_run(tmp_path / "direct", WITHOUT)
    run = made_run(tmp_path / "run", WITH, "graph_expand")
    table = tables(expansion(run, None))[1]
    found = shown(table)
    assert found["temporal"] == ("3", "1.33", "0.67", "50.0%", "14.3%")
    assert found["overall (types 1-4)"] == ("4", "1.25", "0.75", "66.7%", "22.2%")
    assert [cell.partition("n=")[2] for cell in table.rows[-1][4:6]] == ["3", "9"]
    section = expansion(run, pair_with_direct(run, direct))
    assert "--direct" not in sentences(section)
    found = shown(tables(section)[3])  # expanding minus direct
    assert {name: cells[:2] for name, cells in found.items()} == {
        **{"temporal": ("3", "-0.167"), "single_hop": ("1", "+0.500")},
        "overall (types 1-4)": ("4", "0.000"),
    }


def test_what_cannot_be_told_is_said(tmp_path):
    run = made_run(tmp_path / "one", WITHOUT)
    assert sentences(expansion(run, None)).startswith("vector_only records no expansion")
    run = made_run(tmp_path / "two", [imported(row) for row in WITH])
    assert sentences(expansion(run, None)).startswith("Unknown: imported answers")
    run = made_run(tmp_path / "three", WITH[4:], "graph_expand")
    assert sentences(expansion(run, None)) == "No question of types 1-4 with evidence was answered."
    run = made_run(tmp_path / "four", WITH, "graph_expand")
    assert "require --direct RUN" in sentences(expansion(run, None))
    assert "answered by both runs" in sentences(expansion(run, PAIRS[4:]))
