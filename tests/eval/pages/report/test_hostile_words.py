import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from eval.pages.report.build import Report, build_report
from eval.rendering.page import plain
from tests.eval.pages.report.conftest import HOSTILE, MARKED, made, records, write_run
from tests.eval.pages.shown import Parsed


def _report(*folders: Path) -> Report:
    runs = made(*folders)
    assert [run.without_texts for run in runs] == [None] * len(runs)
    return build_report(runs)


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
