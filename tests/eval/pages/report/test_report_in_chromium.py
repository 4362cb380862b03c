"""The report in a real browser: read on a phone and on a desk, by light and in the dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eval.pages.report.build import build_report
from tests.eval.pages.report.chromium import DARK, dump, needs_chromium, shoot
from tests.eval.pages.report.made_report import made, records, write_run

pytestmark = needs_chromium
# Reports to the frame around it the width of the page, the number of tables and pictures without
# size, and the number of elements that stick out. A window cannot be narrower than 500 pixels, but
# a frame can.
_MEASURE = """<script>
for (const fold of document.querySelectorAll("details")) fold.open = true;
const flat = [...document.querySelectorAll("table, figure > svg")].filter((one) =>
  one.getBoundingClientRect().width < 100 || one.getBoundingClientRect().height < 20);
const outside = [...document.querySelectorAll("p, h2, li, .answer, figure")].filter((one) =>
  one.getBoundingClientRect().right > innerWidth + 1);
parent.postMessage([document.documentElement.scrollWidth, innerWidth, flat.length,
  outside.length].join(" "), "*");
</script>"""
# Reports the width of the first table and that of the box in which it scrolls.
_OVERFLOW = """<script>
const box = document.querySelector("#headline .scroll");
parent.postMessage([box.scrollWidth, box.clientWidth].join(" "), "*");
</script>"""
_FRAME = """<!doctype html><title></title><script>onmessage = (event) => {
document.title = event.data; }</script><iframe src="page.html" width="%d" height="1200"
style="border:0"></iframe>"""


@pytest.fixture
def page(first: Path, second: Path, tmp_path: Path) -> Path:
    runs = made(first, second)
    path = tmp_path / "page.html"
    path.write_text(build_report(runs).html(), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_sticks_out(page, tmp_path, width):
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    page.write_text(html.replace("</body>", f"{_MEASURE}</body>"))
    frame = tmp_path / "frame.html"
    frame.write_text(_FRAME % width)
    found = dump(frame.as_uri(), tmp_path / "profile")
    title = re.search(r"<title>(\d+) (\d+) (\d+) (\d+)</title>", found)
    assert title is not None
    assert [int(number) for number in title.groups()] == [width, width, 0, 0]


@pytest.mark.parametrize(("more", "light"), [((), True), ((DARK,), False)])
def test_light_and_dark(page, tmp_path, more, light):
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    path = shoot(page.as_uri(), tmp_path / "profile", tmp_path / "page.png", 390, *more)
    with Image.open(path) as picture:
        assert picture.size == (390, 1600)
        pixels = picture.convert("RGB")
        ground = pixels.getpixel((2, 2))
        colours = pixels.getcolors(1 << 24)
    assert isinstance(ground, tuple)
    assert (sum(ground) > 700) is light
    assert (sum(ground) < 100) is not light
    assert colours is not None
    assert len(colours) > 50  # words and charts were drawn


def test_the_headline_table_fits_a_desk(tmp_path, data):
    judged = records()
    for row in judged:
        row["scores"]["judge"] = 1.0
    names = ["late_interaction_fusion", "graph_score_hybrid"]
    folders = [write_run(tmp_path / name, judged, name, data) for name in names]
    html = build_report(made(*folders)).html()
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    path = tmp_path / "page.html"
    path.write_text(html.replace("</body>", f"{_OVERFLOW}</body>"), encoding="utf-8")
    frame = tmp_path / "frame.html"
    frame.write_text(_FRAME % 1280, encoding="utf-8")
    found = dump(frame.as_uri(), tmp_path / "profile")
    title = re.search(r"<title>(\d+) (\d+)</title>", found)
    assert title is not None
    assert int(title[1]) <= int(title[2])


def test_hostile_words_do_nothing(page, tmp_path):
    found = dump(page.as_uri(), tmp_path / "profile")
    assert "<script" not in found
    assert "<img" not in found
    assert "&lt;script&gt;alert(1)" in found
