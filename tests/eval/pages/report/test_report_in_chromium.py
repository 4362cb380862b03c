"""The report in a real browser: read on a phone and on a desk, by light and in the dark."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.pages.report.build import build_report
from tests.eval.pages.report.made_report import made, records, write_run
from tests.eval.pages.shown import dump, ground, measured, needs_chromium

pytestmark = needs_chromium
# The width of the page and that of its frame, the number of tables and pictures without size, and
# that of elements that stick out.
_MEASURE = """
for (const fold of document.querySelectorAll("details")) fold.open = true;
const flat = [...document.querySelectorAll("table, figure > svg")].filter((one) =>
  one.getBoundingClientRect().width < 100 || one.getBoundingClientRect().height < 20);
const outside = [...document.querySelectorAll("p, h2, li, .answer, figure")].filter((one) =>
  one.getBoundingClientRect().right > innerWidth + 1);
parent.postMessage([document.documentElement.scrollWidth, innerWidth, flat.length,
  outside.length].join(" "), "*");"""
# The width of the first table and that of the box in which it scrolls.
_OVERFLOW = """
const box = document.querySelector("#headline .scroll");
parent.postMessage([box.scrollWidth, box.clientWidth].join(" "), "*");"""


@pytest.fixture
def page(first: Path, second: Path, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(build_report(made(first, second)).html(), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out(page, width):
    assert measured(page, _MEASURE, width) == [str(width), str(width), "0", "0"]


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark(page, tmp_path, dark):
    *found, colours = ground(page, tmp_path / "page.png", dark=dark)
    assert found == [not dark, dark]
    assert colours > 50  # words and charts were drawn


def test_the_headline_table_fits_a_desk(tmp_path, data):
    judged = records()
    for row in judged:
        row["scores"]["judge"] = 1.0
    names = ["late_interaction_fusion", "graph_score_hybrid"]
    folders = [write_run(tmp_path / name, judged, name, data) for name in names]
    path = tmp_path / "page.html"
    path.write_text(build_report(made(*folders)).html(), encoding="utf-8")
    table, box = map(int, measured(path, _OVERFLOW, 1280))
    assert table <= box


def test_hostile_words_do_nothing(page, tmp_path):
    found = dump(page.as_uri(), tmp_path / "profile")
    assert "<script" not in found
    assert "<img" not in found
    assert "&lt;script&gt;alert(1)" in found
