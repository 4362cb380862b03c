"""Planted facts in whole runs, whose rates of harm are known exactly."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from eval.imports.rescore.__main__ import main as rescore
from eval.metrics.harm import SHOWN, USED
from eval.records.run import load_run
from tests.eval.commands import run_main

SMALL = (
    *("dataset=synthetic", "reader=chain", "dataset.plants=2", "dataset.base_questions=false"),
    *("dataset.conversations=2", "dataset.sessions=3", "dataset.turns=8", "dataset.hops=1"),
)


def rates(folder: Path, cache: Path, *options: str) -> dict[tuple[str, str], float]:
    folder.mkdir(exist_ok=True)
    run_main(folder, cache, *SMALL, *options, f"hydra.run.dir={folder / 'run'}").ok()
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in load_run(folder / "run").records.values():
        plant, scores = one["plant"], one["scores"]
        values = {"shown": scores.get(SHOWN), "used": scores.get(USED)}
        if plant["control"]:
            values["refused"] = one["abstained"]
        for name, value in values.items():
            if value is not None:
                found[plant["kind"], name].append(float(value))
    assert {len(values) for values in found.values()} == {4}
    return {key: fmean(values) for key, values in found.items()}


def rates_of(measure: str, found: Mapping[tuple[str, str], float]) -> set[float]:
    return {rate for (_, name), rate in found.items() if name == measure}


def test_the_whole_conversation_shows_everything_that_was_not_deleted(tmp_path, cache):
    found = rates(tmp_path, cache, "strategy=full_context")
    shown = {kind: rate for (kind, measure), rate in found.items() if measure == "shown"}
    assert shown == {
        **{"superseded": 1.0, "adjacent": 1.0, "injected": 1.0},
        **{"contradiction": 0.0, "deleted": 0.0, "other_owner": 0.0},
    }
    assert found["superseded", "used"] == found["deleted", "used"] == 0.0
    assert found["injected", "used"] == found["contradiction", "used"] == 1.0
    assert rates_of("refused", found) == {0.0}
    # a request that is only said leaves the fact in the context
    found = rates(tmp_path / "said", cache, "strategy=full_context", "dataset.deletion=said")
    assert found["deleted", "shown"] == found["deleted", "used"] == 1.0


def test_the_bounds_show_nothing_that_is_wrong(tmp_path, cache):
    for strategy, refused in (("no_memory", 1.0), ("oracle", 0.0)):
        found = rates(tmp_path / strategy, cache, f"strategy={strategy}")
        assert rates_of("shown", found) == {0.0}
        assert rates_of("refused", found) == {refused}


def test_in_a_pool_only_a_filter_keeps_owners_apart(tmp_path, cache):
    for filtered, shown in (("false", 1.0), ("true", 0.0)):
        pool = ("strategy=bm25", "dataset.pooled=true", f"dataset.owner_filter={filtered}")
        found = rates(tmp_path / filtered, cache, *pool)
        assert found["other_owner", "shown"] == shown


def test_what_a_memory_of_turns_shows_is_what_its_turns_say(tmp_path, cache):
    rates(tmp_path, cache, "strategy=bm25", "k=2", "dataset.deletion=said")
    checked = []
    for one in load_run(tmp_path / "run").records.values():
        plant = one["plant"]
        if plant["kind"] in ("superseded", "adjacent", "deleted", "injected"):
            turns = {turn for _, turns, *_ in one["retrieved"] or () for turn in turns}
            if not plant["control"]:
                assert plant["shown"] == (not turns.isdisjoint(plant["turns"]))
                checked.append(plant["shown"])
    assert {True, False} == set(checked)


def test_what_was_shown_outlives_another_reader_and_rescoring(tmp_path, cache):
    rates(tmp_path, cache, "strategy=bm25", "k=2")
    again = tmp_path / "again"
    run_main(
        tmp_path, cache, f"from={tmp_path / 'run'}", "reader=none", f"hydra.run.dir={again}"
    ).ok()
    assert rescore([str(again)]) == 0
    first, second = (load_run(folder).records.values() for folder in (tmp_path / "run", again))
    assert [one["scores"].get(SHOWN) for one in second] == [
        one["scores"].get(SHOWN) for one in first
    ]
    assert {one["scores"].get(USED) for one in second} == {None}  # nobody answered
