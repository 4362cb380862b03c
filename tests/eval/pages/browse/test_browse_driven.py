"""The pages as a person uses and sees them: keys, clicks, Back, a phone and a desk, the dark."""

from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from eval.pages.browse.conversations import Questions
from eval.pages.browse.server import PageServer, answer_site
from eval.pages.browse.site import Site
from tests.eval.commands import Run
from tests.eval.pages.browse.conftest import Page, needs_driver

pytestmark = needs_driver


def test_words_are_searched_as_they_are_typed(page):
    page.one("body").send_keys("/")
    assert page.chrome.switch_to.active_element.get_attribute("id") == "q"
    page.type("ZEBRA str")
    assert page.ids == ["ash/5"]
    assert page.status == "1 to 1 of 1 questions"
    assert "q=ZEBRA+str" in page.chrome.current_url
    page.type("x")
    assert page.status == "No question matches."
    page.type(Keys.BACKSPACE + Keys.ESCAPE)
    assert page.one("#q").get_property("value") == "ZEBRA str"  # what is shown is what was asked
    assert page.ids == ["ash/5"]
    assert page.chrome.switch_to.active_element.tag_name == "body"
    page.one("button[type=reset]").click()
    page.settle()
    assert page.status == "1 to 30 of 30 questions"
    assert page.one("#q").get_property("value") == ""


def test_every_filter_finds_what_is_in_the_records(page, folders):
    saved = [Run(folder).records for folder in folders]
    types = [option.text for option in Select(page.one("#type")).options][1:]
    assert len(types) == 5
    for kind in types:
        page.choose("type", kind)
        assert page.ids == [row["id"] for row in saved[0] if row["type"] == kind]
        assert page.status.endswith(f"of {len(page.ids)} questions")
    page.choose("type", "all")
    cases: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [
        ("error", lambda row: row["status"] == "error"),
        ("abstained", lambda row: row["abstained"]),
        ("right", lambda row: row["status"] == "ok" and _right(row)),
        ("wrong", lambda row: row["status"] == "ok" and not _right(row)),
        ("not scored", lambda row: False),
    ]
    assert [option.text for option in Select(page.one("#verdict")).options] == [
        *("all", "right", "wrong", "error", "abstained", "not scored")
    ]
    page.choose("run", "odd")
    for verdict, so in cases:
        page.choose("verdict", verdict)
        assert page.ids == [row["id"] for row in saved[2] if so(row)], verdict
    page.choose("run", "any run")
    page.choose("verdict", "error")
    assert page.ids == [row["id"] for rows in saved for row in rows if row["status"] == "error"]


def _right(row: dict[str, Any]) -> bool:
    return row["abstained"] if row["category"] == 5 else row["scores"]["locomo_f1"] >= 0.5


def test_differences_between_two_runs(page):
    page.choose("one", "better<i>")
    page.choose("other", "odd")
    page.choose("change", "worse")
    assert page.ids == ["ash/6"]
    assert "difference -0.390" in page.one("#found .states").text
    page.choose("one", "odd")
    page.choose("other", "better<i>")
    assert page.status == "No question matches."
    page.choose("change", "better")
    assert page.ids == ["ash/6"]
    page.choose("change", "all")
    page.choose("order", "largest gains")
    assert page.ids[0] == "ash/6"
    assert page.status.endswith("of 28 questions")  # 1 failed, 1 was not asked
    page.choose("one", "better<i>")
    assert page.status == "No question matches."  # a run against itself


def test_back_and_forward_undo_and_redo_choices(page):
    page.choose("type", "temporal")
    page.choose("verdict", "abstained")
    page.type("ash")
    assert page.ids == ["ash/1"]
    page.chrome.back()
    page.until(lambda: page.status == "1 to 6 of 6 questions")
    chosen = [page.one(f"#{name}").get_property("value") for name in ("type", "verdict", "q")]
    assert chosen == ["temporal", "", ""]
    page.chrome.back()
    page.until(lambda: page.status == "1 to 30 of 30 questions")
    assert page.one("#other").get_property("value") == "1"
    page.chrome.forward()
    page.until(lambda: page.status == "1 to 6 of 6 questions")
    page.chrome.forward()
    page.until(lambda: page.ids == ["ash/1"])
    page.chrome.refresh()
    page.settle()
    assert page.ids == ["ash/1"]
    page.chrome.find_element(By.LINK_TEXT, "Report").click()
    page.until(lambda: page.all(".toc a[href='#changes']"))
    page.chrome.back()
    page.until(lambda: page.all("#found > details"))
    page.settle()
    assert page.ids == ["ash/1"]
    assert page.one("#verdict").get_property("value") == "abstained"


