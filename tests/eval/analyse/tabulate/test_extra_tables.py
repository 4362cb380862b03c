"""Interaction and gates on runs whose outcome is chosen."""

from dataclasses import replace
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from eval.analyse.tabulate.effects import gates, interaction, requested
from eval.analyse.tabulate.grid import load_grid
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.agreement import wilson
from eval.records.manifest import OPERATIONAL
from eval.records.run import Run
from memsys.core.errors import InputError
from memsys.core.places import CONF
from tests.eval import factory

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
