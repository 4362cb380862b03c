import re
from pathlib import Path

import pytest

from eval.metrics.stats.interval import Interval
from eval.pages.report.__main__ import counterparts
from eval.pages.report.cards import gains_and_losses
from eval.pages.report.costs import costs_block, latency_block, tradeoffs_block
from eval.pages.report.scores import judges_block, types_block
from eval.records.schema import Record
from eval.rendering.blocks import Chart
from eval.rendering.charts import ChartPoint, dots, scatter
from eval.rendering.palette import looks
from eval.rendering.svg import Scale, linear_ticks, log_ticks, short
from eval.summary.measures import Measure
from tests.eval.analyse.diagnose.made_runs import tables
from tests.eval.factory import ingest_line
from tests.eval.pages.report.conftest import CONVERSATIONS, made, records, write_run

PRICING = {"as_of": "2026-01-01", "models": {"m": {"input": 2.0, "output": 4.0}}}


def _used(tokens: int) -> dict[str, dict]:
    own = {"calls": 1, "input_tokens": tokens, "output_tokens": 0}
    return own | {"by_model": {"m": own}}


def test_tradeoffs_name_the_front_without_a_run_that_sees_the_evidence(tmp_path, data):
    target = {"config": {"strategy": {"_target_": "baselines.rankings.Oracle"}}}
    runs = made(
        *(
            write_run(tmp_path / name, records(f1, context_tokens=tokens), name, data, **more)
            for name, f1, tokens, more in (
                *(("oracle", 0.3, 40, target), ("cheap", 0.1, 300, {})),
                *(("dear", 0.2, 900, {}), ("bad", 0.0, 500, {})),
            )
        )
    )
    assert [run.sees_evidence for run in runs] == [True, False, False, False]
    block = tradeoffs_block(runs)
    tokens = next(part for part in block.parts if isinstance(part, Chart))
    assert tokens.title == "F1 against context tokens, types 1-4"
    assert [(row[0], row[-1]) for row in tokens.alternative.rows] == [
        *(("oracle", "sees the evidence"), ("cheap", "yes"), ("dear", "yes"), ("bad", "no"))
    ]
    assert "Not on the front, since given the evidence: oracle." in str(block.parts[-1])
    assert tradeoffs_block(runs[1:2]) is None


def test_costs_and_break_even(tmp_path, data):
    def run(name: str, answer: dict | None, ingest: dict | None = None) -> Path:
        rows = records(usage=answer and {"retrieve": {}, "answer": answer})
        if ingest is None:  # without prices
            return write_run(tmp_path / name, rows, name, data)
        lines = [ingest_line(conversation, **ingest) for conversation in CONVERSATIONS]
        return write_run(tmp_path / name, rows, name, data, pricing=PRICING, ingests=lines)

    whole = run("whole", _used(1_000_000), {})
    thrifty = run("thrifty", _used(250_000), {"usage": _used(6_000_000)})
    block = costs_block(made(whole, thrifty))
    assert [row[:4] for row in tables(block)[0].rows] == [
        ["whole", "30", "2,000.0000 [2,000.0000, 2,000.0000]", "0.0000"],
        ["thrifty", "30", "500.0000 [500.0000, 500.0000]", "12.0000"],
    ]
    tokens = [row[:3] for row in tables(block)[1].rows]
    assert tokens == [["whole", "answer", "30"], ["thrifty", "answer", "30"]]
    assert block.parts[-1].rows == [["thrifty", "whole", "8"]]  # 12 / (2 - 0.5)
    unknown = made(run("unpriced", _used(5)), run("imported", None))
    rows = tables(costs_block(unknown))[0].rows
    assert [row[2:4] for row in rows] == [["unknown"] * 2] * 2  # which is not nothing


def test_latency_counts_known_values(tmp_path, data):
    rows: list[Record] = records()
    for n, row in enumerate(rows):
        row["latency_ms"] = {"retrieve": n + 1.0, "answer": None, "total": 2.0 * (n + 1)}
        row["latency_source"] = "recorded" if n < 15 else "shared" if n < 18 else "live"
    rows[0] |= {"status": "error", "error": {"phase": "answer", "kind": "E", "message": "m"}}
    (table,) = tables(latency_block(made(write_run(tmp_path / "a", rows, "a", data))))
    retrieve, total = table.rows
    assert retrieve[:6] == ["a", "retrieve", "29", "3.4", "9.0", "16.0"]
    assert total[1:3] == ["total", "29"]
    assert total[-5:] == ["60.0", "48%", "10%", "0%", "0%"]  # 14 and 3 of 29
    unknown = records(latency_ms=dict.fromkeys(("retrieve", "answer", "total")))
    block = latency_block(made(write_run(tmp_path / "b", unknown, "b", data)))
    assert block.parts == ["Unknown: no record has a latency."]


