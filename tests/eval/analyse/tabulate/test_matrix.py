"""Strategies by data sets, from runs whose rankings are chosen."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.tabulate.__main__ import main
from eval.analyse.tabulate.grid import load_grid
from eval.analyse.tabulate.matrix import measure_columns
from memsys.core.errors import InputError
from tests.eval.analyse.retrieval.conftest import CONVERSATIONS, ranked, records
from tests.eval.commands import Said
from tests.eval.factory import error

GIVEN = ("dataset=locomo_dev,sample_zh", "strategy=bm25,hybrid_rank,vector_only,full_context")
FIRST, LATER = (1, 2), (1, 12)  # places of the two evidence turns: recall@10 1 and .5


class Made:
    """Runs of experiment=across_datasets in a folder, and the page and CSV of them."""

    def __init__(self, folder: Path, said: Said) -> None:
        self._folder, self._said = folder, said

    def run(self, dataset: str, strategy: str, *places: int, **fields: Any) -> None:
        """Write a run with the evidence at `places`."""
        given = f"experiment=across_datasets dataset={dataset} strategy={strategy}"
        described = {"command": f"python -m eval.run {given}", "choices": {}, **fields}
        described["choices"] = {"experiment": "across_datasets", "strategy": strategy}
        folder = self._folder / "runs" / f"{dataset}-{strategy}"
        ranked(folder, places or FIRST, strategy, **described)

    def column(self, dataset: str) -> None:
        """Write a run of each strategy. vector_only finds more than hybrid_rank in one of the six
        conversations, and less in two.
        """
        self.run(dataset, "bm25", *LATER)
        self.run(dataset, "hybrid_rank", by_conversation={"a": LATER})
        self.run(dataset, "vector_only", by_conversation={"b": LATER, "c": LATER})
        self.run(dataset, "full_context", selected=True)

    def page(self, *given: str) -> str:
        """The page; the tables are in `folder`/tables."""
        places = ("--runs", self._folder / "runs", "--out", self._folder / "tables")
        return self._said(main, "across_datasets", *(given or GIVEN), *places)


@pytest.fixture
def made(tmp_path: Path, said: Said) -> Made:
    return Made(tmp_path, said)


def table(page: str, title: str) -> dict[str, list[str]]:
    """The cells below a heading, by the name of the row."""
    rows = page.partition(f"\n## {title}\n\n")[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name.strip("`"): rest for name, *rest in cells}


def test_a_matrix_for_each_measure(made):
    made.column("locomo_dev")
    made.column("sample_zh")
    page = made.page()
    recall, ndcg = table(page, "Recall@10"), table(page, "nDCG@10")
    assert recall["strategy"] == ndcg["strategy"] == ["locomo_dev", "sample_zh"]
    assert list(recall)[2:] == ["bm25", "hybrid_rank", "vector_only", "full_context"]
    for i in (0, 1):
        assert recall["bm25"][i] == "0.500 [0.500, 0.500]"
        assert recall["hybrid_rank"][i].startswith("**0.917 [")  # 11 / 12
        assert recall["vector_only"][i].startswith("0.833 [")  # 5 / 6: 1 of 6 better, 2 worse
        assert recall["vector_only"][i].endswith("] ≈")
        assert recall["full_context"][i] == "1.000 [1.000, 1.000] †"
    assert "full_context" not in ndcg
    assert table(page, "Context tokens")["bm25"] == ["40 [40, 40]"] * 2
    assert table(page, "Retrieval latency, p95 in ms")["bm25"] == ["2.0 (1.0×)"] * 2
    assert "| locomo_dev | 48 | 6 | minilm | some.json 5555555555 |" in page
    assert "## Missing" not in page


def test_the_csv_has_differences_from_the_reference(made, tmp_path):
    made.column("locomo_dev")
    assert "of fewer than 5" not in made.page()
    with (tmp_path / "tables" / "across_datasets.csv").open(encoding="utf-8") as file:
        lines = {(row["score"], row["run"].rpartition("=")[2]): row for row in csv.DictReader(file)}
    assert {one["reference"] for one in lines.values()} == {
        "dataset=locomo_dev strategy=hybrid_rank"
    }
    bm25 = lines["recall@10", "bm25"]
    assert float(bm25["mean"]) == 0.5
    assert float(bm25["difference"]) == pytest.approx(-5 / 12)
    assert float(bm25["difference_high"]) < 0
    assert (bm25["n"], bm25["conversations"], bm25["verdict"]) == ("48", "6", "worse")
    assert lines["recall@10", "vector_only"]["verdict"] == "no difference shown"
    assert lines["context_tokens", "bm25"]["difference"] == "0.0"
    assert lines["retrieve_ms_p95", "bm25"]["mean"] == "2.0"
    assert float(lines["recall", "full_context"]["mean"]) == 1
    # a column of few conversations is named
    only = [row for row in records() if row["conversation"] in CONVERSATIONS[:3]]
    made.run("sample_zh", "bm25", rows=only)
    assert "conversations, and of fewer than 5 (sample_zh) over their questions" in made.page()


def test_missing_runs_are_named_and_the_rest_is_tabulated(made):
    made.run("sample_zh", "bm25", *LATER)
    page = made.page()
    assert table(page, "Recall@10")["bm25"] == ["-", "**0.500 [0.500, 0.500]**"]
    assert set(table(page, "Recall@10")) == {"strategy", "---", "bm25"}
    missing = page.partition("## Missing\n\n")[2].splitlines()
    command = "python -m eval.run -m experiment=across_datasets dataset="
    three = "hybrid_rank,vector_only,full_context"
    assert missing[:2] == [
        f"- locomo_dev: no run; `{command}locomo_dev strategy=bm25,{three}`",
        f"- sample_zh: no run of {three.replace(',', ', ')}; `{command}sample_zh strategy={three}`",
    ]


def test_runs_that_cannot_be_measured_are_named(made, tmp_path):
    made.column("locomo_dev")
    made.run("sample_zh", "bm25")
    made.run("sample_zh", "vector_only", length=5, depth=5)
    path = tmp_path / "runs" / "sample_zh-bm25" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "retrieval": None}))
    page = made.page()
    assert table(page, "Recall@10")["bm25"][1] == table(page, "Recall@10")["vector_only"][1] == "-"
    assert table(page, "Context tokens")["bm25"][1] == "40 [40, 40]"
    assert "- sample_zh: dataset=sample_zh strategy=bm25: no rankings are recorded;" in page
    assert "- sample_zh: dataset=sample_zh strategy=vector_only: depth 5: recall@10 is" in page
    assert "- sample_zh: no ranking of a question with evidence is known" in page


def test_failed_questions_are_left_out_of_the_whole_column(made):
    rows = records()
    rows[0] |= error()  # of type 1
    made.column("locomo_dev")
    made.run("sample_zh", "bm25")
    made.run("sample_zh", "hybrid_rank", rows=rows)
    page = made.page()
    assert "| sample_zh | 47 | 6 | minilm | some.json 5555555555 |" in page
    failed = page.partition("- sample_zh: dataset=sample_zh strategy=hybrid_rank: ")[2]
    assert failed.startswith("questions that failed, left out of the whole column: 1")


def test_the_embedders_of_other_languages_are_named(made):
    made.run("locomo_dev", "bm25", embedders=dict.fromkeys(CONVERSATIONS, "e5"))
    made.run("sample_zh", "bm25", embedders={CONVERSATIONS[0]: "e5"})
    page = made.page()
    assert "| locomo_dev | 48 | 6 | e5 | some.json" in page
    assert "| sample_zh | 48 | 6 | e5, minilm | some.json" in page


def test_without_any_run_the_command_is_named_and_without_a_reference_the_field(tmp_path, said):
    assert "run python -m eval.run -m experiment=across_datasets" in said(
        main, "across_datasets", "--runs", tmp_path, "--out", tmp_path / "new", code=2
    )
    assert not (tmp_path / "new").exists()
    # a matrix without a reference
    grid = replace(load_grid("across_datasets"), tables={"matrix": {}})
    with pytest.raises(InputError, match=r"datasets\.yaml: tables: matrix: set reference to the"):
        measure_columns(grid, tmp_path)
