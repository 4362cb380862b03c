"""Numbers as text, and tables in the width of the terminal."""

from __future__ import annotations

import pytest

from eval.rendering.numbers import dollars, interval, number, p_value, share, signed
from eval.rendering.terminal import fitted
from eval.rendering.width import sentence, terminal_width, widen
from eval.stats.interval import Interval

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


def test_at_80_columns_the_main_scores_keep_their_intervals(monkeypatch):
    text = "\n".join(wide_at(80, monkeypatch))
    for shown in ("F1", "evidence recall", " context\n", "0.216 [0.167, 0.265]", "(2 errors)"):
        assert shown in text
    assert "0.208" not in text
    assert text.endswith("\nNot shown: BLEU-1; total p95 ms (--wide shows all columns).")


def test_at_120_columns_headings_break_before_a_column_is_lost(monkeypatch):
    first, second, *_, last = wide_at(120, monkeypatch)
    assert first.split() == ["total"]
    assert second.split("  ")[0] == "type"
    assert second.endswith("  p95 ms")
    assert last.startswith("(types 1-4)")


def test_intervals_move_below_the_means_where_the_main_scores_are_too_wide(monkeypatch):
    judged = [[*row[:4], "0.500 [0.400, 0.600] (1 not judged)", *row[5:]] for row in ROWS]
    lines = wide_at(80, monkeypatch, HEADER, judged)
    text = "\n".join(lines)
    assert "0.500 [" not in text
    (below,) = (line for line in lines if "[0.167, 0.265]" in line)
    assert "[0.400, 0.600]" in below
    assert "[0.593, 0.702]" in below


def test_a_table_without_main_scores_stacks_before_it_loses_a_column(monkeypatch):
    header = ["measure", "one", "two", "three"]
    row = ["recall@10", *["0.449 [0.352, 0.546]"] * 3]
    text = "\n".join(wide_at(60, monkeypatch, header, [row]))
    assert "Not shown" not in text
    assert text.count("[0.352, 0.546]") == 3
    text = "\n".join(wide_at(40, monkeypatch, header, [row]))
    assert text.endswith("Not shown: three (--wide shows all\ncolumns).")


def test_a_contrast_at_80_columns_shows_difference_and_verdict(monkeypatch):
    text = "\n".join(wide_at(80, monkeypatch, CONTRASTS, [CONTRAST]))
    assert "+0.007 [-0.003, +0.018]" in text
    assert "no difference shown\n" in text
    assert "(needs >= 0.020)" in text


def test_wide_prints_all_columns_on_any_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert sentence("word " * 10).count("\n") == 1
    widen()
    assert len(fitted(HEADER, ROWS).splitlines()) == 4
    assert "\n" not in sentence("word " * 100)


def test_a_heading_too_wide_is_better_than_no_table(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    text = fitted(HEADER, ROWS)
    assert "0.216" in text
    assert "[0.167" not in text


def test_numbers_never_show_a_negative_zero():
    assert (number(1234.5), number(-0.0004), number(None)) == ("1,234.500", "0.000", "-")
    assert (signed(0.0123), signed(-0.0004), signed(-0.5, 1)) == ("+0.012", "0.000", "-0.5")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0.0000"), (1234.5, "1,234.5000"), (0.00012345, "0.00012345")],
)
def test_dollars_below_a_tenth_of_a_cent_show_eight_decimals(value, text):
    assert dollars(value) == text


def test_shares_and_p_values():
    assert (share(0.3125), share(0.5, 0)) == ("31.2%", "50%")
    assert share(None, absent="unknown") == "unknown"
    assert (p_value(0.04567), p_value(0.00001)) == ("0.0457", "< 0.0001")


def test_an_interval_is_formatted_by_the_form_of_its_parts():
    found = Interval(0.292, 0.254, 0.3291)
    assert interval(found) == "0.292 [0.254, 0.329]"
    assert interval(found, form=signed) == "+0.292 [+0.254, +0.329]"
    assert interval(found, 0, share) == "29% [25%, 33%]"
    assert interval(None) == "-"
