"""A folder of pages: whole, without a server or a request, and never over something else."""

import re
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from eval.pages.browse.__main__ import main
from tests.eval.pages.browse.driven import needs_driver, watched
from tests.eval.pages.report.conftest import HOSTILE


@pytest.fixture(scope="module")
def bundle(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "pages"
    assert main([*map(str, folders), "--out", str(out)]) == 0
    return out


def test_pages_replace_earlier_ones_and_their_sizes_are_printed(folders, tmp_path, capsys):
    out = tmp_path / "deep" / "pages"
    assert main([str(folders[0]), "--out", str(out)]) == 0
    (out / "conversation-3.html").write_text("of an earlier run with more conversations")
    assert main([str(folders[1]), "--out", str(out)]) == 0  # replaces all that
    found = capsys.readouterr().out
    sizes = {path.name: path.stat().st_size for path in out.iterdir()}
    total, index = sum(sizes.values()) / 1e6, sizes["index.html"] / 1e6
    line = f"6 pages, {total:.1f} MB ({index:.1f} MB of it index.html with all questions)"
    assert f"{line}, written to {out}" in found
    assert f"open {(out / 'index.html').as_uri()}" in found
    assert {path.name for path in out.iterdir()} == {
        *("index.html", "report.html", "data.html"),
        *(f"conversation-{n}.html" for n in range(3)),
    }


def test_no_page_asks_for_anything(bundle):
    for path in bundle.iterdir():
        page = path.read_text(encoding="utf-8")
        assert HOSTILE not in page
        assert "connect-src" not in page
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', page), path.name


def test_something_else_is_not_replaced(folders, tmp_path, refused):
    (tmp_path / "file").write_text("mine")
    for folder, name in (("folder", "notes.txt"), ("page", "index.html")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("mine")
    for taken in ("file", "folder", "page"):
        told = refused(main, folders[0], "--out", tmp_path / taken)
        assert "is something else already" in told


@needs_driver
def test_a_file_searches_opens_and_goes_back(chrome, bundle):
    home, inside = (bundle / "index.html").as_uri(), f"{bundle.as_uri()}/"
    with watched(chrome, home, inside) as page:
        assert page.status == "1 to 30 of 30 questions"
        page.choose("type", "temporal")
        page.choose("verdict", "abstained")
        assert page.ids == ["ash/1"]
        chrome.back()
        page.until(lambda: page.status == "1 to 6 of 6 questions")
        page.press(Keys.ESCAPE, "j", Keys.ENTER)  # out of the box, to the first
        page.until(lambda: "said D1:1 ash" in page.one("[data-id='ash/1']").text)
        page.press("c")
        page.until(lambda: chrome.current_url.endswith("conversation-0.html#q2"))
        page.one("#q2 > summary").click()
        page.one("#q2 a[href^='index.html']").click()
        page.until(lambda: page.all("[data-id='ash/1'][open] .pair"))
