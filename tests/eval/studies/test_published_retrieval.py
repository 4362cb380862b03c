"""Published retrieval figures: definitions are whole, and a recorded run is measured by them."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml

from eval.records.rankings import RULE
from eval.studies.published import main
from eval.studies.published_claims import load_claims
from eval.studies.published_files import CLAIMS, load_published
from eval.studies.published_retrieval import rows_of, runs_of
from eval.studies.published_retrieval_tables import as_csv
from memsys.core.errors import InputError
from tests.eval.factory import record, write_run

FIGURES = [figure for claim in load_claims() for figure in claim.figures]
TURNS = ("D1:1", "D1:2", "D2:1", "D2:2", "D3:1", "D3:2")
LOCOMO = {"name": "locomo10.json", "bytes": 9, "sha256": "5" * 64}
# Question, type id, evidence, ranking.
QUESTIONS = [
    ("ash/0", 4, ["D1:1"], ("D2:1", "D2:2", "D1:1")),
    ("ash/1", 1, ["D1:2", "D3:1"], ("D3:1", "D3:2", "D2:1")),
    ("elm/0", 5, ["D2:2"], ("D2:2",)),
    ("elm/1", 3, [], ("D1:1",)),
]


def ranked_run(folder, *, pooled=False, strategy="hybrid_rank", file=LOCOMO, **fields):
    """Write a run of QUESTIONS with rankings of turns, one memory per turn."""
    conversations = ["ash", "elm"]
    stores = ["pooled"] if pooled else conversations
    rows = [record(id_, type_, evidence=evidence) for id_, type_, evidence, _ in QUESTIONS]
    retrieval = {"depth": 100, "unit": "turn", "rule": RULE}
    sizes = {store: {"turns": 6, "sessions": 3} for store in stores}
    described = {"data": [file], "retrieval": retrieval, "stores": sizes, **fields}
    write_run(folder, rows, strategy, **described)
    rankings = [
        {
            "id": id_,
            "store": "pooled" if pooled else id_.partition("/")[0],
            "selected": False,
            "ranking": [[turn, 1 - i / 10] for i, turn in enumerate(ranking)],
        }
        for id_, _, _, ranking in QUESTIONS
    ]
    memories = [
        {"store": store, "id": turn, "turns": [turn], "tokens": 5}
        for store in stores
        for turn in TURNS
    ]
    for name, lines in (("rankings.jsonl", rankings), ("memories.jsonl", memories)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def claims_file(path, **changes):
    """Write a file with one claim and return what is loaded from it."""
    claim = {
        **{"system": "Any", "method": "words", "dataset": "locomo", "n": 4, "types": "1-5"},
        **{"pooled": False, "source": "any/any#1", "definition": None, "date": None},
        **{"figures": [figure("session_recall_any@1", cutoff=1)], **changes},
    }
    path.write_text(yaml.safe_dump({"claims": [claim]}), encoding="utf-8")
    return load_claims(path)


def figure(measure, **fields):
    return {
        **{"printed": measure, "value": 0.5, "unit": "session", "kind": "any", "cutoff": 10},
        **{"measure": measure, **fields},
    }


def found(claims, run):
    return [row.here and (row.here.value, row.here.n) for row in rows_of(claims, runs_of([run]))]


def test_the_file_has_many_figures_and_each_has_a_definition_or_a_reason():
    assert len(FIGURES) >= 15
    assert all(claim.source for claim in load_claims())
    assert all(bool(f.measure) != bool(f.not_comparable) for f in FIGURES)
    assert {claim.dataset for claim in load_claims()} == {"locomo", "longmemeval_s"}
    assert {True, False} <= {claim.pooled for claim in load_claims()}
    assert {f.unit for f in FIGURES if f.measure} == {"turn", "session"}
    # tables of answers are read without it
    assert CLAIMS.name not in {source.file for source in load_published()}


def test_every_figure_is_printed_and_without_a_run_the_command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["--retrieval"]) == 0
    printed = capsys.readouterr().out
    for claim in load_claims():
        for one in claim.figures:
            shown = (claim.system, one.printed, f"{one.value:.3f}")
            lines = [line for line in printed.splitlines() if all(part in line for part in shown)]
            assert lines, shown
            assert (one.not_comparable or one.measure) in "\n".join(lines)
    assert "locomo: no run here; python -m eval.run strategy=hybrid_rank dataset=loc" in printed
    assert "dataset.pooled=true" in printed
    assert main(["--retrieval", "--out", "tables"]) == 2
    assert "--out: no run to compare with" in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()


def test_the_measure_is_recomputed_from_the_rankings(tmp_path):
    run = ranked_run(tmp_path / "run")
    kinds = [
        figure("session_recall_any@1", cutoff=1),  # sessions: D2 D1 | D3 D2 | D2
        figure("session_recall@3", cutoff=3, kind="fraction"),
        figure("session_recall_all@10", kind="all"),
        figure("recall@10", kind="fraction", unit="turn"),
        figure("mrr", kind="mrr", unit="turn", cutoff=None),
    ]
    claims = claims_file(tmp_path / "claims.yaml", figures=kinds)
    assert found(claims, run) == [
        (pytest.approx(2 / 3), 3),
        (pytest.approx((1 + 1 / 2 + 1) / 3), 3),
        (pytest.approx(2 / 3), 3),
        (pytest.approx((1 + 1 / 2 + 1) / 3), 3),
        (pytest.approx((1 / 3 + 1 + 1) / 3), 3),
    ]


def test_only_the_types_and_the_best_turns_of_the_figure_count(tmp_path):
    run = ranked_run(tmp_path / "run")
    kinds = [
        figure("session_recall_any@1", cutoff=1, types=types)
        for types in ("1-5", "1-4", "adversarial", "single_hop", "temporal")
    ]
    claims = claims_file(tmp_path / "claims.yaml", figures=kinds)
    assert found(claims, run) == [(pytest.approx(2 / 3), 3), (0.5, 2), (1.0, 1), (0.0, 1), None]
    kinds = [figure("session_recall_any@10", within=turns, types="single_hop") for turns in (2, 3)]
    kinds += [figure("session_recall_any@10", types="single_hop")]
    claims = claims_file(tmp_path / "claims.yaml", figures=kinds)
    assert found(claims, run) == [(0.0, 1), (1.0, 1), (1.0, 1)]


def test_a_figure_is_compared_with_a_run_of_the_same_store_and_data(tmp_path):
    runs = [ranked_run(tmp_path / "own"), ranked_run(tmp_path / "all", pooled=True)]
    rows = rows_of(load_claims(), runs_of(runs))
    for row in rows:
        same = {False: "own", True: "all"}.get(row.claim.pooled)
        if row.figure.measure is None or row.claim.dataset != "locomo":
            assert (row.run, row.here) == (None, None)
        else:
            assert row.run.folder.name == same
    lines = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert len(lines) == len(FIGURES)
    assert all(not line["here"] for line in lines if line["not_comparable"])
    assert sum(bool(line["here"]) for line in lines) >= 15
    assert all(line["source"] for line in lines)


def test_the_files_are_written_and_name_the_run(tmp_path, capsys):
    run = ranked_run(tmp_path / "one")
    assert main(["--retrieval", str(run), "--out", str(tmp_path / "tables")]) == 0
    page = (tmp_path / "tables" / "published_retrieval.md").read_text()
    assert "| R@5 | 1,982 | 0.939 | session_recall_any@5 | locomo | 1-5 |" in page
    assert "| Engram 0.1.3 | bge-large, BM25" in page
    (line,) = [line for line in page.splitlines() if line.startswith("- locomo: ")]
    assert line.startswith("- locomo: hybrid_rank, configuration")
    assert "python -m eval.run" not in line
    assert "- locomo, pooled: no run here; python -m eval.run" in page
    assert "in that version all ten conversations share one store" in page
    assert (tmp_path / "tables" / "published_retrieval.csv").read_text().count("\n") == (
        len(FIGURES) + 1
    )


def test_the_newest_run_with_default_settings_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = tmp_path / "results" / "runs"
    runs.mkdir(parents=True)
    chosen = {"memory": "turns", "embedder": "minilm"}
    for name, day, fields in (
        ("old", 1, {"choices": chosen}),
        ("new", 2, {"choices": chosen}),
        ("windows", 3, {"choices": {**chosen, "memory": "windows"}}),
        ("bm25", 4, {"strategy": "bm25"}),
        ("part", 5, {"config": {"dataset": {"limit": 5}}}),
        ("other evidence", 5, {"config": {"dataset": {"evidence": "corrected"}}}),
        ("unranked", 6, {"retrieval": None}),
    ):
        ranked_run(runs / name, started=f"2026-01-0{day}T00:00:00+00:00", **fields)
    (runs / "torn").mkdir()
    (runs / "torn" / "manifest.json").write_text("{")
    assert [run.folder.name for run in runs_of([]).values()] == ["new"]


def test_runs_that_cannot_be_compared_are_refused(tmp_path):
    one = ranked_run(tmp_path / "one")
    with pytest.raises(InputError, match="one is of the same data and store; name one of them"):
        runs_of([one, ranked_run(tmp_path / "two")])
    other = ranked_run(tmp_path / "other", file={**LOCOMO, "name": "beir.json"})
    with pytest.raises(InputError, match="no figure was published on its data"):
        runs_of([other])
    filtered = {"config": {"dataset": {"owner_filter": True}}}
    with pytest.raises(InputError, match="no figure was published on its data and store"):
        runs_of([ranked_run(tmp_path / "filtered", pooled=True, **filtered)])
    for name, config in (
        ("dataset.limit=5", {"dataset": {"limit": 5}}),
        ("dataset.captions=False", {"dataset": {"captions": False}}),
        ("questions=3", {"questions": 3}),
    ):
        with pytest.raises(InputError, match=f"{name}: published figures are on all questions"):
            runs_of([ranked_run(tmp_path / name, config=config)])
    cited = {"name": "corrected", "overlay": LOCOMO}
    with pytest.raises(InputError, match=r"dataset\.evidence=corrected: published figures"):
        runs_of([ranked_run(tmp_path / "cited", evidence=cited)])
    (one / "rankings.jsonl").unlink()
    with pytest.raises(InputError, match=r"no rankings; run it again with retrieval\.depth=100"):
        runs_of([one])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": ""}, r"claims\[0\]\.source: "),
        ({"figures": [figure("recal@10")]}, r"figures\[0\]: measure: .*no such measure"),
        ({"figures": [figure("recall_any@10")]}, "recall_any@10 ranks by turn"),
        ({"figures": [figure("session_recall@10")]}, "is not of the kind any"),
        ({"figures": [figure("session_recall_any@5")]}, "has another cutoff than 10"),
        ({"figures": [figure(None, printed="x")]}, "needs either measure or not_comparable"),
        ({"not_comparable": "why"}, "needs either measure or not_comparable"),
        ({"pooled": "unknown"}, "needs known `types` and `pooled`"),
        ({"figures": [figure("session_recall_any@10", value=95.0)]}, "less than or equal to 1"),
        (
            {"figures": [figure("recall_any@10", unit="turn", within=5)]},
            "only sessions may be limited",
        ),
        ({"encoder": "x"}, "encoder: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_definition_is_refused_with_its_place(changes, message, tmp_path):
    with pytest.raises(InputError, match=rf"claims\.yaml: .*{message}"):
        claims_file(tmp_path / "claims.yaml", **changes)
