"""Published tables: every file loads, and every overall recomputes under the official names."""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from eval.datasets.types import TYPES
from eval.studies.published import main, relabel, reproducing, weighted_overall
from eval.studies.published_files import CLAIMS, COUNTS, PUBLISHED, load_published, load_source
from memsys.core.errors import InputError

ROOT = Path(__file__).parents[3]
LOCOMO = Path(os.environ.get("MEMSYS_SHARED", ROOT.parent / "shared")) / "locomo"
FILES = sorted(path for path in PUBLISHED.glob("*.yaml") if path != CLAIMS)
TABLES = [
    pytest.param(table, id=f"{source.file}: {table.name}")
    for source in load_published()
    for table in source.tables
]
needs_locomo = pytest.mark.skipif(
    not LOCOMO.is_dir(), reason="LoCoMo is not here: set MEMSYS_SHARED to the folder with locomo/"
)


def judge_table(name):
    return load_source(PUBLISHED / f"{name}.yaml").tables[0]


def test_every_source_is_there_and_loads():
    assert {path.stem for path in FILES} >= {"mem0", "zep", "memobase", "mirix", "memos", "locomo"}
    assert [source.file for source in load_published()] == [path.name for path in FILES]


def test_overalls_come_only_of_the_permuted_names():
    table = judge_table("mem0")
    row = next(row for row in relabel(table) if row.system == "Mem0")
    assert row.printed == 66.88
    assert round(row.true, 2) == 66.88
    assert round(row.as_labelled, 2) == 62.14
    assert row.agrees == (False, True)
    assert row.scores == pytest.approx(
        {"multi_hop": 67.13, "temporal": 55.51, "open_domain": 51.15, "single_hop": 72.93}
    )
    assert reproducing(table) == [
        {"Single Hop": 1, "Multi-Hop": 3, "Open Domain": 4, "Temporal": 2}
    ]
    # Zep and MIRIX permute otherwise
    for name in ("zep", "mirix"):
        [labels] = reproducing(judge_table(name))
        assert list(labels.values()) == [1, 2, 3, 4]
        assert [TYPES[label.reads_as] for label in judge_table(name).labels] == [
            *("single_hop", "multi_hop", "open_domain", "temporal")
        ]


@pytest.mark.parametrize("table", TABLES)
def test_every_overall_recomputes_or_is_explained(table):
    for row, found in zip(table.rows, relabel(table), strict=True):
        if row.overall is not None:
            assert found.agrees[1] != bool(row.explained), (row, found)
    if any(row.overall is not None for row in table.rows):
        assert reproducing(table) == [{x.printed: x.category for x in table.labels}]


def test_overalls_of_mem0s_two_tables_are_the_same():
    source = load_source(PUBLISHED / "mem0.yaml")
    latency = {row[0]: row[-1] for row in source.measurements[0]["rows"]}
    assert {row.system: latency[row.system] for row in source.tables[0].rows} == {
        row.system: row.overall for row in source.tables[0].rows
    }


@needs_locomo
def test_counts_are_those_of_the_data():
    found = defaultdict(int)
    for sample in json.loads((LOCOMO / "locomo10.json").read_text(encoding="utf-8")):
        for question in sample["qa"]:
            found[question["category"]] += 1
    assert found == COUNTS


