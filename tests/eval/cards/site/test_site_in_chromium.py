"""The site in a real browser: on a phone and on a desk, by light and in the dark, and sorted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from eval.cards.site.__main__ import main
from tests.eval.cards.site.made_cards import HALF, HOSTILE, card, keyless, write
from tests.eval.pages.browse.driven import needs_driver, start
from tests.eval.pages.shown import ground, measured, needs_chromium

# The width of the page, the number of parts that stick out of it, and whether names stay in sight.
_MEASURE = """
const parts = [...document.querySelectorAll("p, h1, h2, h3, li, dd, nav, pre, .scroll")];
const outside = parts.filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
const first = document.querySelector("table.systems tbody th");
const box = document.querySelector(".scroll");
box.scrollLeft = 10000;
const stays = !first || Math.abs(first.getBoundingClientRect().left -
  box.getBoundingClientRect().left) <= 2 || box.scrollLeft < 70;
parent.postMessage([document.documentElement.scrollWidth, outside.length, stays].join(" "), "*");"""


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
def test_only_tables_scroll_sideways(site, name, width):
    assert measured(pages(site)[name], _MEASURE, width) == [str(width), "0", "true"]


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark(site, tmp_path, dark):
    assert ground(pages(site)["table"], tmp_path / "p.png", dark=dark)[:2] == (not dark, dark)


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
