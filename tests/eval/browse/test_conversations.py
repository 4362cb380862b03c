"""The pages of the data: turns with the questions that they are evidence of, tokens, scores."""

from __future__ import annotations

import re

from eval.browse import conversations
from eval.browse.conversations import Conversations
from eval.browse.questions import Questions
from eval.browse.site import Site
from memsys.text.tokens import count_tokens
from tests.eval.report.made_report import HOSTILE, data_file, made, records, write_run
from tests.eval.report.test_hostile_words import Parsed


def test_each_turn_names_its_questions_and_tokens(questions):
    found = Conversations(questions)
    assert found.names == ("ash", "beech", "cedar")
    asked = found.questions("ash")
    assert [(one.number, one.id) for one in asked][:2] == [(1, "ash/0"), (2, "ash/1")]
    assert asked[0].evidence == [("D1:1", "t1"), ("D1:3", "t3")]
    assert [(one.label, one.verdicts) for one in asked[1].answers] == [
        *(("plain", ["wrong"]), ("better<i>", ["wrong"]), ("odd", ["wrong", "abstained"]))
    ]
    first, second = found.sessions("ash", asked)
    assert [one.turn.id for one in first.turns] == ["D1:1", "D1:2", "D1:3"]
    assert [len(one.evidence_of) for one in first.turns] == [10, 0, 10]
    assert [one.tokens for one in first.turns] == [
        count_tokens(f"said D1:{n} ash {HOSTILE}") for n in (1, 2, 3)
    ]
    assert second.time == "2 May 2023, 13:56"
    assert found.places["beech/3"] == "conversation-1.html#q4"


def test_scores_by_conversation(questions):
    overview = {row.name: row for row in Conversations(questions).overview()}
    assert (overview["ash"].sessions, overview["ash"].turns) == (2, 6)
    assert overview["ash"].types["temporal"] == 2
    plain, better, odd = overview["beech"].scores  # questions 4 and 9 are of type 5
    assert overview["beech"].n == 8
    assert plain.startswith(f"{sum(n / 20 for n in (0, 1, 2, 3, 5, 6, 7, 8)) / 8:.3f} [")
    assert better.startswith("0.300 [")
    assert odd == better
    assert overview["ash"].scores[2].endswith(" n=7")  # one failed


def test_pages_are_escaped_and_whole(questions):
    site = Site(questions, note=f"note {HOSTILE}")
    for name in site.names:
        if name == "report.html":
            continue  # has tests of its own
        page = site.page(name)
        assert page is not None
        parsed = Parsed(page)
        assert parsed.open == [], name
        assert not {"img", "i", "b"} & set(parsed.tags), name
        targets = set(re.findall(r' id="([^"]+)"', page))
        assert set(re.findall(r'href="#([^"]+)"', page)) <= targets, name
        linked = {one.partition("#")[0] for one in re.findall(r'href="([^"#][^"]*)"', page)}
        assert linked - {"data:,"} <= set(site.names), name
    assert site.page("conversation-3.html") is None
    assert site.page("../index.html") is None


def test_a_script_of_the_page_is_not_ended_by_an_answer(questions):
    page = Site(questions).page("index.html")
    assert page is not None
    assert page.count("</script>") == 2
    assert HOSTILE not in page


def test_without_the_data_questions_remain(tmp_path):
    data = data_file(tmp_path / "made.json")
    folder = write_run(tmp_path / "run", records(), "plain", data)
    data.unlink()
    site = Site(Questions(made(folder)))
    overview, page = site.page("data.html"), site.page("conversation-0.html")
    assert overview is not None
    assert page is not None
    assert "Turns are not shown" in overview
    assert "Turns are not shown" in page
    assert 'id="q10"' in page
    assert "D1:3" in page


def test_runs_of_other_files_are_named(tmp_path):
    first = write_run(tmp_path / "a", records(), "plain", data_file(tmp_path / "made.json"))
    other = data_file(tmp_path / "other.json")
    other.write_text(other.read_text().replace("said", "wrote"))
    second = write_run(tmp_path / "b", records(), "changed", other)
    page = Site(Questions(made(first, second))).page("data.html")
    assert page is not None
    assert "Other data files were read by changed" in page


def test_of_a_long_conversation_the_evidence_is_shown(questions, monkeypatch):
    monkeypatch.setattr(conversations, "MOST_TURNS", 5)
    page = Site(questions).page("conversation-0.html")
    assert page is not None
    assert re.findall(r'<li id="(t\d)"', page) == ["t1", "t3"]
    assert "too long for a page" in page
