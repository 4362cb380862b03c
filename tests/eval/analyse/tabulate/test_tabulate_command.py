"""A sweep and its table, as they are called, its further tables, and which runs it consists of."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from eval.analyse.tabulate.__main__ import main
from eval.analyse.tabulate.effects import gates, interaction, requested
from eval.analyse.tabulate.grid import find_runs, load_grid
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.agreement import wilson
from eval.records.manifest import OPERATIONAL
from eval.records.run import Run
from memsys.core.errors import InputError
from memsys.core.places import CONF
from tests.eval import factory
from tests.eval.commands import runs_in
from tests.eval.factory import record, write_run


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the runs of `start` are."""
    monkeypatch.chdir(tmp_path)


def rows_of(text: str) -> list[list[str]]:
    """The rows of the last table of a page."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_an_experiment_becomes_a_page_and_a_csv(start, tmp_path, small, said):
    given = ("dataset=sample", *small[:2], "strategy=bm25", "context=flat,layered", "k=2")
    start("-m", "experiment=injection", *given).ok()
    shown = said(main, "injection", *given)
    path = tmp_path / "results" / "tables" / "injection.md"
    assert not path.exists()  # that of the experiment without other arguments
    assert "written to results/tables: injection-dataset=sample-" in shown
    again = said(main, "injection", *given, "--out", path.parent.resolve())
    page = path.read_text(encoding="utf-8").rstrip()
    assert again.rstrip() == page
    assert shown.startswith(page)
    runs = runs_in(tmp_path)
    header, _, *lines = rows_of(page)
    assert header[0] == "context"
    for run, line in zip(runs, lines, strict=True):
        cell = run.summary["by_type"]["overall"]
        assert line[0] == f"`{run.manifest['choices']['context']}`"
        assert line[1] == str(cell["n"])
        assert line[2].startswith(f"{cell['f1']:.3f} [")
        assert line[8].startswith(f"{cell['context_tokens_mean']:.0f} [")
        assert line[9] == f"`{run.manifest['config_sha256'][:10]}`"
    assert lines[0][3] == "reference"
    assert lines[1][3].endswith("none shown")
    assert "2 runs of 21 questions (0 failed)" in page
    with (tmp_path / "results" / "tables" / "injection.csv").open(encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert {line["run_id"] for line in found} == {run.folder.name for run in runs}
    message = said(main, "injection", *given, "--picture", "--out", "tables", code=2)
    assert "no number to draw scores over; leave out --picture" in message
    assert not list(Path("tables").glob("*"))  # nothing was replaced


@pytest.mark.parametrize(
    "keys", [("locomo_f1", "evidence_recall"), ("locomo_f1",), ("evidence_recall",)]
)
def test_a_sweep_over_a_number_is_drawn_by_the_scores_that_it_has(keys, tmp_path, said):
    given = ("strategy=bm25,auto", "strategy.budget=16,128")
    for job in load_grid("budget", given).jobs:
        command = f"python -m eval.run experiment=budget {' '.join(job.overrides)}"
        rows = [record(f"ash/{n}", scores=dict.fromkeys(keys, n / 4)) for n in range(4)]
        folder = tmp_path / "runs" / command.replace(" ", "-")
        write_run(folder, rows, choices={"experiment": "budget"}, command=command)
    asked = (*given, "--runs", str(tmp_path / "runs"), "--picture", "--out", "drawn")
    out = said(main, "budget", *asked)
    assert "written to drawn: budget.md, budget.csv, budget.png, budget.svg" in out
    assert [row[1] for row in rows_of(out)[2:]] == ["4"] * 4
    svg = (tmp_path / "drawn" / "budget.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {word} -->" in svg for word in ("bm25", "auto", "strategy.budget", "128"))
    assert ("<!-- F1, 95% interval -->" in svg) == ("locomo_f1" in keys)
    assert ("<!-- evidence recall, 95% interval -->" in svg) == ("evidence_recall" in keys)


def test_runs_that_are_missing_are_asked_for(tmp_path, said):
    message = said(main, "memory_unit", "k=3", code=2)
    assert "9 of 9 runs are missing" in message
    assert "run python -m eval.run -m experiment=memory_unit k=3" in message
    assert not (tmp_path / "results").exists()


EXPERIMENTS = sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_a_grid_with_a_reference_in_each_group(name):
    grid = load_grid(name)
    sizes = [sum(job.group == group for job in grid.jobs) for group in {j.group for j in grid.jobs}]
    assert len(set(sizes)) == 1
    assert sizes[0] > 1
    assert grid.command == f"python -m eval.run -m experiment={name}"
    assert len({job.overrides for job in grid.jobs}) == len(grid.jobs)


def test_the_last_parameter_is_compared_within_the_others():
    grid = load_grid("memory_unit")
    assert grid.factor == "memory"
    assert [job.label for job in grid.jobs[:3]] == ["turns", "windows", "observations"]
    assert {job.group for job in grid.jobs[:3]} == {"strategy=vector_only"}
    assert grid.jobs[1].overrides == ("strategy=vector_only", "memory=windows")
    # what was given to the sweep takes the place of the grid's values
    grid = load_grid("memory_unit", ["memory=turns,windows", "strategy=bm25", "k=3"])
    assert [job.overrides for job in grid.jobs] == [
        ("strategy=bm25", "memory=turns", "k=3"),
        ("strategy=bm25", "memory=windows", "k=3"),
    ]
    assert {job.group for job in grid.jobs} == {""}
    # a value may be several settings
    labels = [job.label for job in load_grid("expansion").jobs]
    assert labels[:2] == ["{threshold:2}", "{}"]
    assert "{edge_weight:1,relevance_weight:0}" in labels


def test_wrong_names_are_refused():
    with pytest.raises(InputError, match="experiment=nothing: no such option"):
        load_grid("nothing")
    with pytest.raises(InputError, match="a single run"):
        load_grid("injection", ["context=flat", "strategy=bm25"])


def test_the_newest_complete_run_of_a_job_counts(tmp_path):
    def write(name: str, overrides: str, experiment: str = "injection", **fields: str) -> None:
        command = f"python -m eval.run experiment={experiment} strategy=bm25 {overrides}"
        choices = {"experiment": experiment}
        write_run(tmp_path / name, [record()], choices=choices, command=command, **fields)

    grid = load_grid("injection", ["strategy=bm25"])
    write("1", "context=flat")
    write("2", "context=flat hydra.run.dir=elsewhere cache=other")
    write("3", "context=flat", status="interrupted")
    write("4", "context=flat k=3")  # another experiment, as it were
    write("5", "context=layered", "memory_unit")
    write("6", "context=xml")
    with pytest.raises(InputError, match=r"1 of 3 runs are missing .*context=layered"):
        find_runs(grid, tmp_path)
    write("7", "context=layered")
    assert [(run.folder.name, run.label) for run in find_runs(grid, tmp_path)] == [
        *(("2", "context=flat"), ("7", "context=layered"), ("6", "context=xml"))
    ]


CONVERSATIONS = ("ash", "beech", "cedar", "dogwood")
EACH = 20
BASE = {"graph_score": "vector_only", "graph_expand": "vector_only"}


def made(
    strategy: str, recalls: list[float], embedder: str = "strong", open_: list[bool] | None = None
) -> Run:
    """A run with these evidence recalls, the same in every conversation; F1 is half of them."""
    records = []
    for name in CONVERSATIONS:
        for i in range(EACH):
            recall = recalls[i % len(recalls)]
            found = [f"D1:{j}" for j in range(4)][: round(recall * 4)]
            records.append(
                factory.record(
                    f"{name}/{i}",
                    type="multi_hop" if i < 5 else "single_hop",
                    scores={"locomo_f1": recall / 2, "evidence_recall": recall},
                    evidence=[f"D1:{j}" for j in range(4)],
                    evidence_found={"direct": found, "expanded": []},
                    trace={"gate": {"open": open_[i % len(open_)], "rule": "x"}} if open_ else {},
                )
            )
    choices = {"embedder": embedder}
    return factory.run_of(records, f"{strategy}={embedder}", strategy=strategy, choices=choices)


def test_a_gain_that_only_the_weak_embedder_sees_is_an_interaction():
    def between(strong: list[list[float]], weak: list[list[float]]) -> tuple[list, list]:
        """The table of vector_only and graph_expand with these recalls."""
        runs = [
            made(strategy, recalls, embedder)
            for embedder, both in (("strong", strong), ("weak", weak))
            for strategy, recalls in zip(("vector_only", "graph_expand"), both, strict=True)
        ]
        return interaction(runs, BASE, "strong", "weak", 0)

    header, rows = between([[0.5, 0.75], [0.5, 0.75]], [[0.25, 0.25], [0.5, 0.25]])
    assert header[3:6] == ["with strong", "with weak", "weak minus strong"]
    by_score = {row[1]: row for row in rows if row[0] == "graph_expand - vector_only"}
    assert {row[0] for row in rows} == {"graph_expand - vector_only"}  # the rest was not run
    *recall, verdict = by_score["evidence recall"]
    assert [cell.partition(" [")[0] for cell in recall[2:6]] == ["80", "0.000", "0.125", "+0.125"]
    assert verdict == "better"
    assert by_score["F1"][5].startswith("+0.062 [")
    assert by_score["evidence recall, multi_hop"][2] == "20"
    # equal gains are none
    _, rows = between([[0.25, 0.5], [0.5, 0.5]], [[0.25, 0.5], [0.5, 0.5]])
    assert [row[5] for row in rows] == ["0.000 [0.000, 0.000]"] * 3
    assert all(row[-1].startswith("no difference shown") for row in rows)


def test_gates_are_measured_against_the_oracle():
    # Of four questions expansion raises one, lowers one and leaves two.
    never = made("never", [0.5, 0.5, 0.5, 0.5], open_=[False])
    always = made("always", [0.75, 0.25, 0.5, 0.5], open_=[True])
    good = made("good", [0.75, 0.5, 0.5, 0.5], open_=[True, False, False, True])
    header, rows = gates([never, always, good], never, always, 0)
    assert header[2:6] == ["opened", "precision", "recall", "harmful"]
    value = [[cell.split(" ")[0] for cell in row] for row in rows]
    assert [row[2:] for row in value] == [
        ["0.0%", "-", "0.0%", "-", "0.500"],
        ["100.0%", "25.0%", "100.0%", "25.0%", "0.500"],
        ["50.0%", "50.0%", "100.0%", "0.0%", "0.562"],
        ["25.0%", "100%", "100%", "0%", "0.562"],
    ]


def planted(id_: str, kind: str, *, control: bool = False, **fields: Any) -> dict[str, Any]:
    plant = {"kind": kind, "control": control, "turns": ["D1:p1"], "values": ["Velma Orr"]}
    return factory.record(id_, plant={**plant, "shown": None}, **fields)


def scored(id_: str, kind: str, shown: float | None, used: float | None) -> dict[str, Any]:
    return planted(id_, kind, scores={SHOWN: shown, USED: used})


def test_harm_is_counted_by_kind_without_failed_questions():
    run = factory.run_of(
        [
            scored("ash/0", "superseded", 1.0, 0.0),
            scored("ash/1", "superseded", 1.0, 1.0),
            scored("elm/2", "superseded", 0.0, 0.0),
            planted("elm/3", "superseded", **factory.error()),
            scored("elm/4", "absent", None, 1.0),
            planted("ash/5", "absent", control=True, abstained=True),
            planted("elm/6", "absent", control=True, abstained=False),
            factory.record("elm/7"),
        ],
        "strategy=bm25",
    )
    tables = requested(replace(load_grid("memory_unit"), tables={"harm": {}}), [run], 0)
    (shown,), (used,), (refused,) = (found for _, found in tables)
    assert shown[0] == ["run", "superseded (3)"]
    low, high = wilson(2, 3)
    assert shown[1] == [["`bm25`", f"0.667 [{low:.3f}, {high:.3f}]"]]
    assert used[0] == ["run", "absent (1)", "superseded (3)"]
    assert [cell.split()[0] for cell in used[1][0][1:]] == ["1.000", "0.333"]
    assert refused[1][0][1].startswith("0.500 [")


def test_an_experiment_names_its_tables_which_are_no_part_of_a_runs_configuration():
    assert load_grid("gate").tables == {"gates": {}}
    assert load_grid("longmemeval").tables == {"by_type": {}}
    grid = load_grid("memory_unit")
    assert grid.tables == {}
    settings = load_grid("weak_vs_strong_embedder").tables["interaction"]
    assert settings["weak"] == "wordllama"
    assert settings["base"]["graph_expand_hybrid"] == "hybrid_rank"
    unknown = replace(grid, tables={"gaets": {}})
    with pytest.raises(InputError, match=r"memory_unit\.yaml: tables: gaets: no such table; use"):
        list(requested(unknown, [], 0))
    with initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
        config = compose("config", ["experiment=gate"])
    assert "tables" in config
    assert "tables" in OPERATIONAL
