"""The site in a real browser: on a phone and on a desk, by light and in the dark, and sorted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from eval.cards.site.__main__ import main
from tests.eval.cards.site.made_cards import HALF, HOSTILE, card, keyless, write
from tests.eval.pages.browse.conftest import Page, needs_driver, start

pytestmark = needs_driver

# The width of the page, the number of parts that stick out of it, and whether names stay in sight.
_MEASURE = """
const parts = [...document.querySelectorAll("p, h1, h2, h3, li, dd, nav, pre, .scroll")];
const outside = parts.filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
const first = document.querySelector("table.systems tbody th");
const box = document.querySelector(".scroll");
box.scrollLeft = 10000;
const stays = !first || Math.abs(first.getBoundingClientRect().left -
  box.getBoundingClientRect().left) <= 2 || box.scrollLeft < 70;
return [document.documentElement.scrollWidth, outside.length, stays];"""
_GROUND = """
return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number);"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cards = [
        card("mem0_cloud_of_somebody", 0.5, verdicts=0.2),
        card("zep", 0.4, verdicts=None),
        card(HOSTILE, 0.3, verdicts=0.9),
        card("x" * 150, 0.2),
        card("half", types=HALF),
        keyless("graph_expand"),
    ]
    folder = tmp_path_factory.mktemp("made")
    assert main([str(write(folder / "cards", *cards)), "--out", str(folder / "site")]) == 0
    return folder / "site"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, site: Path) -> Iterator[Page]:
    chrome = start(tmp_path_factory.mktemp("profile"))
    yield Page(chrome, f"{site.as_uri()}/")
    chrome.quit()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("pattern", ["index.html", "cards/evil*.html"])
def test_only_tables_scroll_sideways(site, page, pattern, width):
    page.window(width)
    page.chrome.get(next(site.glob(pattern)).as_uri())
    assert page.chrome.execute_script(_MEASURE) == [width, 0, True]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(page, scheme):
    page.window(390, scheme)
    page.chrome.get(f"{page.home}index.html")
    ground = sum(page.chrome.execute_script(_GROUND))
    assert ground > 700 if scheme == "light" else ground < 100


def test_the_table_is_sorted_by_keys_and_nothing_else_runs(page):
    page.window(1280)
    page.complaints()  # of earlier tests
    chrome = page.chrome
    chrome.get(f"{page.home}index.html")

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
    assert page.complaints() == []