def test_cards_by_keyboard(page):
    for key, at in (("j", "ash/0"), ("j", "ash/1"), ("j", "ash/2"), ("k", "ash/1")):
        page.press(key)
        assert page.at == at
    page.press(Keys.ENTER)
    page.until(lambda: "I do not know." in page.one("[data-id='ash/1']").text)
    assert len(page.all(".pair .side")) == 3
    page.press("j", Keys.SPACE)
    page.until(lambda: len(page.all(".pair .side")) == 6)
    page.press("k", Keys.ENTER)
    page.until(lambda: not page.one("[data-id='ash/1']").get_property("open"))
    page.press("k", "k")
    assert page.at == "ash/0"  # there is none before the first
    page.chrome.execute_script("document.activeElement.blur()")
    page.one("[data-id='ash/2'] .pair").click()  # no head has the keyboard any more
    page.press("j")
    assert page.at == "ash/3"


def test_a_card_is_asked_for_once(page):
    head = page.one("[data-id='ash/0'] > summary")
    page.requested()
    for open_ in (True, False, True):
        head.click()
        assert page.one("[data-id='ash/0']").get_property("open") is open_
        page.until(lambda: page.all("[data-id='ash/0'] .pair"))
    asked = page.requested()
    assert [one.partition("?")[2] for one in asked if "/card?" in one] == ["id=ash%2F0"]
    page.chrome.refresh()  # leaves something for the check of where requests go
    page.settle()


@pytest.fixture
def by_ten(
    page: Page, server: PageServer, questions: Questions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list has ten questions a page."""
    monkeypatch.setattr("eval.pages.browse.site.PAGE", 10)
    monkeypatch.setattr(server, "answer", answer_site(Site(questions)))  # without pages made before
    page.chrome.refresh()
    page.settle()


@pytest.mark.usefixtures("by_ten")
def test_pages_of_questions(page):
    page.type("of")
    assert page.status == "1 to 10 of 30 questions"
    assert not page.one("#previous").is_enabled()
    for status in ("11 to 20 of 30 questions", "21 to 30 of 30 questions"):
        page.one("#next").click()
        page.until(lambda status=status: page.status == status)
        page.until(lambda: page.chrome.switch_to.active_element.get_attribute("id") == "status")
    assert page.ids[-1] == "cedar/9"
    assert not page.one("#next").is_enabled()
    page.chrome.back()
    page.until(lambda: page.status == "11 to 20 of 30 questions")
    page.one("#previous").click()
    page.until(lambda: page.status == "1 to 10 of 30 questions")
    page.one("#next").click()
    page.until(lambda: page.status.startswith("11"))
    page.one("#type").send_keys(Keys.ARROW_DOWN)  # another choice starts from its first page
    page.until(lambda: page.status == "1 to 6 of 6 questions")


@pytest.mark.usefixtures("by_ten")
def test_arrows_and_pages_by_keyboard(page):
    page.press("j", Keys.ARROW_DOWN)
    assert page.at == "ash/1"
    page.press(Keys.ARROW_UP, "k")
    assert page.at == "ash/0"
    for _ in range(10):
        page.press("j")
    assert page.at == "beech/0"
    assert page.status == "11 to 20 of 30 questions"
    page.press("k")
    assert page.at == "ash/9"
    page.press(Keys.ENTER)
    page.until(lambda: page.all("[data-id='ash/9'][open] .pair"))
    page.press("K")
    page.until(lambda: page.all("[data-id='ash/8'][open] .pair"))
    assert not page.one("[data-id='ash/9']").get_property("open")


def test_the_keys_are_documented_on_the_page(page):
    page.press("?")
    dialog = page.one("dialog")
    assert dialog.get_property("open")
    assert "next and previous question" in dialog.text
    page.press("j", Keys.ESCAPE)  # other keys do nothing meanwhile
    assert not dialog.get_property("open")
    assert page.at is None
    page.one("#help").click()
    page.press(Keys.ENTER)  # its button has the focus
    assert not dialog.get_property("open")


def test_words_are_found_in_any_case_and_order_and_by_an_address(page):
    page.type("STRASSE zebra")
    assert page.ids == ["ash/5"]
    page.chrome.get(f"{page.home}#q=nowhere")
    page.until(lambda: page.status == "No question matches.")
    page.chrome.get(f"{page.home}#start=9999999999&type=spatial")  # fits nothing
    page.until(lambda: page.status == "1 to 30 of 30 questions")
    page.chrome.get(f"{page.home}#verdict=abstained&run=2&open=ash/1")
    page.until(lambda: page.all("[data-id='ash/1'][open] .pair .hit"))
    assert page.ids == ["ash/1", "ash/4"]
    assert "I do not know." in page.one("[data-id='ash/1']").text
    assert not page.all("[data-id='ash/4'] .pair, img")  # loaded on demand


def test_a_conversation_leads_back_to_a_question(page):
    page.press("j", "j", "c")
    page.until(lambda: page.chrome.current_url.endswith("conversation-0.html#q2"))
    page.one("#q2 > summary").click()
    assert "What of ash/1?" in page.one("#q2").text
    page.one("#t1 a[href='#q3']").click()
    page.one("#q3 > summary").click()
    page.one("#q3 a[href^='index.html']").click()
    page.until(lambda: page.all("[data-id='ash/2'][open] .pair"))
    assert page.at == "ash/2"


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
