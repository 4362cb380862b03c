"""The site as files: whole, safe and reproducible; and which systems it ranks together."""

import json
import re
from pathlib import Path

import pytest

from eval.cards.card.schema import Card
from eval.cards.site.__main__ import main
from eval.cards.site.board import Group, board
from eval.cards.site.cards import Entry, command_to_verify, link, read_entries
from tests.eval.cards.site.made_cards import (
    ALL_TYPES,
    HALF,
    HOSTILE,
    LOCOMO,
    card,
    keyless,
    sha,
    write,
)
from tests.eval.pages.report.conftest import Parsed


def site(tmp_path: Path, *cards: Card, options: tuple[str, ...] = ()) -> Path:
    folder, out = write(tmp_path / "cards", *cards), tmp_path / "site"
    assert main([str(folder), "--out", str(out), *options]) == 0
    return out


def entry(one: Card, tmp_path: Path) -> Entry:
    return read_entries([write(tmp_path / "of one", one)])[0]


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_every_page_is_reached_by_links_and_each_link_leads_somewhere(tmp_path):
    out = site(tmp_path, card("one"), card("other", 0.3), keyless("own"))
    pages = {path: Parsed(path.read_text(encoding="utf-8")) for path in out.rglob("*.html")}
    assert len(pages) == 12 + 3
    linked = set()
    for path, page in pages.items():
        assert page.open == []
        for anchor in page.all("a"):
            address = anchor["href"] or ""
            if not address.startswith("https://example.org/"):
                linked.add((path.parent / address).resolve())
    assert {path for path in linked if not path.is_file()} == set()
    assert {path.resolve() for path in pages} <= linked


def test_words_of_cards_stay_words(tmp_path):
    fields = card("x", data="0" * 64).model_dump()
    fields |= {
        "system": HOSTILE,
        "models": {"reader": f"reader {HOSTILE}", "judge": HOSTILE},
        "unknown": [f"unknown {HOSTILE}"],
        "dataset": {"_target_": "eval.datasets.locomo.LoCoMo", "name": f"data {HOSTILE}"},
        "command": f"command {HOSTILE}",
    }
    out = site(tmp_path, Card.model_validate(fields))
    for path in out.rglob("*.html"):
        page = Parsed(path.read_text(encoding="utf-8"))
        assert page.open == []
        assert not {"img", "i", "iframe", "object"} & {*page.tags}
        assert len(page.all("script")) == (path.parent == out)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
    words = Parsed(next((out / "cards").glob("*.html")).read_text(encoding="utf-8")).words
    for word in ("reader", "unknown", "data", "command"):
        assert f"{word} {HOSTILE}" in words
    assert HOSTILE in Parsed((out / "index.html").read_text(encoding="utf-8")).words


def test_pages_have_safe_names_and_no_card_renames_published_data_or_hides_letters(tmp_path):
    names = ["../../etc/passwd", "CON", "a b/c", "系统", ".", "-rf", "x" * 150]
    out = site(tmp_path, *(card(name, f1) for name in names for f1 in (0.4, 0.3)))
    files = sorted(path.name for path in (out / "cards").iterdir())
    assert len(files) == 4 * len(names)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{1,75}\.(html|json)", file) for file in files)
    forged = {"_target_": "eval.datasets.locomo.LoCoMo", "name": "the official ranking"}
    assert entry(card("x", dataset=forged), tmp_path).dataset == "locomo"
    unseen = card("mem0\u202egnp.exe\u200b", dataset=forged)
    assert entry(unseen, tmp_path / "z").system == "mem0\\u202egnp.exe\\u200b"
    part = forged | {"types": ["temporal"]}
    assert entry(card("y", dataset=part), tmp_path / "y").dataset == "the official ranking"


def test_verdicts_on_fewer_questions_are_marked(tmp_path):
    fields = card("few", 0.39).model_dump()
    for score in fields["scores"]:
        if score["measure"] == "judge":
            score["n"] = 756
    out = site(tmp_path, card("all"), Card.model_validate(fields))
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count("n=756") == 1
    assert "n=1,540" not in page


def test_links_lead_to_web_pages_only():
    for address in ("https://example.org/a.json", "http://example.org/a.json"):
        assert link(address) == address
    schemes = ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/etc/passwd")
    hosts = ("//example.org/a", "https:///a", "https://github.com@example.org/a", "https://[")
    for address in (*schemes, *hosts, "https://example.org/a\nb"):
        assert link(address) == "", address


def test_two_builds_are_equal_and_the_order_of_cards_does_not_matter(tmp_path):
    cards = (card("one"), card("other", 0.3), keyless("own"))
    assert content(site(tmp_path / "a", *cards)) == content(site(tmp_path / "b", *cards[::-1]))
    folder = tmp_path / "a" / "cards"
    assert len(read_entries([folder, folder / "0.json"])) == 3  # a card named twice is one


