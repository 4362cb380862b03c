"""Numbers as text, tables in the width of the terminal, and what tables say of their intervals."""

import os
import re
import shlex
from typing import Any, cast

import pytest

from eval.analyse.compare.comparable import notes
from eval.metrics.registry import columns, titles
from eval.metrics.stats.interval import Interval, scope
from eval.records.run import Run
from eval.records.schema import Summary
from eval.rendering.contrasts import conclusions, method, table
from eval.rendering.numbers import dollars, interval, number, p_value, price, share, signed
from eval.rendering.tables import (
    as_text,
    report_md,
    run_tables,
    scope_note,
    scope_of,
    score_columns,
)
from eval.rendering.terminal import command_lines, fitted, lined, sentence, terminal_width, widen
from eval.summary import measures as measuring
from eval.summary.contrast import contrast
from eval.summary.measures import Measure
from eval.summary.summarise import summarise
from tests.eval import factory

HEADER = ["type", "n", "F1", "BLEU-1", "judge", "evidence recall", "context tokens", "total p95 ms"]
ROWS = [
    [
        *("multi_hop", "55", "0.063 [0.006, 0.120]", "0.049 [0.005, 0.094]", "no judge"),
        *("0.449 [0.352, 0.546]", "445 [412, 477]", "131.7"),
    ],
    [
        *("overall (types 1-4)", "230 (2 errors)", "0.216 [0.167, 0.265]"),
        *("0.208 [0.161, 0.256]", "no judge", "0.647 [0.593, 0.702]", "438 [424, 453]", "123.6"),
    ],
]
FOUND = Interval(0.292, 0.254, 0.3291)
CONTRASTS = ["type", "run", "n", "mean", "difference", "p (Holm)", "d_z", "verdict"]
CONTRAST = [
    *("overall (types 1-4)", "graph_expand", "230", "0.216 [0.167, 0.265]"),
    *("+0.007 [-0.003, +0.018]", "1.0000", "+0.09", "no difference shown (needs >= 0.020)"),
]


def wide_at(width: int, monkeypatch: pytest.MonkeyPatch, *table: list) -> list[str]:
    """Lines of the table in a terminal of `width`, of which none is longer."""
    monkeypatch.setenv("COLUMNS", str(width))
    lines = fitted(*(table or (HEADER, ROWS))).splitlines()
    assert max(map(len, lines)) <= width
    return lines


def test_a_pipe_gets_every_column_but_the_empty_ones():
    assert terminal_width() is None
    first, _, *rows = fitted(HEADER, ROWS).splitlines()
    assert first.split("  ")[0] == "type"
    assert all(name in first for name in HEADER if name != "judge")
    assert "judge" not in first
    assert [row.split("  ")[0] for row in rows] == ["multi_hop", "overall (types 1-4)"]


@pytest.mark.parametrize("judge", ["no judge", "0.500 [0.400, 0.600]"])
@pytest.mark.parametrize("width", [60, 80, 100, 120, 140, 200])
def test_every_column_and_interval_is_shown_at_any_width(width, judge, monkeypatch):
    rows = [[*row[:4], judge, *row[5:]] for row in ROWS]
    text = "\n".join(wide_at(width, monkeypatch, HEADER, rows))
    assert "Not shown" not in text
    shown = " ".join(re.sub(r"--+", " ", text).split())  # whatever the lines are
    titles = [title for title in HEADER if title != "judge" or judge[0] == "0"]
    assert all(word in shown for title in titles for word in title.split())
    for cell in (cell for row in rows for cell in row if cell != "no judge"):
        mean, *ends = re.findall(r"[\d.]+\d", cell) or [cell.split()[0]]
        assert mean in shown
        assert not ends or len(ends) == 1 or f"{ends[0]}, {ends[1]}" in shown


@pytest.mark.parametrize("judge", ["no judge", "0.500 [0.400, 0.600]"])
def test_at_80_columns_all_means_of_a_run_stand_in_one_row(judge, monkeypatch):
    cell = {
        **{"n": 1540, "errors": 0, "cost_usd": 0.012345},
        **{"retrieve_ms_p95": 1234.5, "total_ms_p95": 9876.5},
        **dict.fromkeys(("f1", "bleu1", "evidence_recall"), 0.123),
        **{f"{name}_ci": [0.1, 0.2] for name in ("f1", "bleu1", "evidence_recall", "judge")},
        **{"judge": None if judge == "no judge" else 0.5, "judge_source": None},
        **{"context_tokens_mean": 16801.2, "context_tokens_mean_ci": [16000, 17000]},
    }
    row = {title: text(cell) for title, text in score_columns(titles(columns())).items()}
    first = ["overall (types 1-4)", *row.values()]
    lines = wide_at(80, monkeypatch, ["type", *row], [["adversarial", *row.values()], first])
    (means, ends) = (line.split() for line in lines if line.startswith("overall"))
    judged = [] if judge == "no judge" else ["0.500"]
    assert means[1:] == [
        *("1540", "0.123", "0.123", *judged, "0.123", "16,801", "12.3", "1,234.5", "9,876.5")
    ]
    assert ends[1:3] == ["0.100,", "0.200"]