def test_largest_changes(tmp_path, data, first):
    rows = records()
    for id_, shift in (("ash/2", 0.3), ("beech/1", 0.5), ("ash/4", 0.7), ("cedar/0", 0.0)):
        next(row for row in rows if row["id"] == id_)["scores"]["locomo_f1"] += shift
    next(row for row in rows if row["id"] == "cedar/3")["scores"]["locomo_f1"] = 0.0
    runs = made(first, write_run(tmp_path / "b", rows, "b", data))
    gains, losses = gains_and_losses(*runs, Measure("locomo_f1", ()))
    assert [id_ for id_, _ in gains] == ["beech/1", "ash/2"]  # ash/4 is of type 5
    assert [id_ for id_, _ in losses] == ["cedar/3"]
    assert losses[0][1] == pytest.approx(-0.15)


def test_counterparts_are_found_among_the_runs(tmp_path, data):
    plain, always, gated = records(trace={}), records(), records()
    for row in plain:
        row["retrieved"][1] = ["D2:2", ["D2:2"], 0.4, "direct"]
    for row in gated:
        row["trace"]["gate"] = {"open": True, "rule": "similarity"}
    config = {"strategy": {"k": 2}}
    folders = [
        write_run(tmp_path / name, rows, name, data, config=config)
        for name, rows in (("plain", plain), ("always", always), ("gated", gated))
    ]
    direct, expanding, gate = runs = made(*folders)
    assert counterparts(direct, runs) == (None, None)
    assert counterparts(expanding, runs) == (direct, None)
    assert counterparts(gate, runs) == (direct, expanding)


def test_scales_and_ticks():
    assert linear_ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert linear_ticks(-0.05, 0.12) == [-0.05, 0.0, 0.05, 0.1]
    assert linear_ticks(3, 3) == [3]
    assert log_ticks(0.9, 60) == [1, 2, 5, 10, 20, 50]
    assert log_ticks(1, 100_000) == [1, 10, 100, 1000, 10_000, 100_000]
    scale = Scale(1, 100, 0, 10, log=True)
    assert [scale(value) for value in (1, 10, 100, 1000)] == [0, 5, 10, 10]
    assert [short(value) for value in (20_000, 1500, 0.25, 5.0)] == ["20k", "1.5k", "0.25", "5"]


def test_zero_has_a_place_on_a_logarithmic_axis():
    points = [
        ChartPoint(look, Interval(x, x, x), Interval(0.2, 0.1, 0.3), front=False)
        for look, x in zip(looks(["none", "few", "many"]), (0.0, 20.0, 9000.0), strict=True)
    ]
    drawn = scatter("a title", points, ("tokens", "F1"))
    assert "tokens (log scale)" in drawn
    left = re.findall(
        r'<g class="m s\d"><title>(\w+)[^/]*</title><\w+ (?:cx|x|points)="([\d.]+)', drawn
    )
    places = [float(place) for _, place in left]
    assert places == sorted(places)
    assert places[1] - places[0] > 20
    assert all(f">{name}</text>" in drawn for name in ("none", "few", "many"))
    # the axis of shares is not stretched
    rows = [("a type", [Interval(0.05, 0.04, 0.06)])]
    drawn = dots("a title", rows, looks(["one"]), "F1", shares=True)
    assert ">0.25</text>" in drawn


def test_judges_and_their_agreement(tmp_path, data, first):
    rows = records()
    for n, row in enumerate(rows):
        row["judge"] = {"a": [True, n % 2 == 0], "b": [n % 2 == 0, n % 2 == 0]}
        row["scores"]["judge"] = 0.875 if n % 2 == 0 else 0.25
    judge = {"name": "panel", "score": "judge", "members": {"a": {}, "b": {}}}
    runs = made(write_run(tmp_path / "judged", rows, "judged", data, judge=judge), first)
    block = judges_block(runs)
    means, members, kappas = tables(block)
    assert [row[:4] for row in means.rows] == [["judged", "panel", "judge", "30"]]
    assert [[row[1], row[3][:5], row[4]] for row in members.rows] == [
        ["a", "0.750", "2"],
        ["b", "0.500", "2"],
    ]
    assert [row[1] for row in kappas.rows] == ["a | b", "all (Fleiss)"]
    assert str(block.parts[-1]).startswith("Only a score called judge is J")
    assert judges_block(runs[1:]) is None


def test_a_chart_names_the_runs_that_are_in_it(tmp_path, data, first):
    rows = records()
    for row in rows:
        row["scores"]["judge"] = None if row["category"] == 5 else 1.0
    judged = write_run(tmp_path / "judged", rows, "judged", data)
    charts = [part for part in types_block(made(first, judged)).parts if isinstance(part, Chart)]
    assert [[look.name for look in chart.legend] for chart in charts] == [
        ["plain", "judged"],  # F1
        ["judged"],  # judge
        ["plain", "judged"],  # evidence recall
    ]
    assert charts[0].legend[1] == charts[1].legend[0]
    assert ["overall (types 1-4)", "plain", "24", "-"] in [*map(list, charts[1].alternative.rows)]
