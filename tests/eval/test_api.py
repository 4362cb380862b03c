"""Run folders as data frames: the same numbers as in summaries and comparisons."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.colors import to_hex

from eval import api
from eval.api import compare, frames, load, load_all, load_runs, means, tables
from memsys.core.errors import InputError
from tests.eval.commands import Run
from tests.eval.factory import error, hashed

ENDS = ("", "_low", "_high")


def copied(run: Run, folder: Path, **changes: object) -> Path:
    """The run's folder again, its manifest changed."""
    shutil.copytree(run.folder, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(manifest | changes), encoding="utf-8")
    return folder


def rewritten(run: Run, folder: Path, *changes: dict[str, object]) -> Path:
    """The run's folder again, fields of its first records changed."""
    path = copied(run, folder) / "records.jsonl"
    rows = [{**row, **change} for row, change in zip(run.records, changes, strict=False)]
    lines = [json.dumps(row) for row in [*rows, *run.records[len(rows) :]]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_row_holds_what_its_record_holds(keyed):
    run = keyed["plain"]
    frame = load(run.folder).frame()
    assert frame["id"].tolist() == [record["id"] for record in run.records]
    for row, record in zip(frame.itertuples(), run.records, strict=True):
        assert row.answer == record["answer"]
        assert row.retrieve_ms == record["latency_ms"]["retrieve"]
        assert row.locomo_f1 == record["scores"]["locomo_f1"]
        assert row.evidence == len(record["evidence"])
        assert row.direct == len(record["evidence_found"]["direct"])
        assert row.cost_usd == 0
    assert frame["counted"].all()
    assert "trace" not in frame
    traces = load(run.folder).frame(trace=True)["trace"].to_list()
    assert traces == [record["trace"] for record in run.records]


def test_gate_and_hops_come_from_the_trace_and_failures_are_not_counted(keyed, tmp_path):
    traced = {
        "trace": {"gate": {"open": True, "rule": "similarity"}, "expansion": []},
        "evidence": ["D1:1", "D1:2", "D2:1"],
        "evidence_found": {"direct": ["D1:1"], "expanded": ["D1:1", "D1:2"]},
    }
    frame = load(rewritten(keyed["plain"], tmp_path / "run", traced, error("answer"))).frame()
    row = frame.iloc[0]
    assert (row["gate_open"], row["gate_rule"]) == (True, "similarity")
    assert (row["evidence"], row["direct"], row["expanded"]) == (3, 1, 1)  # found twice is direct
    assert frame["counted"].tolist() == [True, False] + [True] * 19
    excluded = load(keyed["excluded"].folder).frame()
    assert excluded.loc[~excluded["counted"], "id"].tolist() == ["ash/0", "ash/5"]


def test_means_are_those_of_the_summary(keyed):
    run = load(keyed["excluded"].folder)
    found = means(run.frame(), "evidence_recall", ["type"]).set_index("type")
    assert set(found.index) == set(run.summary["by_type"])
    for name, cell in run.summary["by_type"].items():
        assert found.loc[name, "mean"] == pytest.approx(cell["evidence_recall"])
        if 0 < cell["evidence_recall"] < 1:
            low_high = found.loc[name, ["low", "high"]].tolist()
            assert low_high == pytest.approx(cell["evidence_recall_ci"])
    tokens = means(run.frame(), "context_tokens", ["type"], bounded=False).set_index("type")
    overall = run.summary["by_type"]["overall"]
    assert tokens.loc["overall", "high"] == pytest.approx(overall["context_tokens_mean_ci"][1])
    unknown = means(run.frame(), "judge", ["type"])
    assert unknown.empty
    assert list(unknown.columns) == ["type", "n", "mean", "low", "high"]


def test_runs_are_named_as_in_comparisons(keyed):
    found = load_runs([keyed["plain"].folder, keyed["original"].folder])
    records, cells = frames(found), tables(found)
    names = records["run"].unique().tolist()
    assert len(records) == 42
    assert len(names) == 2
    assert cells["run"].unique().tolist() == names
    overall = cells[(cells["run"] == names[0]) & (cells["type"] == "overall")].iloc[0]
    low, high = keyed["plain"].summary["by_type"]["overall"]["f1_ci"]
    assert (overall["f1_low"], overall["f1_high"]) == (low, high)


def test_differences_are_those_of_a_comparison(keyed, tmp_path):
    zeros = [{"scores": row["scores"] | {"evidence_recall": 0.0}} for row in keyed["plain"].records]
    changed = rewritten(keyed["plain"], tmp_path / "run", *zeros)
    found = compare(load_runs([keyed["plain"].folder, changed]), ["evidence_recall"])
    row = found[(found["type"] == "overall") & found["verdict"].notna()].iloc[0]
    recall = keyed["plain"].summary["by_type"]["overall"]["evidence_recall"]
    assert row["difference"] == pytest.approx(-recall)
    assert row["reference_mean"] == pytest.approx(recall)
    assert found["difference"].notna().all()
    assert not found.isna().all().any()
    with pytest.raises(InputError, match="different answer keys"):
        compare(load_runs([keyed["plain"].folder, keyed["excluded"].folder]))


def test_a_table_has_the_columns_of_the_first_screen(keyed):
    run = load(keyed["plain"].folder)
    short, every = run.table(), run.table(every=True)
    assert len(short.columns) <= 15
    assert len(every.columns) > 40
    main = {"f1", "bleu1", "evidence_recall", "context_tokens_mean", "cost_usd", "total_ms_p95"}
    assert main <= set(short)
    assert "judge" not in short  # no verdict
    pd.testing.assert_frame_equal(short, every[list(short.columns)])


def test_what_is_meant_for_users_is_listed():
    assert dir(api) == sorted(api.__all__)
    assert {"run", "load", "compare", "LoadedRun", "InputError"} <= set(api.__all__)
    assert not {"pd", "io", "Any", "blame", "one_line"} & set(dir(api))
    assert all(hasattr(api, name) for name in api.__all__)


def test_the_newest_of_each_configuration_is_found(keyed, tmp_path):
    run = keyed["plain"]
    new = copied(run, tmp_path / "a_new", started="2030-01-02T00:00:00+00:00")
    copied(run, tmp_path / "b_old", started="2030-01-01T00:00:00+00:00")
    config = {"config": {**run.manifest["config"], "k": 3}}
    other = hashed(run.manifest | config) | {"started": "2030-01-03T00:00:00+00:00"}
    second = copied(run, tmp_path / "c_other", **other)
    copied(run, tmp_path / "d", status="running", started="2031-01-01T00:00:00+00:00")
    copied(run, tmp_path / "e", kind="imported", started="2031-01-01T00:00:00+00:00")
    assert [one.folder for one in load_all(tmp_path)] == [new, second]
    assert [one.folder for one in load_all(new)] == [new]
    real = copied(run, tmp_path / "f", dataset="locomo", started="2029-01-01T00:00:00+00:00")
    assert [one.folder for one in load_all(tmp_path)] == [real]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no complete run"):
        load_all(tmp_path / "empty")


def test_texts_and_bars_are_of_any_table_with_intervals():
    table = pd.DataFrame(
        {"gate": ["a", "b"], "run": "r", "mean": [0.5, None], "low": [0.25, None], "high": 1.0}
    )
    assert api.texts(table).tolist() == ["0.500 [0.250, 1.000]", "-"]
    axes = api.plot(table, "mean", by="gate", line=0.3)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a"]
    assert [line.get_ydata()[0] for line in axes.lines if len(line.get_xdata()) == 2] == [0.3]


def test_shipped_tables_have_a_column_for_each_setting():
    across = api.table("across_datasets")
    named = "dataset=" + across["dataset"] + " strategy=" + across["strategy"]
    assert (named == across["run"]).all()
    budget = api.table("budget")
    assert set(budget["strategy.budget"]) >= {256, 512}  # numbers
    board = api.table("leaderboard/scores")
    assert board["mean"].between(0, 1).all()
    with pytest.raises(InputError, match="table: 'nothing' is none of across_datasets, "):
        api.table("nothing")


def test_scores_are_numbers_with_their_intervals(keyed):
    run = load(keyed["plain"].folder)
    found = api.scores(
        run.table(every=True), ["f1", "context_tokens_mean", "retrieve_ms_p50"], by="type"
    )
    intervals = [f"{name}{end}" for name in ("f1", "context_tokens_mean") for end in ENDS]
    assert list(found.columns) == ["n", *intervals, "retrieve_ms_p50"]
    cell = run.summary["by_type"]["overall"]
    assert found.loc["overall", "f1_low"] == cell["f1_ci"][0]
    run.summary["by_type"]["temporal"]["n"] = 0
    assert set(run.table()["type"]) == set(found.index) - {"temporal"}  # it has no questions


RUNS = pd.DataFrame(
    {
        **{"run": ["bm25", "fusion", "oracle"], "tokens": [10, 20, 90], "n": 7},
        **{"f1": [0.2, 0.1, 0.5], "f1_low": 0.05, "f1_high": [0.3, 0.2, 0.6]},
        **{"recall@1": [0.1, 0.2, 0.3], "recall@10": [0.4, 0.5, 0.6]},
    }
)


def test_a_strategy_has_its_colour_in_every_chart():
    looks = {look.name: look.hex for look in api.looks(list(RUNS["run"]))}
    dots, curves = api.dots(RUNS, "f1"), api.curves(RUNS, ["recall@1", "recall@10"])
    bars = api.plot(RUNS.assign(type="all"), "f1")
    for name, of_bar, of_curve, of_dot in zip(
        RUNS["run"], bars.containers[1::2], curves.lines, dots.containers, strict=True
    ):
        assert to_hex(of_bar[0].get_facecolor()) == looks[name]
        assert of_curve.get_color() == of_dot[0].get_color() == looks[name]


def test_dots_and_shares_are_a_row_each_from_the_top():
    axes = api.dots(RUNS, "f1", line=0.25)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(RUNS["run"])
    assert axes.yaxis_inverted()
    assert 0.25 in axes.lines[-1].get_xdata()
    two = pd.concat([RUNS.assign(at="a"), RUNS.assign(at="b")])
    assert len(api.dots(two, "f1", colour="at").get_legend().texts) == 2
    parts = pd.DataFrame({"type": ["a", "b"], "one": [0.25, 0.5], "rest": [0.75, 0.5]})
    axes = api.shares(parts, ["one", "rest"], by=["type"])
    assert [bar.get_x() + bar.get_width() for bar in axes.containers[1]] == [1, 1]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]


