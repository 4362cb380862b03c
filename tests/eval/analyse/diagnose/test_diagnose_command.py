"""Error analysis by the command, what expansion finds and displaces, and which runs are paired."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.diagnose.__main__ import displaced, expansion, main, where_found
from eval.analyse.diagnose.gate import found_turns, recall
from eval.analyse.diagnose.pairing import memory_ids, pair_with_direct, pair_with_expanded
from eval.records.run import Run
from memsys.core.errors import InputError
from tests.eval import commands
from tests.eval.analyse.diagnose.made_runs import (
    FILE,
    expanded,
    gated,
    imported,
    made_run,
    record,
    sentences,
    shown,
    tables,
    write_run,
)
from tests.eval.factory import error

EXCLUDED = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}
TITLES = ["Retrieval and reading", "Direct and expanded", "Gate", "Abstention"]
DIRECT = [record("a/1", "a", "axy", f1=1.0), record("b/1", "b", "xyz")]
# Two questions of two hops, of which the graph finds more, and two of type 5.
TINY = (
    *("dataset=synthetic", "dataset.conversations=2", "dataset.sessions=3", "dataset.turns=8"),
    *("dataset.hops=2", "k=3"),
)


def test_real_runs_are_diagnosed_by_what_they_recorded(tmp_path, cache, said):
    runs = {}
    for strategy in ("hybrid_gate", "vector_only", "graph_expand"):
        folder = tmp_path / strategy
        commands.run_main(
            tmp_path, cache, *TINY, f"strategy={strategy}", f"hydra.run.dir={folder}"
        ).ok()
        runs[strategy] = commands.Run(folder)
    gated, direct, always = (run.folder for run in runs.values())
    out = said(main, gated, "--direct", direct, "--expanded", always, "--wide")
    assert re.findall(r"^(.+)\n=+$", out, re.MULTILINE) == TITLES
    counted = [row for row in runs["hybrid_gate"].records if row["category"] != 5]
    some = [row for row in counted if 0 < row["scores"]["evidence_recall"] < 1]
    right = sum(row["scores"]["locomo_f1"] >= 0.5 for row in some) / len(some)
    row = re.search(r"^overall \(types 1-4\) +some +(\d+) .* (\d\.\d{3}) \[\S+ \S+\]$", out, re.M)
    assert (int(row[1]), row[2]) == (len(some), f"{right:.3f}")
    gates = [row["trace"]["gate"]["rule"] for row in runs["hybrid_gate"].records]
    assert set(gates) == {"closed", "similarity"}
    for rule in set(gates):
        assert re.search(rf"^{rule} +{gates.count(rule)} +\d", out, re.M)
    reached = {}
    for name, run in runs.items():
        recalls = [r["scores"]["evidence_recall"] for r in run.records if r["category"] != 5]
        reached[name] = f"{sum(recalls) / len(recalls):.3f}"
    assert reached["vector_only"] < reached["graph_expand"]
    (line,) = re.findall(r"never +this gate +always.*?^overall.*?$", out, re.M | re.S)
    shown = re.findall(r"(\d\.\d{3}) \[", line.splitlines()[-1])
    assert shown[:3] == [reached[name] for name in ("vector_only", "hybrid_gate", "graph_expand")]


def test_what_is_in_no_figure_is_counted(tmp_path, said):
    scores = {"locomo_f1": None, "judge": None}
    rows = [
        *DIRECT,
        record("b/2", "a", "a", key=EXCLUDED, scores=scores, abstained=True),
        record("b/3", "a", "a", scores=scores) | error(),
    ]
    out = said(main, str(write_run(tmp_path / "run", rows)))
    assert "4 questions of 2 conversations; not counted: 1 failed, 1 excluded by the answer" in out
    assert re.search(r"^single_hop +\(any\) +2 +0\.500", out, re.M)
    assert re.search(r"^all +0 +2 +0\.0%", out, re.M)


def test_score_and_threshold(tmp_path, said):
    rows = [
        record(f"a/{i}", "a", "a", scores={"locomo_f1": 0.6, "strict_f1": f1, "judge": None})
        for i, f1 in enumerate((0.2, 0.4))
    ]
    run = str(write_run(tmp_path / "run", rows, scoring=["strict"]))
    for options, expected in (
        ([], r"^single_hop +all +2 +0\.300 .* 0\.000 "),
        (["--correct", "0.4"], r"^single_hop +all +2 +0\.300 .* 0\.500 "),
        (["--score", "f1_locomo"], r"^single_hop +all +2 +0\.600 .* 1\.000 "),
    ):
        assert re.search(expected, said(main, run, *options), re.M)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("{run} --expanded {run}", "--expanded: needs --direct RUN"),
        ("{run} --direct {run}", "have no trace.expansion"),
        ("{run} --correct 0", "--correct 0: scores are 0 to 1"),
        ("{run} --correct nan", "--correct nan"),
        ("{run} --score bleu2", "use --score with one of locomo_f1"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments, expected, tmp_path, refused):
    run = write_run(tmp_path / "run", DIRECT)
    assert expected in refused(main, *arguments.format(run=run).split())


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


PLAIN = [record("a/1", "a", "axy"), record("a/2", "b", "xyz")]
ALWAYS = [expanded("a/1", "a", "ax", "p"), expanded("a/2", "b", "xy", "b")]
GATED = [gated("a/1", "a", "axy"), gated("a/2", "b", "xy", "b", rule="similarity")]
Make = Callable[..., Run]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def call(rows: list[dict], strategy: str, **more: Any) -> Run:
        folder = tmp_path / f"{strategy}{len(list(tmp_path.iterdir()))}"
        return made_run(folder, rows, strategy, **more)

    return call


def change(rows: list[dict], **fields: Any) -> list[dict]:
    """The rows with fields of the second replaced."""
    return [rows[0], rows[1] | fields]


def test_counterparts_are_paired_by_question(make):
    run, direct = make(GATED, "hybrid_gate"), make(PLAIN[::-1], "vector_only")
    pairs = pair_with_direct(run, direct)
    assert [[one["id"] for one in pair] for pair in pairs] == [["a/1"] * 2, ["a/2"] * 2]
    assert [bool(one["trace"]) for one in pairs[1]] == [True, False]
    always = pair_with_expanded(run, make(ALWAYS, "graph_expand"))
    assert [theirs["trace"].keys() for _, theirs in always] == [{"expansion"}, {"expansion"}]
    found = [memory_ids(ALWAYS[0], *how) for how in ((), ("direct",), ("expanded",))]
    assert found == [{"ma", "mx", "mp"}, {"ma", "mx"}, {"mp"}]


def test_what_failed_or_is_left_out_is_in_no_pair(make):
    failed = error() | {"retrieved": []}
    left_out = change(ALWAYS, key=EXCLUDED, scores={})
    for rows, others in ((ALWAYS, change(PLAIN, **failed)), (left_out, PLAIN)):
        pairs = pair_with_direct(make(rows, "graph_expand"), make(others, "vector_only"))
        assert len(pairs) == 1
    none = make([PLAIN[0] | failed, PLAIN[1]], "vector_only")
    with pytest.raises(InputError, match="no question was answered in"):
        pair_with_direct(make(left_out, "graph_expand"), none)


def test_reader_scoring_and_key_may_differ(make):
    # a budget that passed one memory over may have taken another
    short = change(PLAIN, **record("a/2", "b", "xz"))
    other = {"config": {"reader": "llm"}, "scoring": ["strict"]}
    corrected = change(PLAIN, gold="another", key=EXCLUDED | {"kind": "corrected"})
    for rows, more in ((short, {}), (corrected, other)):
        beside = make(rows, "vector_only", **more)
        assert len(pair_with_direct(make(ALWAYS, "graph_expand"), beside)) == 2


@pytest.mark.parametrize(
    ("rows", "more", "expected"),
    [
        (PLAIN, {"data": [FILE | {"sha256": "6" * 64}]}, "differs from .* in data"),
        (PLAIN[:1], {}, r"differs from .* in 1 questions .*the first: a/2"),
        (change(PLAIN, question="Else?"), {}, "in 1 questions"),
        (change(PLAIN, evidence=["x"]), {}, "in 1 questions"),
        (PLAIN, {"config": {"memory": {"name": "windows"}}}, "differs from .* in memory.name"),
        (PLAIN, {"config": {"k": 4}}, "differs from .* in k; run both"),
        (PLAIN, {"config": {"strategy": {"k": 4}}}, "differs from .* in strategy.k"),
        (ALWAYS, {}, r"expands as well \(the first: a/1\)"),
        (change(PLAIN, **record("a/2", "b", "xzw")), {}, "found other memories .*first: a/2"),
        ([record("a/1", "a", "a"), record("a/2", "b")], {"config": {"strategy": {}}}, "first: a/1"),
        ([imported(row) for row in PLAIN], {}, "imported answers do not include"),
    ],
)
def test_another_direct_run_is_refused(make, rows, more, expected):
    with pytest.raises(InputError, match=f"^--direct .*{expected}"):
        pair_with_direct(make(ALWAYS, "graph_expand"), make(rows, "vector_only", **more))


def test_another_graph_or_another_kept_memory_is_refused_for_the_gate_alone(make):
    strange = [gated("a/1", "a", "ax"), GATED[1]]  # a subset, but nothing was added
    with pytest.raises(InputError, match=r"found other memories directly .*first: a/1"):
        pair_with_direct(make(strange, "hybrid_gate"), make(PLAIN, "vector_only"))
    run, graph = make(GATED, "hybrid_gate"), {"config": {"graph": {"name": "llm"}}}
    assert len(pair_with_direct(run, make(PLAIN, "vector_only", **graph))) == 2
    with pytest.raises(InputError, match=r"differs from .* in graph\.name"):
        pair_with_expanded(run, make(ALWAYS, "graph_expand", **graph))


def test_another_expanded_run_is_refused_and_a_run_without_a_trace(make):
    run, direct = make(GATED, "hybrid_gate"), make(PLAIN, "vector_only")
    always = make(ALWAYS, "graph_expand")
    other = make(change(ALWAYS, **expanded("a/2", "b", "xy", "q")), "other")
    for pair, one, beside, expected in (
        (pair_with_expanded, run, direct, "^--expanded .*does not always expand"),
        (pair_with_expanded, run, run, "^--expanded .*does not always expand"),
        (pair_with_expanded, run, other, "^--expanded .*other memories .*first: a/2"),
        (pair_with_direct, direct, direct, r"have no trace\.expansion"),
        (pair_with_expanded, always, always, r"have no trace\.gate"),
    ):
        with pytest.raises(InputError, match=expected):
            pair(one, beside)