@needs_locomo
@pytest.mark.parametrize(
    ("file", "system", "runs"),
    [
        ("mirix", "LangMem", ["langmem_mirix"]),
        ("mirix", "RAG-500", ["rag500k1_mirix"]),
        ("mirix", "Mem0", ["mem0_cloud_mirix"]),
        ("mirix", "MIRIX", ["mirix_run1", "mirix_run2", "mirix_run3"]),
        ("memobase", "Memobase v0.0.32", ["memobase_0503"]),
    ],
)
def test_labels_are_those_of_the_published_verdicts(file, system, runs):
    right = defaultdict(int)
    for run in runs:
        with gzip.open(LOCOMO / "answers" / f"{run}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                right[TYPES[row["category"]]] += row["judge"]
    counts = {TYPES[category]: n for category, n in COUNTS.items() if category != 5}
    row = next(row for row in relabel(judge_table(file)) if row.system == system)
    assert row.scores == pytest.approx(
        {name: 100 * right[name] / n / len(runs) for name, n in counts.items()}, abs=0.0051
    )


def test_weighted_overall_weighs_by_count_and_needs_each_category_once():
    assert weighted_overall([3, 1, 2, 4], [1.0, 0.0, 0.0, 0.0]) == pytest.approx(96 / 1540)
    with pytest.raises(InputError, match=r"categories \[1, 1, 2, 4\]; an overall needs 1 to 4"):
        weighted_overall([1, 1, 2, 4], [1.0, 0.0, 0.0, 0.0])


TABLE, ROW, LABELS = ("tables", 0), ("tables", 0, "rows", 0), ("labels",)
BROKEN = [  # place, fields that are set there (to None: removed), and what is said
    ((), {"judge": None}, r": judge: Field required"),
    ((), {"yeer": 1}, r": yeer: Extra inputs are not permitted"),
    ((), {"year": "last"}, r": year: .* valid integer"),
    ((*LABELS, "Single-Hop"), {"why": None}, r"labels\.Single-Hop: needs `why`"),
    ((*LABELS, "Temporal"), {"category": 6}, r"Temporal\.category: 6 is not one of 1 multi_hop, "),
    ((*LABELS, "Open Domain"), {"category": 1, "why": "x"}, r"labels: two have the same category"),
    ((), {"printed_counts": {"Temporal": 321}}, r"counts\.Temporal: 321 .* has 841"),
    ((), {"printed_counts": {"x": 1}}, r"counts: 'x' is not one of Multi-Hop, "),
    (TABLE, {"unit": "parts"}, r"tables\[0\]\.unit: .* 'percent' or 'fraction'"),
    (TABLE, {"unit": "fraction"}, r": Zep: 74\.11 is not between 0 and 1; correct it or `unit`"),
    (TABLE, {"rows": []}, r"tables\[0\]\.rows: .* at least 1 item"),
    ((*TABLE, "columns"), "x", r"tables\[0\]: Zep: give .* per column"),
    (TABLE, {"columns": ["Temporal"] * 4}, r"\[0\]\.columns: needs one column for each category"),
    (TABLE, {"columns": [["a"]]}, r"columns\[0\]: .* valid string"),
    ((*ROW, "scores"), 50.0, r"tables\[0\]: Zep: give .* per column"),
    (ROW, {"overall": "?"}, r"rows\[0\]\.overall: .* valid number"),
    (ROW, {"overall": True}, r"overall: .* valid number"),
]


@pytest.mark.parametrize(("place", "fields", "message"), BROKEN)
def test_a_broken_file_is_reported_with_file_and_field(place, fields, message, tmp_path, capsys):
    raw = yaml.safe_load((PUBLISHED / "zep.yaml").read_text(encoding="utf-8"))
    inner = raw
    for key in place:
        inner = inner[key]
    if isinstance(inner, list):
        inner.append(fields)
    else:
        inner.update(fields)
        for name in [name for name, value in fields.items() if value is None]:
            del inner[name]
    broken = tmp_path / "broken.yaml"
    broken.write_text(yaml.safe_dump(raw), encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.yaml.*" + message):
        load_source(broken)
    assert main([str(broken)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("text", ["a: [", "- 1", "", "year: 2025-99-99", "\x00"])
def test_what_is_no_table_at_all(text, tmp_path):
    path = tmp_path / "no.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"no\.yaml: (not YAML|.* valid dictionary)"):
        load_source(path)
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read: No such file"):
        load_source(tmp_path / "none.yaml")


def test_command_prints_both_readings(capsys):
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(load_source(path).title in printed for path in FILES)
    [line] = [line for line in printed.splitlines() if "66.88" in line]
    assert line.split() == (
        "Mem0 67.13 55.51 51.15 72.93 66.88 62.14 66.88 only by true names".split()
    )
    assert "'Single Hop' there is category 1, multi_hop" in printed
    assert "1 of 24 ways to assign the categories, the true names alone" in printed
    assert "but not by the true names" not in printed
