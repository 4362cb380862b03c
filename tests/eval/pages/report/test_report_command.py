"""The report as it is called, and words that stay words in it."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from eval.pages.report import __main__ as report
from eval.rendering.blocks import Chart, Part, Section, Table
from eval.rendering.page import plain
from tests.eval.pages.report.conftest import HOSTILE, MARKED, Parsed, made, records, write_run


def test_the_report_of_one_run_is_in_its_folder(first, said):
    assert "licence" not in said(report.main, first)  # no text of the data set is shown
    for name in ("report.html", "report.md"):
        text = (first / name).read_text(encoding="utf-8")
        assert "plain on made" in text
        assert "Differences to" not in text
        assert "Largest gains" not in text
        assert "0.225 [" in re.sub(r"<[^>]+>", "", text)  # mean of types 1-4


def test_several_are_compared_with_the_first_or_a_named_reference(first, second, tmp_path, said):
    out, words = tmp_path / "new" / "page.html", tmp_path / "words.md"
    assert "check its licence" in said(report.main, first, second, "--out", out)
    text = out.with_suffix(".md").read_text(encoding="utf-8")
    assert "better\\<i\\> is better than plain on types 1-4: locomo_f1 +0.100" in text
    assert "## Accuracy against context and latency" in text
    assert "## Largest gains and losses" in text
    assert "equal changes are in the order of the data set" in text
    assert not (first / "report.md").exists()
    for runs in ([first, second], [first]):
        out.unlink()
        said(report.main, *runs, "--reference", second, "--out", out, "--markdown", words)
        assert out.exists()
        text = words.read_text(encoding="utf-8")
        assert "# plain against better\\<i\\> on made" in text
        assert "plain is worse than better\\<i\\> on types 1-4: locomo_f1 -0.100" in text


def test_the_headline_begins_with_what_the_runs_were_made_with_and_its_table(first, second):
    (headline,) = (
        one for one in report.build_report(made(first, second)).blocks if one.anchor == "headline"
    )
    head, table, *rest = headline.parts
    assert "judge none; data made " in str(head)
    assert isinstance(table, Table)
    assert "judge" not in table.header  # no run has one
    assert len(table.header) <= 11
    assert [part for part in rest if isinstance(part, str) and "better than" in part] == [
        "better<i> is better than plain on types 1-4: locomo_f1 +0.100 [+0.100, +0.100], "
        "p = 0.0007."
    ]


def test_gains_show_both_answers_and_the_difference_unopened(first, second):
    html = report.build_report(made(first, second)).html()
    assert "better&lt;i&gt; against plain: 10 of 24 gains in locomo_f1 (+0.10)" in html
    summaries = re.findall(r'<details class="card"><summary>(.*?)</summary>', html, re.DOTALL)
    assert len(summaries) == 10
    for one in summaries:
        assert "+0.10" in one
        assert one.count("answer ") == 2  # of both runs
        assert "gold " in one
    bodies = re.findall(r'<details class="card">.*?</details>', html, re.DOTALL)
    assert all(body.count('<span class="id">ash/1') <= 1 for body in bodies)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["FIRST", "FIRST"], "named 2 times"),
        (["FIRST", "--out", "x.md"], "--out x.md: the page and the markdown need different names"),
        (["FIRST", "OPEN"], "the run is running; resume it to its end first"),
        (["OPEN"], "the run is running; resume it to its end first"),
        (["OLD"], "ash/0 lacks the score locomo_f1; run python -m eval rescore on it"),
    ],
)
def test_wrong_input_is_one_line(arguments, expected, first, data, tmp_path, refused):
    made = {name: records() for name in ("OPEN", "OLD")}
    for old in made["OLD"]:
        del old["scores"]["locomo_f1"]
    status = {"OPEN": {"status": "running"}}
    places = {"FIRST": first} | {
        name: write_run(tmp_path / name, rows, name, data, **status.get(name, {}))
        for name, rows in made.items()
    }
    assert expected in refused(report.main, *(places.get(one, one) for one in arguments))


def test_runs_of_other_data_are_reported_but_not_compared(first, data, tmp_path):
    file = {"name": "other.json", "bytes": 1, "sha256": "0" * 64}
    other = write_run(tmp_path / "other", records(0.1), "other", data, data=[file])
    text = report.build_report(made(first, other)).markdown()
    assert "Not compared: plain and other answered different data" in text
    assert "other: not compared with plain" in text
    assert "is better than" not in text


def test_a_run_without_the_data_set_is_shown_by_ids(first, second, data, said):
    data.write_text(json.dumps(json.loads(data.read_text()), indent=1))
    assert "sha256 differs" in said(report.main, first, second)
    text = (first / "comparison.md").read_text(encoding="utf-8")
    assert "said D1:1" not in text
    assert "D2:1, 0.400, expanded from D1:1" in text


def _tables(parts: Iterable[Part]) -> list[Table]:
    found: list[Table] = []
    for one in parts:
        if isinstance(one, Section):
            found += _tables(one.parts)
        elif isinstance(one, Table | Chart):
            found.append(one if isinstance(one, Table) else one.alternative)
    return found


def test_no_table_shows_a_mean_without_n(first, second):
    tables = [t for b in report.build_report(made(first, second)).blocks for t in _tables(b.parts)]
    with_interval = [t for t in tables if any("[" in cell for row in t.rows for cell in row)]
    assert len(with_interval) > 10
    for table in with_interval:
        names = {name.split(",")[0] for name in table.header}
        counted = names & {"n", "n answered", "n judged"}
        each = all("n=" in cell for row in table.rows for cell in row if "[" in cell)
        assert counted or each, table.header


def _report(*folders: Path) -> report.Report:
    runs = made(*folders)
    assert [run.without_texts for run in runs] == [None] * len(runs)
    return report.build_report(runs)


def test_words_of_data_and_answers_stay_words(first, second):
    page = Parsed(_report(first, second).html())
    assert page.open == []
    assert not {"script", "img", "i", "b", "iframe", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    for place in ("said D1:3 ash", "answer ash/3", "What of ash/3?"):  # turn, answer, question
        assert f"{place} {HOSTILE}" in page.words
    assert f"gold {MARKED}" in page.words
    assert "better<i>" in page.words
    assert f"run {HOSTILE}" in page.words


def test_every_field_of_a_record_is_hostile(tmp_path, data):
    rows = [
        row | {"id": f"{row['id']}{HOSTILE}", "type": HOSTILE, "conversation": HOSTILE}
        for row in records()
    ]
    for row in rows:
        row["evidence"] = [HOSTILE]
        row["retrieved"] = [[HOSTILE, [HOSTILE, MARKED], 0.5, "expanded"]]
        row["trace"] = {"expansion": [{"memory": HOSTILE, "seed": HOSTILE, "via": HOSTILE}]}
    first = write_run(tmp_path / "a", rows, HOSTILE, data, run_id=HOSTILE, dataset=HOSTILE)
    for row in rows:
        row["scores"] |= {"locomo_f1": 0.9}
    page = Parsed(_report(first, write_run(tmp_path / "b", rows, MARKED, data)).html())
    assert not {"script", "img", "b"} & set(page.tags)
    assert page.open == []
    assert f"from {HOSTILE} by {HOSTILE}" in page.words


def test_the_page_needs_no_network_and_every_picture_is_well_formed(first, second):
    html = _report(first, second).html()
    attributes = Parsed(html).attributes
    for name, value in attributes:
        if name in {"src", "href", "srcset", "action", "poster", "data"}:
            assert value.startswith("#") or value == "data:,", (name, value)
    assert "url(" not in html
    assert "@import" not in html
    assert any((value or "").startswith("default-src 'none';") for _, value in attributes)
    pictures = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(pictures) > 8
    for picture in pictures:
        ElementTree.fromstring(picture)  # noqa: S314 - made a line above
        assert "nan" not in picture


def test_markdown_runs_nothing_and_loads_nothing(first, second):
    text = _report(first, second).markdown()
    outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$", "", text)  # the manifest is shown as it is
    assert re.search(r"(?<!\\)<", outside) is None
    assert re.search(r"(?<!\\)!?\[[^\]]*(?<!\\)\]\(", outside) is None
    assert "gold !\\[p\\](http" in outside
    for line in outside.splitlines():
        if line.startswith("|"):
            assert line.endswith("|")


def test_a_fence_in_a_manifest_does_not_end_its_fence(tmp_path, data):
    run = write_run(tmp_path / "fenced", records(), "plain", data, command="```\n````x")
    text = _report(run).markdown()
    fence = re.search(r"^(`{3,})$", text, re.MULTILINE)
    inside = text.split(f"{fence[1]}\n", 2)[1]
    assert '"command"' in inside
    assert inside.rstrip().endswith("}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hybrid_gate scores 0.5", "hybrid_gate scores 0.5"),
        ("_a_ *b* [c](d) <e> f|g `h`", r"\_a\_ \*b\* \[c\](d) \<e\> f\|g \`h\`"),
        ("F1 0.3 [0.1, 0.5], [a]", r"F1 0.3 [0.1, 0.5], \[a\]"),
        ("[1](x) [2]: x", r"\[1\](x) \[2\]: x"),
        ("1. item\n- other", r"1\. item - other"),
        ("- item", r"\- item"),
    ],
)
def test_plain_keeps_names_readable(text, shown):
    assert plain(text) == shown