def test_building_again_removes_the_pages_of_cards_that_are_gone(tmp_path, said):
    out = site(tmp_path, card("one"), card("other"))
    (out / "cards" / "mine.txt").write_text("stays")
    output = said(main, tmp_path / "cards" / "0.json", "--out", out)
    written = len(content(out)) - 1  # mine.txt
    assert f"1 cards; {written} files written to " in output
    names = sorted(path.name.partition("-")[0] for path in (out / "cards").iterdir())
    assert names == ["mine.txt", "one", "one"]


def test_nothing_is_written_over_something_else_or_of_what_is_no_card(tmp_path, said):
    (tmp_path / "cards").mkdir()
    folder = write(tmp_path / "cards", card("one"))
    before = content(folder)
    assert "is something else already" in said(main, folder, "--out", folder, code=2)
    assert content(folder) == before
    # a file that is no card, and a folder without cards
    (folder / "bad.json").write_text('{"system": "x"}')
    (tmp_path / "empty").mkdir()
    for given, says in ((folder, "bad.json"), (tmp_path / "empty", "empty")):
        assert f"{says}: no score card" in said(main, given, "--out", tmp_path / "site", code=2)
        assert not (tmp_path / "site").exists()


def test_the_first_page_is_the_chosen_table_and_programs_get_a_list(tmp_path):
    given = card("one", 0.41)
    out = site(tmp_path, given, options=("--protocol", "strict", "--key", "excluded"))
    current = re.findall(r'aria-current="page">(\w+)<', (out / "index.html").read_text())
    assert current == ["strict", "excluded"]
    assert (out / "original-mem0.html").is_file()
    assert not (out / "excluded-strict.html").exists()
    (listed,) = json.loads((out / "index.json").read_text(encoding="utf-8"))["cards"]
    assert (listed["system"], listed["answers"]) == ("one", "https://example.org/answers.json")
    assert (out / listed["page"]).is_file()
    assert (out / listed["card"]).read_bytes() == (tmp_path / "cards" / "0.json").read_bytes()
    mem0 = {"key": "original", "protocol": "mem0", "f1": 0.4, "interval": [0.37, 0.43], "n": 1540}
    assert mem0 in listed["scores"]
    assert len(listed["scores"]) == 12


def test_the_command_to_verify_is_exact_and_quoted(tmp_path):
    one = entry(card("one", url="https://example.org/a.json?x=$(id)&y=1"), tmp_path)
    assert command_to_verify(one).splitlines() == [
        "python -m eval fetch locomo",
        "curl -fL -o answers.json 'https://example.org/a.json?x=$(id)&y=1'",
        f"python -m eval card --verify {one.page}.json --answers answers.json --dataset locomo",
    ]
    for number, name in enumerate(("$(id).json", "-rf", "a b", "..", ";x")):
        odd = entry(card("x", answers=name), tmp_path / str(number))
        assert "--answers answers --dataset" in command_to_verify(odd)
    other = command_to_verify(entry(card("x", data="0" * 64, url=None), tmp_path / "other data"))
    assert other.startswith("python -m eval card --verify x-")
    assert other.endswith("--answers answers.json")
    own = command_to_verify(entry(keyless("own"), tmp_path / "own"))
    assert own.endswith(".json --answers RUN --dataset locomo")


def test_the_page_of_a_card_has_all_its_scores_and_hashes_and_the_table_is_accessible(tmp_path):
    one = card("one", 0.41, reading={"columns": {"answer": ["choices", "text"]}})
    out = site(tmp_path, one)
    text = next((out / "cards").glob("*.html")).read_text("utf-8")
    words = Parsed(text).words
    for score in one.scores:
        assert f"{score.mean:.3f}" in words
    for file in one.files:
        assert file.sha256 in words
        assert file.rows_sha256 is None or file.rows_sha256 in words
    assert "The embedder is not known." in words
    assert one.command in words
    assert "<dt>answers read from</dt><dd>choices + text</dd>" in text
    # the table is accessible
    page = Parsed((out / "index.html").read_text(encoding="utf-8"))
    assert len(page.all("caption")) == len(page.all("table")) == 1
    assert {one.get("scope") for one in page.all("th")} == {"col", "row"}
    assert [one["aria-sort"] for one in page.all("th") if "aria-sort" in one] == ["ascending"]
    region = next(one for one in page.all("div") if one.get("role") == "region")
    assert region["tabindex"] == "0"
    assert region["aria-labelledby"] in {one.get("id") for one in page.all("h2")}


def test_pages_say_how_answers_without_a_link_are_had(tmp_path):
    out = site(tmp_path, keyless("own"), card("with"), card("without", url=None))
    pages = {path.name.partition("-")[0]: path.read_text() for path in out.glob("cards/*.html")}
    of_run = {name: "RUN is the folder" in text for name, text in pages.items()}
    assert of_run == {"own": True, "with": False, "without": False}
    unlinked = {name: "no link to the answers" in pages[name] for name in ("with", "without")}
    assert unlinked == {"with": False, "without": True}


def groups(folder: Path, *cards: Card, key: str = "original", protocol: str = "mem0"):
    return board(read_entries([write(folder, *cards)]), key, protocol).groups


