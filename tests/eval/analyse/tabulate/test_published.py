"""A paper's figures beside own ones: claims judged by runs that are written by hand."""

from pathlib import Path

import numpy as np
import pytest

from eval.analyse.tabulate.__main__ import main
from tests.eval import factory
from tests.eval.analyse.compare.made_runs import record

Runs = dict[str, tuple[float, float, float]]  # strategy -> share right, tokens, milliseconds
# As the paper prints them, but for the right answers of Mem0g.
AS_PRINTED: Runs = {
    "full_context": (0.73, 26_031, 9_000),
    "given": (0.53, 4_437, 500),
    "mem0": (0.67, 1_764, 700),
    "mem0_graph": (0.68, 3_616, 1_200),
}


def write(folder: Path, taken: Runs, given: str = "", **fields: object) -> None:
    """A run of mem0_paper for each strategy: 30 questions in each of ten conversations."""
    drawn = np.random.default_rng(3)
    for strategy, (right, tokens, ms) in taken.items():
        rows = []
        for name in "abcdefghij":
            for i in range(30):
                spent = ms * float(drawn.lognormal(0, 0.2))
                times = {"retrieve": spent / 3, "answer": spent * 2 / 3, "total": spent}
                passed = float(drawn.random() < right)
                scores = {"judge": passed, "mem0_f1": 0.4, "bleu1": 0.3, "locomo_f1": 0.5}
                made = record(name, i, 1 + i % 4, 0.5, context_tokens=int(tokens), latency_ms=times)
                rows.append(made | {"scores": scores})
        command = f"python -m eval.run experiment=mem0_paper strategy={strategy} {given}"
        ingests = [
            factory.ingest_line(name, None, store={"tokens": int(tokens)}) for name in "abcdefghij"
        ]
        settings = {"choices": {"experiment": "mem0_paper", "strategy": strategy}}
        settings |= {"scoring": ["mem0", "locomo"], "command": command, **fields}
        factory.write_run(folder / strategy, rows, strategy, ingests, **settings)


def page(folder: Path, *arguments: str) -> str:
    out = folder.parent / "tables"
    assert main(["mem0_paper", *arguments, "--runs", str(folder), "--out", str(out)]) == 0
    return (out / "mem0_paper.md").read_text("utf-8")


def verdicts(text: str) -> dict[str, str]:
    """The verdict on each claim, by its first figure."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if " by the " not in line]
    return {row[0]: row[3] for row in rows if len(row) == 4 and "%" in row[0]}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data set is here, so that no run can be estimated."""
    monkeypatch.setenv("MEMSYS_SHARED", str(tmp_path / "nothing"))
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path / "nothing")  # of the user
    monkeypatch.chdir(tmp_path)


def test_figures_as_printed_show_the_claims_and_stand_beside_the_papers(tmp_path):
    write(tmp_path / "runs", AS_PRINTED)
    text = page(tmp_path / "runs")
    assert [*verdicts(text).values()] == ["shown"] * 4
    for line in (
        "4 runs of 300 questions, ",
        "| +26.4%: holds | +",
        "| Mem0, own | 1,764 [1,764, 1,764] | 0.",
        "| Mem0g | 14,000 |\n| Mem0g, own | 3,616 [3,616, 3,616] |",
        "| Mem0 | 38.72 | 28.64 | 47.65 | 48.93 |\n| Mem0, own | 40.00 [40.00, 40.00] |",
        "## Table 1, F1 by the protocol locomo",
        "| Mem0, own | 50.00 [50.00, 50.00] |",
    ):
        assert line in text


def test_figures_that_fall_short_refute_and_wide_ones_decide_nothing(tmp_path):
    short = AS_PRINTED | {"mem0": (0.5, 9_000, 4_000), "mem0_graph": (0.68, 3_616, 9_100)}
    write(tmp_path / "runs", short)
    found = verdicts(page(tmp_path / "runs"))
    assert found.pop("Mem0: 26% higher J than OpenAI") in ("refuted", "not decided")
    assert set(found.values()) == {"refuted"}


def test_what_was_not_measured_says_why(tmp_path):
    write(tmp_path / "runs", {name: AS_PRINTED[name] for name in ("full_context", "mem0")})
    away = {"mem0_graph": AS_PRINTED["mem0_graph"]}
    write(tmp_path / "runs", away, machine={"cores": 99})
    text = page(tmp_path / "runs")
    found = verdicts(text)
    assert found["Mem0: 26% higher J than OpenAI"] == "not measured: no run of OpenAI"
    graph = found["Mem0g: 85% lower p95 latency than full context"]
    assert graph.startswith("not measured: total_ms_p95: ")
    assert "different machines" in graph
    assert "OpenAI, own" not in text
    assert "## What the missing rows cost\n\nUnknown: LoCoMo is not here: " in text


def test_without_a_run_the_printed_side_remains(tmp_path):
    (tmp_path / "runs").mkdir()
    text = page(tmp_path / "runs")
    assert "No run was made" in text
    assert set(verdicts(text).values()) == {
        "not measured: no run of Mem0 and OpenAI",
        "not measured: no run of Mem0 and Full-context",
        "not measured: no run of Mem0g and Full-context",
    }
    assert "| RAG, k=2, 8192 | 8,192 | 0.288 | 1.124 | 2.312 | 9.942 | 60.53 |" in text
    assert ", own |" not in text


def test_settings_that_a_run_would_refuse_are_refused(tmp_path, said):
    (tmp_path / "runs").mkdir()
    message = said(main, "mem0_paper", "dataset=nope", "--runs", tmp_path / "runs", code=2)
    assert "dataset=nope: no such option" in message
    assert not (tmp_path / "results").exists()


def test_what_a_run_would_cost_and_contexts_without_one(tmp_path, small):
    (tmp_path / "runs").mkdir()
    text = page(tmp_path / "runs", *small[:2], "strategy=full_context,mem0")
    assert "| together | " in text
    costs = text.rpartition("## What the missing rows cost")[2]
    assert "| Full-context | 198 |" in costs  # 18 questions, each judged ten times
    assert "| Full-context, own | 1" in text  # tokens, counted
    assert "| Mem0, own" not in text
