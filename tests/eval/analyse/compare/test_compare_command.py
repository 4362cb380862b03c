import csv
import json
import re
import sys
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main
from tests.eval.analyse.compare.made_runs import FILE, edit, judged, noisy, records, write_run
from tests.eval.factory import error


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, str]:
    """Three runs that tests only read."""
    folder = tmp_path_factory.mktemp("compared")
    return (
        str(write_run(folder / "one", records(), "vector_only")),
        str(write_run(folder / "two", noisy(0.1, 0.05), "graph_expand")),
        str(write_run(folder / "three", noisy(0.0, 0.1), "hybrid_rank")),
    )


@pytest.fixture(scope="module")
def written(runs: tuple[str, str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a comparison of F1 and abstention writes."""
    out = tmp_path_factory.mktemp("written") / "new" / "folder"
    assert main([*runs, "--out", str(out)]) == 0
    return out


def test_the_last_line_answers_the_question(runs, said):
    one, better, noise = runs
    for first, other, expected in (
        (
            *(one, better),
            r"graph_expand is better than vector_only on multi_hop: locomo_f1 \+0\.100 "
            r"\(95% interval \+0\.\d{3} to \+0\.\d{3}, p < 0\.0001; 80 questions of 8 "
            r"conversations\); minimum detectable difference at 80% power: 0\.\d{3}\.",
        ),
        (
            *(one, noise),
            "No difference shown between hybrid_rank and vector_only on multi_hop.*detectable.*",
        ),
        (better, one, "vector_only is worse than graph_expand on multi_hop.*"),
    ):
        line = said(main, first, other, "--type", "multi_hop").splitlines()[-1]
        assert re.fullmatch(expected, line), line


def test_every_type_and_abstention_and_a_line_for_each_run_on_types_1_to_4(
    runs, said, tmp_path, monkeypatch
):
    """Without --out, nothing is written and no pictures are made."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    before = sorted(Path(runs[0]).parent.rglob("*"))
    out = said(main, *runs)
    assert "matplotlib" not in sys.modules
    assert sorted(Path(runs[0]).parent.rglob("*")) == before
    assert list(tmp_path.rglob("*")) == []
    *_, one, other = out.splitlines()
    assert one.startswith("graph_expand is better than vector_only on types 1-4: locomo_f1 +0.100")
    assert other.startswith("No difference shown between hybrid_rank and vector_only on types 1-4")
    f1, abstained = out.split("\nabstained:")
    types = ("multi_hop", "temporal", "open_domain", "single_hop", "overall", "adversarial")
    assert [f"\n{name}" in f1 for name in types] == [True] * 5 + [False]
    assert "\nadversarial" in abstained
    assert "\noverall" in abstained
    assert "the 14 comparisons" in out
    assert "  detectable\n" in out
    assert said(main, *runs) == out != said(main, *runs, "--seed", "2")


def recalled(rows: list[dict], recall: float | None) -> list[dict]:
    return [row | {"scores": row["scores"] | {"evidence_recall": recall}} for row in rows]


@pytest.fixture(scope="module")
def with_recall(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three runs with evidence recall, the second the best and the third the worst by F1."""
    folder = tmp_path_factory.mktemp("recalled")
    return [
        write_run(
            folder / f"2026-11-23_14-34-30-{name}_vector_only",
            recalled(noisy(more, 0.05), recall),
            "vector_only",
        )
        for name, more, recall in (("a", 0.0, 0.5), ("b", 0.2, 0.5), ("c", -0.1, 0.9))
    ]


def test_evidence_recall_stands_beside_the_answers_and_leaves_their_p_alone(
    with_recall, said, tmp_path
):
    f1 = re.compile(r"\nlocomo_f1\n.*?\n\n", re.DOTALL)
    out = said(main, *with_recall[:2])
    for run in with_recall[:2]:
        rows = [json.loads(line) for line in (run / "records.jsonl").open()]
        write_run(tmp_path / run.name, recalled(rows, None), "vector_only")
    without = said(main, *sorted(tmp_path.iterdir()))
    assert "\nevidence_recall\n" not in without
    assert f1.findall(without) == f1.findall(out) != []
    out = said(main, *with_recall)
    assert "\nevidence_recall\n" in out
    assert "vector_only #3 is better than vector_only #1 on types 1-4: evidence_recall +0.4" in out
    counts = re.search(r"the (\d+) comparisons shown, and apart from them over (\d+) of", out)
    assert counts is not None
    assert counts.groups() == ("14", "10")
    assert "apart from them" not in said(main, *with_recall, "--score", "evidence_recall")


def test_the_best_run_is_the_reference_and_every_pair_is_compared(with_recall, said):
    out = said(main, *with_recall, "--against", "best", "--score", "f1")
    assert out.startswith("vector_only #2: ")
    assert "vector_only #1 is worse than vector_only #2 on types 1-4" in out
    out = said(main, *with_recall, "--against", "all", "--score", "f1")
    pairs = re.findall(r"^vector_only #(\d)  vector_only #(\d) .*worse", out, re.M)
    assert pairs == [("1", "2"), ("3", "2"), ("3", "1")]


@pytest.mark.parametrize("against", ["first", "best", "all"])
def test_no_line_is_wider_than_80_columns(with_recall, against, said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = said(main, *with_recall, "--against", against)
    paths = [line for line in out.splitlines() if line.startswith("vector_only #") and "/" in line]
    assert all(len(line) <= 80 for line in out.splitlines() if line not in paths)
    first = out.split("locomo_f1")[1].split("\n\n")[0]
    for shown in ("p (Holm)", "verdict", "00]"):
        assert shown in first
    assert "14-34-30" not in out.replace("\n".join(paths), "")


def test_names_the_questions_that_do_not_count(runs, said, tmp_path):
    failed = {f"a/{100 + i}": error() for i in range(4)}
    other = write_run(tmp_path / "four", edit(records(), failed), "faulty", status="running")
    out = said(main, runs[0], other)
    for expected in (
        "note: locomo_f1: 4 questions do not count, 316 do",
        "(faulty: 4 failed): a/100, a/101, a/102, ...\n",
        "note: faulty: the run is running, not complete",
        "note: faulty differs from vector_only in: strategy",
    ):
        assert expected in out


def test_verdicts_of_imports_are_compared_and_their_source_is_told(said, tmp_path):
    ids = [row["id"] for row in records()]
    folders = [
        write_run(
            tmp_path / name,
            judged(records(), *right, judge_source="as reported"),
            name,
            kind="imported",
            models={"judge": "as reported"},
            config={"dataset": {"name": "some"}},
        )
        for name, right in (("mem", ids[::2]), ("zep", ids[::3]))
    ]
    out = said(main, *folders)
    assert "note: judge: verdicts as reported" in out
    assert "note: zep: imported answers" in out
    assert "p (McNemar)" in out
    assert "zep is worse than mem on types 1-4: judge" in out.splitlines()[-1]


def test_writes_tables_and_pictures(written):
    charts = {f"{name}.{ending}" for name in ("forest", "heatmap") for ending in ("png", "svg")}
    tables = {f"compare.{ending}" for ending in ("md", "csv", "tex")}
    assert {path.name for path in written.iterdir()} == charts | tables
    for name in ("forest.png", "heatmap.png"):
        data = (written / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 20_000
    with (written / "compare.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7 * 3
    row = {(r["score"], r["type"], r["run_id"]): r for r in rows}["locomo_f1", "temporal", "two"]
    assert (row["run"], row["reference"], row["n"]) == ("graph_expand", "vector_only", "80")
    assert float(row["difference"]) == pytest.approx(0.1)
    assert float(row["difference_low"]) < 0.1 < float(row["difference_high"])
    assert row["verdict"] == "better"
    text = (written / "compare.md").read_text()
    assert "| temporal | vector_only | 80 |" in text
    assert "graph_expand is better than vector_only on types 1-4" in text


def test_the_latex_table_escapes_what_latex_would_read(written):
    text = (written / "compare.tex").read_text()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2
    assert r"multi\_hop & vector\_only & 80 & " in text
    assert not re.search(r"(?<!\\)_(?!z\$)|(?<![\\\n])%(?! needs)|>=", text)
    for table in text.split(r"\begin{table}")[1:]:
        body = table.split(r"\midrule")[1].split(r"\bottomrule")[0]
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", table)
        assert {line.count(" & ") for line in lines} == {len(columns[1]) - 1}


def test_what_should_not_be_compared_is_refused_unless_forced(runs, said, refused, tmp_path):
    data = [FILE | {"sha256": "6" * 64}]
    other = write_run(tmp_path / "other", records(), "elsewhere", data=data)
    why = "vector_only and elsewhere answered different data"
    line = refused(main, runs[0], other)
    assert line.startswith(f"error: {why}")
    assert "--force" in line
    assert f"note: forced: {why}" in said(main, runs[0], other, "--force")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--score", "bleu2"], "no record has the score 'bleu2'"),
        (["--seed", "-1"], "--seed: -1; use a whole number of 0 or more"),
        (["--score", "mem0_f1", "--type", "adversarial"], "no question of adversarial"),
        (["--out", "{file}"], "is a file"),
        (["--out", "new", "--against", "all"], "use --against first or best"),
        ([], "name two or more to compare"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(runs, refused, tmp_path, options, expected):
    (tmp_path / "file").touch()
    filled = [option.format(file=tmp_path / "file") for option in options]
    assert expected in refused(main, *runs[: len(runs) if options else 1], *filled)