def ranks(group: Group) -> dict[str, str]:
    return {one.system: rank for one, rank in zip(group.entries, group.ranks, strict=True)}


def test_ranks_go_by_f1_and_equal_scores_share_one(tmp_path):
    (group,) = groups(tmp_path, card("low", 0.2), card("b", 0.5), card("a", 0.5), card("mid", 0.3))
    assert list(ranks(group).items()) == [("a", "1"), ("b", "1"), ("mid", "3"), ("low", "4")]


@pytest.mark.parametrize(
    "other",
    [
        card("other", data=sha("another file")),
        card("other", dataset=LOCOMO | {"conversations": ["conv-26"]}),
        card("other", dataset=LOCOMO | {"limit": 5}),
        card("other", dataset=LOCOMO | {"_target_": "eval.datasets.locomo_plus.LoCoMoPlus"}),
        keyless("other"),
    ],
)
def test_systems_that_are_not_comparable_are_ranked_apart(tmp_path, other):
    found = groups(tmp_path, card("one"), other)
    assert sorted(map(ranks, found), key=str) == [{"one": "1"}, {"other": "1"}]
    elsewhere = LOCOMO | {"path": "mine.json", "name": "locomo10", "captions": False}
    (group,) = groups(tmp_path, card("one", 0.5), card("same questions", dataset=elsewhere))
    assert ranks(group) == {"one": "1", "same questions": "2"}


def test_a_protocol_with_more_types_parts_those_who_answered_more(tmp_path):
    cards = (card("four types", 0.3), card("five types", 0.4, types=ALL_TYPES))
    (together,) = groups(tmp_path, *cards)
    assert ranks(together) == {"five types": "1", "four types": "2"}
    for key in ("original", "excluded"):
        found = groups(tmp_path, *cards, protocol="locomo", key=key)
        assert list(map(ranks, found)) == [{"five types": "1"}, {"four types": "1"}]


@pytest.mark.parametrize("key", ["original", "corrected"])
def test_answers_to_some_of_the_questions_have_no_rank(tmp_path, key):
    whole, part = groups(tmp_path, card("whole", 0.2), card("part", 0.9, types=HALF), key=key)
    assert ranks(whole) == {"whole": "1"}
    assert ranks(part) == {"part": ""}
    assert "not all of the data set" in part.title
    assert "no ranks" in part.caption


def test_another_list_of_errors_is_another_key(tmp_path):
    one = card("one")
    errors = {"role": "key", "name": "mine.json", "bytes": 1, "sha256": sha("my errors")}
    fields = one.model_dump() | {"system": "other"}
    other = Card.model_validate(fields | {"files": [*fields["files"], errors]})
    assert len(groups(tmp_path, one, other)) == 1
    assert len(groups(tmp_path, one, other, key="corrected")) == 2


def test_a_system_without_a_score_there_is_listed_apart(tmp_path):
    scores = [one for one in card("x").model_dump()["scores"] if one["protocol"] != "memos"]
    entries = read_entries([write(tmp_path, card("one"), card("other", scores=scores))])
    found = board(entries, "original", "memos")
    assert [one.system for one in found.without] == ["other"]
    assert [ranks(group) for group in found.groups] == [{"one": "1"}]


def test_the_table_shows_what_the_card_says(tmp_path):
    group = groups(tmp_path, card("one", 0.41))[0]
    texts = {one.title: (one.cells[0].text, one.cells[0].note) for one in group.columns}
    assert texts["F1"] == ("0.400 [0.370, 0.430]", "")
    assert texts["temporal"] == ("0.360 [0.330, 0.390]", "")
    assert texts["BLEU-1"] == ("0.320 [0.290, 0.350]", "")
    assert texts["answered"] == ("1,540", "of 1,986")
    assert (texts["reader"][0], texts["judged by"][0]) == ("gpt-4.1-mini", "gpt-4o-mini")
    assert [column.note for column in group.columns if column.title == "judge"] == ["reported"]
    assert group.caption.startswith("multi_hop 282, temporal 321,")
    assert group.caption.endswith("data sha256 79fa87e90f04")
    # a verdict of this project is not marked as reported
    own = [one | {"reported": False} for one in card("own").model_dump()["scores"]]
    (group,) = groups(tmp_path / "own", card("theirs", 0.5), card("own", scores=own))
    judge = {column.title: column for column in group.columns}["judge"]
    assert (judge.note, [cell.note for cell in judge.cells]) == ("", ["reported", ""])


def test_a_reader_that_is_a_language_model_is_named_and_an_unknown_one_is_not_called_so(tmp_path):
    models = {"reader": "llm", "llm": "qwen3", "judge": None}
    (group,) = groups(tmp_path / "known", card("own", kind="run", models=models))
    assert "answers of language models" in group.title
    assert "unknown readers" not in group.title
    assert "qwen3" in [column.cells[0].text for column in group.columns]
    (group,) = groups(tmp_path / "unknown", card("one"), card("other", reader=None))
    assert "answers of language models or unknown readers" in group.title
