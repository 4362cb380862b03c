"""What the pages show: questions with answers, turns with tokens; and pages in a folder."""

import re
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from eval.pages.browse import conversations
from eval.pages.browse.__main__ import main
from eval.pages.browse.conversations import Conversations, Questions
from eval.pages.browse.site import Site
from memsys.core.tokens import count_tokens
from tests.eval.pages.browse.conftest import needs_driver, watched
from tests.eval.pages.report.conftest import HOSTILE, Parsed, data_file, made, records, write_run


def test_each_turn_names_its_questions_and_tokens(questions):
    found = Conversations(questions)
    assert [page.name for page in found.pages.values()] == ["ash", "beech", "cedar"]
    ash = found.pages["conversation-0.html"]
    asked = ash.questions()
    assert [(one.number, one.record["id"]) for one in asked][:2] == [(1, "ash/0"), (2, "ash/1")]
    assert asked[0].evidence == [("D1:1", "t1"), ("D1:3", "t3")]
    assert [(label, result.verdicts) for label, result in asked[1].answers] == [
        *(("plain", ["wrong"]), ("better<i>", ["wrong"]), ("odd", ["wrong", "abstained"]))
    ]
    first, second = ash.sessions(asked)
    assert [one.turn.id for one in first.turns] == ["D1:1", "D1:2", "D1:3"]
    assert [len(one.evidence_of) for one in first.turns] == [10, 0, 10]
    assert [one.tokens for one in first.turns] == [
        count_tokens(f"said D1:{n} ash {HOSTILE}") for n in (1, 2, 3)
    ]
    assert second.time == "2 May 2023, 13:56"
    assert found.places["beech/3"] == "conversation-1.html#q4"


def test_scores_by_conversation(questions):
    ash, beech, _ = Conversations(questions).pages.values()
    assert (len(ash.whole.sessions), len(ash.turns)) == (2, 6)
    assert ash.types["temporal"] == 2
    n, (plain, better, odd) = beech.scores  # questions 4 and 9 are of type 5
    assert n == 8
    assert plain.startswith(f"{sum(n / 20 for n in (0, 1, 2, 3, 5, 6, 7, 8)) / 8:.3f} [")
    assert better.startswith("0.300 [")
    assert odd == better
    assert ash.scores[1][2].endswith(" n=7")  # one failed


def test_pages_are_escaped_and_whole(questions):
    site = Site(questions, note=f"note {HOSTILE}")
    for name in site.names:
        if name == "report.html":
            continue  # has tests of its own
        page = site.page(name)
        parsed = Parsed(page)
        assert parsed.open == [], name
        assert not {"img", "i", "b"} & set(parsed.tags), name
        targets = set(re.findall(r' id="([^"]+)"', page))
        assert set(re.findall(r'href="#([^"]+)"', page)) <= targets, name
        linked = {one.partition("#")[0] for one in re.findall(r'href="([^"#][^"]*)"', page)}
        assert linked - {"data:,"} <= set(site.names), name
    assert site.page("conversation-3.html") is None
    assert site.page("../index.html") is None
    index = site.page("index.html")  # an answer ends no script of it
    assert index.count("</script>") == 2
    assert HOSTILE not in index


def test_without_the_data_questions_remain(tmp_path):
    data = data_file(tmp_path / "made.json")
    folder = write_run(tmp_path / "run", records(), "plain", data)
    data.unlink()
    site = Site(Questions(made(folder)))
    page = site.page("conversation-0.html")
    for one in (site.page("data.html"), page):
        assert "Turns are not shown" in one
    assert 'id="q10"' in page
    assert "D1:3" in page


def test_runs_of_other_files_are_named(tmp_path):
    data, other = data_file(tmp_path / "made.json"), tmp_path / "other.json"
    other.write_text(data.read_text().replace("said", "wrote"))
    pairs = (("plain", data), ("changed", other))
    runs = made(*(write_run(tmp_path / name, records(), name, path) for name, path in pairs))
    page = Site(Questions(runs)).page("data.html")
    assert "Other data files were read by changed" in page


def test_of_a_long_conversation_the_evidence_is_shown(questions, monkeypatch):
    monkeypatch.setattr(conversations, "MOST_TURNS", 5)
    page = Site(questions).page("conversation-0.html")
    assert re.findall(r'<li id="(t\d)"', page) == ["t1", "t3"]
    assert "too long for a page" in page


def test_a_row_has_score_answer_and_verdicts_of_every_run(questions):
    rows = {row["id"]: row for row in questions.rows()}
    assert len(rows) == 30
    assert list(rows)[:3] == ["ash/0", "ash/1", "ash/2"]
    first, second, third = rows["ash/0"]["runs"]
    assert [first[0], second[0], third[0]] == [0.0, 0.1, None]  # the third failed
    assert [one[2] for one in (first, second, third)] == [["wrong"], ["wrong"], ["error"]]
    assert rows["ash/5"]["runs"][2][1] == "A zebra, in Straße 5"
    assert rows["ash/4"]["runs"][2][2] == ["right", "abstained"]
    assert rows["cedar/9"]["runs"][2] is None  # not asked
    assert questions.key == "locomo_f1"
    assert [side.label for side in questions.card("ash/0").sides] == ["plain", "better<i>", "odd"]
    assert [side.label for side in questions.card("cedar/9").sides] == ["plain", "better<i>"]
    assert questions.card("oak/0") is None


def test_another_question_of_the_same_id_has_no_score(tmp_path):
    data, other = data_file(tmp_path / "made.json"), records()
    other[3]["question"] = "Another?"
    pairs = (("first", records()), ("second", other))
    runs = made(*(write_run(tmp_path / name, rows, name, data) for name, rows in pairs))
    row = next(row for row in Questions(runs).rows() if row["id"] == "ash/3")
    assert [one[0] for one in row["runs"]] == [0.15, None]


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
    output = capsys.readouterr().out
    sizes = {path.name: path.stat().st_size for path in out.iterdir()}
    total, index = sum(sizes.values()) / 1e6, sizes["index.html"] / 1e6
    line = f"6 pages, {total:.1f} MB ({index:.1f} MB of it index.html with all questions)"
    assert f"{line}, written to {out}" in output
    assert f"open {(out / 'index.html').as_uri()}" in output
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
        message = refused(main, folders[0], "--out", tmp_path / taken)
        assert "is something else already" in message


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
