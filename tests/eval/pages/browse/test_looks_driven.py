"""How the pages look, from a phone's width on, by light and in the dark; and the report's folds."""

import pytest
from selenium.webdriver.common.keys import Keys

from tests.eval.pages.browse.driven import needs_driver

pytestmark = needs_driver


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_on_a_phone_and_on_a_desk(page, width, scheme):
    page.window(width, scheme)
    page.go("#other=2&one=1&open=ash/1")
    page.until(lambda: page.all(".pair"))
    found = page.chrome.execute_script("""
        const box = (one) => one.getBoundingClientRect();
        const shown = [...document.querySelectorAll(
          "input, select, button, summary, .v, .answer, .side, li")].filter(one => box(one).width);
        const luma = (colour) => colour.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
        const style = getComputedStyle(document.body);
        return [document.documentElement.scrollWidth,
          shown.filter(one => box(one).right > document.documentElement.clientWidth + 1).length,
          [...document.querySelectorAll("form input, form select, button")]
            .filter(one => box(one).width && box(one).height < 40).length,
          luma(style.backgroundColor), luma(style.color), shown.length]""")
    wide, outside, small, ground, ink, shown = found
    assert wide <= width
    assert (outside, small) == (0, 0)
    assert shown > 40
    assert (ground > 700 and ink < 120) if scheme == "light" else (ground < 100 and ink > 600)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_the_report_opens_and_closes(page, width, scheme):
    page.window(width, scheme)
    page.chrome.get(f"{page.home}report.html")
    folds = page.all("details.fold > summary, figure > details > summary, details.card > summary")
    assert len(folds) > 10
    assert not page.all("details[open]")
    for summary in folds:
        summary.send_keys(Keys.ENTER)
    opened = page.all("details[open]")
    assert len(opened) == len(folds)
    assert all(one.size["height"] > 60 for one in opened)
    wide, flat, outside, ground = page.chrome.execute_script("""
        const box = (one) => one.getBoundingClientRect();
        const all = (css) => [...document.querySelectorAll(css)];
        const ground = getComputedStyle(document.body).backgroundColor.match(/\\d+/g);
        return [document.documentElement.scrollWidth,
          all("table, figure > svg").filter(one => box(one).width < 100 || box(one).height < 20),
          all("p, h2, li, .answer, figure").filter(one => box(one).right > innerWidth + 1),
          ground.slice(0, 3).reduce((a, b) => a + +b, 0)]""")
    assert (wide <= width, flat, outside) == (True, [], [])
    assert ground > 700 if scheme == "light" else ground < 100
    folds[0].send_keys(Keys.SPACE)
    assert len(page.all("details[open]")) == len(folds) - 1
    page.one(".toc a[href='#changes']").click()
    top = "return Math.abs(document.getElementById('changes').getBoundingClientRect().top)"
    page.until(lambda: page.chrome.execute_script(top) < 2)
