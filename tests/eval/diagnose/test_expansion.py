"""Evidence found directly and by expansion, and what it displaces."""

from __future__ import annotations

import pytest

from eval.diagnose.expansion import displaced, expansion, where_found
from eval.diagnose.pairing import pair_with_direct
from eval.summary.gate_cases import found_turns, recall
from tests.eval.diagnose.made_runs import (
    expanded,
    imported,
    made_run,
    record,
    sentences,
    tables,
    values,
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


def test_evidence_turns_by_how_they_were_found():
    table = where_found(WITH[:4], seed=0)
    assert values(table, "single_hop", *table.header[1:]) == ("1", "2", "50.0%", "50.0%", "0.0%")
    shown = values(table, "temporal", *table.header[1:])
    assert shown == ("3", "7", "14.3%", "14.3%", "71.4%")
    shown = values(table, "overall (types 1-4)", *table.header[1:])
    assert shown == ("4", "9", "22.2%", "22.2%", "55.6%")


def test_a_turn_found_both_ways_is_direct_and_one_named_twice_counts_once():
    row = record("a/1", "aab", "a", "b") | {
        "evidence_found": {"direct": ["a", "a"], "expanded": ["a", "b"]}
    }
    assert found_turns(row, "direct") == {"a"}
    assert found_turns(row, "expanded") == {"b"}
    assert recall(row) == 1.0
    table = where_found([row], seed=0)
    shown = values(table, "single_hop", "evidence turns", "found direct", "only by expansion")
    assert shown == ("2", "50.0%", "50.0%")
    with pytest.raises(ValueError, match="a/1: no evidence"):
        recall(record("a/1"))


def test_memories_reached_added_and_holding_evidence(tmp_path):
    table = tables(expansion(made_run(tmp_path / "run", WITH, "graph_expand"), None))[1]
    header = table.header[1:]
    assert values(table, "temporal", *header) == ("3", "1.33", "0.67", "50.0%", "14.3%")
    assert values(table, "overall (types 1-4)", *header) == ("4", "1.25", "0.75", "66.7%", "22.2%")
    assert "n=3" in table.rows[-1][4]
    assert "n=9" in table.rows[-1][5]


def test_what_was_pushed_out_and_the_balance_of_evidence():
    table = displaced(PAIRS, seed=0)
    shown = values(table, "single_hop", *table.header[1:])
    assert shown == ("1", "1.00", "0.0%", "1", "0", "+1")
    shown = values(table, "temporal", *table.header[1:])
    assert shown == ("3", "0.67", "100.0%", "1", "2", "-1")
    shown = values(table, "overall (types 1-4)", *table.header[1:])
    assert shown == ("4", "0.75", "66.7%", "2", "2", "0")


def test_the_difference_in_recall_is_expanding_minus_direct(tmp_path):
    direct = made_run(tmp_path / "direct", WITHOUT)
    run = made_run(tmp_path / "run", WITH, "graph_expand")
    section = expansion(run, pair_with_direct(run, direct))
    table = tables(section)[3]
    assert values(table, "single_hop", "n", "recall difference") == ("1", "+0.500")
    assert values(table, "temporal", "n", "recall difference") == ("3", "-0.167")
    assert values(table, "overall (types 1-4)", "n", "recall difference") == ("4", "0.000")
    assert "--direct" not in sentences(section)


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