def test_the_front_leaves_out_what_is_dearer_and_no_better():
    assert list(api.on_front(RUNS, "tokens", "f1")["run"]) == ["bm25", "oracle"]
    axes = api.front(RUNS, "tokens")
    assert len(axes.containers) == len(RUNS)  # a point with its interval each
    assert axes.get_xscale() == "log"
    assert list(axes.lines[-1].get_xdata()) == [10, 90]


def test_a_run_from_python_is_the_commands(small, cache, keyed, tmp_path, monkeypatch, capsys):
    commanded = keyed["plain"]
    monkeypatch.setenv("MEMSYS_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    run = api.run("strategy=bm25", *small, quiet=True)
    assert capsys.readouterr() == ("", "")
    assert run.manifest["config_sha256"] == commanded.manifest["config_sha256"]
    assert run.manifest["command"] == commanded.manifest["command"]
    scores = [record["scores"] for record in run.records.values()]
    assert scores == [record["scores"] for record in commanded.records]
    assert {path.name for path in run.folder.iterdir()} == set(commanded.files)
    cell = commanded.summary["by_type"]["overall"]
    table = run.table().set_index("type")
    assert table.loc["overall", "f1"] == cell["f1"]
    assert [table.loc["overall", f"f1_{end}"] for end in ("low", "high")] == cell["f1_ci"]
    assert len(run.plot("evidence_recall").containers[-1]) == len(table)