def test_intervals_move_below_the_means_where_that_is_enough(monkeypatch):
    lines = wide_at(100, monkeypatch)
    (below,) = (line for line in lines if "[0.167, 0.265]" in line)
    assert all(interval in below for interval in ("[0.161, 0.256]", "[0.593, 0.702]"))
    assert not any("interval" in line for line in lines)


def test_a_number_of_questions_stays_beside_its_score(monkeypatch):
    header = ["run", "n", "F1", "n, type 5", "abstained, type 5"]
    row = ["graph_expand", "194", "0.712 [0.653, 0.772]", "23", "0.304 [0.096, 0.513]"]
    for width in range(32, 80):
        lines = wide_at(width, monkeypatch, header, [row])
        (line,) = (line.split() for line in lines if re.search(r" 23\b", line))
        assert line[line.index("23") + 1] == "0.304", width


def test_the_difference_keeps_its_interval_p_and_verdict_in_the_first_block(monkeypatch):
    text = "\n".join(wide_at(80, monkeypatch, CONTRASTS, [CONTRAST]))
    first, rest = text.split("\n\n")
    for shown in ("+0.007", "[-0.003, +0.018]", "1.0000", "no difference", "0.020)"):
        assert shown in first
    assert "0.167, 0.265" in rest
    assert "+0.09" in text
    monkeypatch.setenv("COLUMNS", "10")  # a heading too wide is better than no table
    assert "0.216" in fitted(HEADER, ROWS)


@pytest.mark.parametrize("name", ["2026-11-23_00-58-13-992047_graph_expand", "x" * 50])
def test_a_long_name_of_a_run_is_broken(name, monkeypatch):
    header, row = ["run", "n", *HEADER[2:4]], [name, "1", *ROWS[0][2:4]]
    lines = wide_at(50, monkeypatch, header, [row])
    assert name in "".join(line[:20].strip() for line in lines)


def test_wide_prints_all_columns_on_any_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert sentence("word " * 10).count("\n") == 1
    widen()
    assert len(fitted(HEADER, ROWS).splitlines()) == 4
    assert "\n" not in sentence("word " * 100)


def test_a_command_wider_than_the_terminal_goes_on_as_a_shell_reads_it(monkeypatch):
    text = "python -m eval.run strategy=bm25 'llm.extra={a: 1}' resume=2026-01-01_00-00-00_bm25"
    assert command_lines(text) == f"  {text}"
    monkeypatch.setenv("COLUMNS", "40")
    lines = command_lines(text).split("\n")
    assert len(lines) == (1 if os.name == "nt" else 3)
    assert all(len(line) <= 40 for line in lines if os.name != "nt")
    assert shlex.split(command_lines(text).replace("\\\n", "")) == shlex.split(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (number(1234.5), "1,234.500"),
        (number(-0.0004), "0.000"),  # never a negative zero
        (number(None), "-"),
        (signed(0.0123), "+0.012"),
        (signed(-0.0004), "0.000"),
        (signed(-0.5, 1), "-0.5"),
        (share(0.3125), "31.2%"),
        (share(0.5, 0), "50%"),
        (share(None), "-"),
        (p_value(0.04567), "0.0457"),
        (p_value(0.00001), "< 0.0001"),
        (price(None), "-"),
        (price(0.0), "0"),
        (price(0.0000123), "0.0123"),  # of 1,000 questions, to three digits
        (price(0.01), "10.0"),
        (price(1.2345), "1,234"),
        (dollars(None), "-"),
        (dollars(0.0), "0.0000"),
        (dollars(1234.5), "1,234.5000"),
        (dollars(0.00012345), "0.00012345"),  # below a tenth of a cent
        (interval(FOUND), "0.292 [0.254, 0.329]"),
        (interval(FOUND, form=signed), "+0.292 [+0.254, +0.329]"),
        (interval(FOUND, 0, share), "29% [25%, 33%]"),
        (interval(None), "-"),
    ],
)
def test_numbers_as_text(text, expected):
    assert text == expected


