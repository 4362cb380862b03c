"""The site in a real browser: on a phone and on a desk, by light and in the dark, and sorted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from eval.cards.site.__main__ import main
from tests.eval.cards.site.made_cards import HALF, HOSTILE, card, keyless, write
from tests.eval.pages.browse.driven import needs_driver, start
from tests.eval.pages.report.chromium import DARK, dump, needs_chromium, shoot

# Reports the width of the page and the number of parts that stick out of it or are invisible. A
# window cannot be narrower than 500 pixels, but a frame can.
_MEASURE = """<script>
const parts = [...document.querySelectorAll("p, h1, h2, h3, li, dd, nav, pre, .scroll")];
const outside = parts.filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
const first = document.querySelector("table.systems tbody th");
const box = document.querySelector(".scroll");
box.scrollLeft = 10000;
const stays = !first || Math.abs(first.getBoundingClientRect().left -
  box.getBoundingClientRect().left) <= 2 || box.scrollLeft < 70;
parent.postMessage([document.documentElement.scrollWidth, outside.length, stays].join(" "), "*");
</script>"""
_FRAME = """<!doctype html><title></title><script>onmessage = (event) => {
document.title = event.data; }</script><iframe src="%s" width="%d" height="1200"
style="border:0"></iframe>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    cards = [
        card("mem0_cloud_of_somebody", 0.5, verdicts=0.2),
        card("zep", 0.4, verdicts=None),
        card(HOSTILE, 0.3, verdicts=0.9),
        card("x" * 150, 0.2),
        card("half", types=HALF),
        keyless("graph_expand"),
    ]
    assert main([str(write(tmp_path / "cards", *cards)), "--out", str(tmp_path / "site")]) == 0
    return tmp_path / "site"


def pages(site: Path) -> dict[str, Path]:
    return {"table": site / "index.html", "card": next((site / "cards").glob("evil*.html"))}


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["table", "card"])
def test_only_tables_scroll_sideways(site, tmp_path, name, width):
    page = pages(site)[name]
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    page.write_text(html.replace("</body>", f"{_MEASURE}</body>"))
    frame = tmp_path / "frame.html"
    frame.write_text(_FRAME % (page.as_uri(), width))
    found = re.search(r"<title>(.*)</title>", dump(frame.as_uri(), tmp_path / "profile"))
    assert found is not None
    assert found[1] == f"{width} 0 true"


@needs_chromium
@pytest.mark.parametrize(("more", "light"), [((), True), ((DARK,), False)])
def test_light_and_dark(site, tmp_path, more, light):
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    address = pages(site)["table"].as_uri()
    with Image.open(shoot(address, tmp_path / "profile", tmp_path / "p.png", 390, *more)) as shot:
        ground = shot.convert("RGB").getpixel((2, 2))
    assert isinstance(ground, tuple)
    assert (sum(ground) > 700, sum(ground) < 100) == (light, not light)


@pytest.fixture
def chrome(tmp_path: Path) -> Iterator[Chrome]:
    browser = start(tmp_path / "driven")
    yield browser
    browser.quit()


@needs_driver
def test_the_table_is_sorted_by_keys_and_nothing_else_runs(site, chrome):
    chrome.get(pages(site)["table"].as_uri())

    def heading(title: str):
        path = f"//table[1]//th[starts-with(normalize-space(), '{title}')]"
        return chrome.find_element(By.XPATH, path)

    def column(number: int) -> list[str]:
        table = chrome.find_element(By.CSS_SELECTOR, "table.systems")
        rows = table.find_elements(By.CSS_SELECTOR, "tbody tr")
        return [row.find_elements(By.CSS_SELECTOR, "th, td")[number].text[:5] for row in rows]

    def sort(title: str) -> None:
        heading(title).find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)

    assert column(0) == ["1", "2", "3", "4"]
    sort("judge")
    assert heading("judge").get_attribute("aria-sort") == "descending"
    assert heading("rank").get_attribute("aria-sort") is None
    assert column(0) == ["3", "4", "1", "2"]  # without a verdict: last
    sort("judge")
    assert heading("judge").get_attribute("aria-sort") == "ascending"
    assert column(0) == ["1", "4", "3", "2"]
    sort("system")
    assert column(1) == ["Evil ", "mem0_", "xxxxx", "zep"]
    chrome.find_element(By.LINK_TEXT, "strict").click()
    assert chrome.current_url.endswith("/original-strict.html")
    errors = [one["message"] for one in chrome.get_log("browser") if one["level"] == "SEVERE"]
    assert errors == []
