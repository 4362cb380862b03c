import re
from pathlib import Path
from typing import Any

import pytest

from eval.pages.browse.conversations import Questions
from eval.pages.browse.site import Site
from eval.pages.report import __main__ as report
from eval.pages.report.runs import ReportedRun
from eval.pages.report.scores import retrieval_block
from eval.rendering.blocks import Block, Chart, Section, Table
from tests.eval.analyse.diagnose.made_runs import sentences, tables
from tests.eval.factory import write_rankings
from tests.eval.pages.report.conftest import made, records, write_run

OTHERS = [f"D9:{n}" for n in range(1, 101)]  # no evidence; that is D1:1 and D1:3


def _ranked(folder: Path, *places: int, depth: int = 100, **more: Any) -> Path:
    """Rank D1:1 and D1:3 at `places` in every question."""
    turns = OTHERS[:depth]
    for place, turn in zip(places, ("D1:1", "D1:3"), strict=False):
        turns[place - 1] = turn
    ids = [row["id"] for row in records()]
    return write_rankings(folder, dict.fromkeys(ids, turns), depth=depth, **more)


def _block(*folders: Path) -> Block:
    return retrieval_block(made(*folders))


def _row(table: Table, name: str) -> dict[str, str]:
    """The cells of a row by their headings, without intervals."""
    (row,) = (row for row in table.rows if row[0] == name)
    return {title: cell.partition(" [")[0] for title, cell in zip(table.header, row, strict=True)}


def test_the_table_has_each_kind_of_recall_by_type(first):
    table = tables(_block(_ranked(first, 2, 40, size=500)))[0]
    assert _row(table, "overall (types 1-4)") == {
        **{"type": "overall (types 1-4)", "n": "24", "recall@10": "0.500", "any@10": "1.000"},
        **{"all@10": "0.000", "nDCG@10": "0.387", "MRR": "0.500"},
        **{"share of store@10": "0.020", "session any@5": "1.000"},
    }
    assert [row[0] for row in table.rows][-1] == "overall (types 1-4)"
    assert _row(table, "adversarial")["n"] == "6"


def test_the_chart_has_recall_at_each_cutoff(first, second):
    chart = _block(_ranked(first, 2, 40), _ranked(second, 1, 2)).parts[0]
    assert [one.name for one in chart.legend] == ["plain", "better<i>"]
    rows = [[cell.partition(" [")[0] for cell in row] for row in chart.alternative.rows]
    assert rows == [
        ["plain", "24", "0.000", "0.500", "0.500", "0.500", "0.500", "1.000", "1.000"],
        ["better<i>", "24", "0.500", *["1.000"] * 6],
    ]
    assert chart.svg.count('class="c s') == 2
    assert "50: 1.000 [1.000, 1.000]" in chart.svg


def test_runs_without_rankings_are_named(first, second):
    assert retrieval_block(made(first, second)) is None
    block = _block(first, _ranked(second, 1, 2))
    assert "No rankings are recorded: plain." in sentences(block)
    (shown,) = block.parts[0].legend
    assert shown.name == "better<i>"
    assert re.findall('class="c s(.)', block.parts[0].svg) == [str(shown.colour)]


def test_selections_are_marked_and_have_no_curve(first, second):
    block = _block(_ranked(first, 40, selected=True), _ranked(second, 1, 2))
    assert "Without a ranking: plain select memories." in sentences(block)
    assert [one.name for one in block.parts[0].legend] == ["better<i>"]
    ranked, selected = tables(block)[:2]
    assert [row[0] for row in ranked.rows] == ["better<i>"]
    assert [*selected.header] == ["run", "n", "recall", "any", "all", "precision", "share of store"]
    assert _row(selected, "plain") | {"run": ""} == {
        **{"run": "", "n": "24", "recall": "0.500", "any": "1.000", "all": "0.000"},
        **{"precision": "0.010", "share of store": "0.100"},
    }
    folds = [part.title for part in block.parts if isinstance(part, Section)]
    assert folds == ["plain: retrieval by type", "better<i>: retrieval by type"]