F1 = Measure("locomo_f1", ("overall",))


def run(conversations: int, each: int = 8, f1: float = 0.2, label: str = "plain") -> Run:
    rows = []
    for conversation in range(conversations):
        for nth in range(each):
            scores = factory.record()["scores"] | {"locomo_f1": f1 + (nth % 3) / 10}
            rows.append(factory.record(f"c{conversation}/{nth}", scores=scores))
    return factory.run_of(rows, label)


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_tables_of_few_conversations_say_what_intervals_are_over(count):
    one, over = run(count), scope([count])
    summary = summarise(list(one.records.values()), one.manifest, seed=0)
    assert scope_of([summary]) == over
    assert scope_note([summary]) == ("" if count == 5 else f"Intervals are {over}.\n")
    if count < 5:
        assert summary["interval"].endswith(f"; {over}")
        assert over in report_md(one.manifest, summary, [])
    runs = [one, run(count, f1=0.4, label="better")]
    measures = [(F1, measuring.share(runs, F1))]
    assert f"95% interval {over}. p:" in method(contrast(measures, seed=0), runs)
    warned = [note for note in notes(runs, measures) if "conversations" in note]
    assert warned == ([f"few conversations: intervals are {over}"] if count < 5 else [])


def test_a_difference_that_nothing_could_show_is_not_printed_beyond_1():
    rows = [factory.record(f"c0/{i}", scores={"locomo_f1": float(i)}) for i in range(2)]
    turned = [factory.record(f"c0/{i}", scores={"locomo_f1": 1.0 - i}) for i in range(2)]
    runs = [factory.run_of(rows), factory.run_of(turned, "other")]
    tables = contrast([(F1, measuring.share(runs, F1))], seed=0)
    (difference,) = (one.difference for one in tables[0][0].contrasts)
    assert (difference.low, difference.high) == (-1, 1)
    assert tables[0][0].contrasts[0].needed > 1
    assert table(tables[0], runs)[1][1][-1] == "too few questions"
    assert conclusions(tables, runs)[0].endswith("to detect any difference.")


def summary_of(**fields: Any) -> Summary:
    scored = {"scores": {"recall@10": 0.25, "mrr": 0.5}, **fields}
    rows: list[Any] = [factory.record(f"{name}/0", **scored) for name in ("ash", "fir")]
    return summarise(rows, cast(Any, factory.manifest()), 0)


def test_columns_without_a_value_are_left_out():
    nothing = dict.fromkeys(("answer", "abstained", "answer_tokens", "context_tokens"))
    summary = summary_of(**nothing)
    header, *_ = as_text(
        run_tables(summary), lambda one: lined([one.header], one.rows)
    ).splitlines()
    assert header.split() == ["type", "n", "recall@10", "MRR", "retrieve", "p95", "ms"]
    text = report_md(cast(Any, factory.manifest()), summary, ["rankings.jsonl"])
    assert "Nobody answered the questions" in text
    assert "F1" not in text
    assert "0.250" in text
    for summary in (summary_of(), summary_of(**factory.error())):  # as usual
        text = as_text(run_tables(summary), lambda one: lined([one.header], one.rows))
        assert "F1" in text
        assert "Nobody answered" not in text


def test_verdicts_of_a_rule_have_a_column_that_is_not_j():
    rows = [
        factory.record(
            f"c{number}/0",
            scores=factory.record()["scores"] | {"gold_recall": float(number < 3)},
            judge={"gold_recall": [number < 3]},
        )
        for number in range(4)
    ]
    judge = {"name": "gold_recall", "score": "gold_recall", "note": "not J: a rule"}
    summary = summarise(rows, factory.manifest(judge=judge), seed=0)
    shown = as_text(run_tables(summary))
    assert "judge by rule" in shown.splitlines()[0]
    assert "judge by rule: not J: a rule. Verdicts are `scores.gold_recall` of records" in shown
    assert "compare RUN RUN --score gold_recall" in shown
    assert summary["by_type"]["overall"]["gold_recall"] == 0.75
    assert summary["by_type"]["overall"]["judge"] is None


@pytest.mark.parametrize("names", [["locomo"], ["locomo", "mem0"]])
def test_scores_under_each_protocol_are_shown_where_there_are_several(names):
    one = run(2)
    summary = summarise(list(one.records.values()), one.manifest | {"scoring": names}, seed=0)
    shown = "The same answers under each protocol:" in as_text(run_tables(summary))
    assert shown == (len(names) > 1)