def test_cutoffs_beyond_the_depth_are_unknown(first):
    block = _block(_ranked(first, 2, depth=5))
    assert "depth 5: recall@10 is unknown; run it with retrieval.depth=10 or more" in (
        sentences(block)
    )
    assert _row(tables(block)[0], "overall (types 1-4)")["recall@10"] == "-"
    (row,) = block.parts[0].alternative.rows
    assert [cell.partition(" [")[0] for cell in row[2:]] == ["0.000", "0.500", "0.500", *"----"]


def test_rankings_of_sessions_are_measured_as_sessions(first, second):
    ids = [row["id"] for row in records()]
    write_rankings(first, dict.fromkeys(ids, ("D2", "D3", "D1")), depth=3, unit="session")
    block = _block(first, _ranked(second, 1, 2))
    charts = [part for part in block.parts if isinstance(part, Chart)]
    assert [[one.name for one in chart.legend] for chart in charts] == [["better<i>"], ["plain"]]
    assert charts[1].title.startswith("Recall of evidence sessions")
    assert _row(charts[1].alternative, "plain")["session recall@3"] == "1.000"
    assert _row(tables(block)[0], "plain")["session MRR"] == "0.333"


@pytest.fixture
def unread(tmp_path: Path, data: Path) -> Path:
    """A run that ranked and did not answer."""
    names = ("answer", "abstained", "answer_tokens", "context_tokens", "retrieved")
    nothing = dict.fromkeys((*names, "evidence_found", "k", "usage"))
    never = dict.fromkeys(("retrieve", "answer", "total"))
    rows = records(**nothing, trace={}, latency_ms=never)
    for row in rows:
        row["scores"] = dict.fromkeys(row["scores"]) | {"recall@10": 0.5}
    return _ranked(write_run(tmp_path / "unread", rows, "theirs", data), 2, 40)


def test_a_run_without_answers_is_reported(unread, said):
    said(report.main, unread)
    text = (unread / "report.md").read_text(encoding="utf-8")
    assert "theirs on made: no answers, only its ranking; recall@10 0.500 [0.500, 0.500]," in text
    assert "## Retrieval" in text
    assert "## Scores by question type" not in text
    assert "## Costs\n\nUnknown: no record has calls or tokens." in text
    assert "## Latency\n\nUnknown: no record has a latency." in text
    assert "lost in" not in text
    assert "false refusals" not in text.partition("## Error analysis")[2]
    assert "theirs has no answers" in text
    assert "| overall (types 1-4) | 48 | 24 | 0 | 24 | 0 | 0 |" in text  # evidence by rank


def test_changes_are_of_recall_where_a_run_has_no_answers(unread, data, tmp_path):
    rows = [row | {"scores": row["scores"] | {"recall@10": 1.0}} for row in records()]
    read = write_run(tmp_path / "read", rows, "ours", data)
    text = report.build_report(made(read, unread)).markdown()
    assert "theirs against ours: 10 of 24 losses in recall@10 (-0.50)" in text
    assert "No answers: theirs." in text
    assert "theirs: every score by type" not in text
    assert "): no answer\n" in text


def test_pages_work_without_answers(unread):
    runs: list[ReportedRun] = made(unread)
    questions = Questions(runs)
    assert questions.key == "recall@10"
    assert [row["runs"][0][2] for row in questions.rows()] == [["not scored"]] * 30
    site = Site(questions)
    assert all(site.page(name) for name in site.names)
    body = site.card("ash/1")
    assert "Evidence turns in the ranking: D1:1 at 2, D1:3 at 40" in body
    assert "<em>no answer</em>" in body
    assert "recall@10 0.500" in body
    assert "100 ranks, 2 with evidence" in body
    assert "said D1:3 ash" in body
    assert "and 86 more without evidence" in body


def test_mrr_beside_other_depths_has_a_cutoff(first, second):
    block = _block(_ranked(first, 15, 40), _ranked(second, 15, 16, depth=20))
    for name in ("plain", "better<i>"):
        row = _row(tables(block)[0], name)
        assert "MRR" not in row
        assert row["MRR@10"] == "0.000"
    assert _row(tables(_block(first))[0], "overall (types 1-4)")["MRR"] == "0.067"
