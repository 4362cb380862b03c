"""Tables of harm: rates of hand-made records, and of runs whose rates are known exactly."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from eval.imports.rescore.__main__ import main as rescore
from eval.metrics.harm import SHOWN, USED
from eval.metrics.stats.interval import wilson
from eval.records.run import load_run
from eval.studies.harm import main
from eval.studies.harm import Deletions, deletions, harms
from tests.eval.commands import run_main
from tests.eval.factory import error, ingest_line, record, run_of, write_run

SMALL = (
    *("dataset=synthetic", "reader=chain", "dataset.plants=2", "dataset.base_questions=false"),
    *("dataset.conversations=2", "dataset.sessions=3", "dataset.turns=8", "dataset.hops=1"),
)


def planted(id_: str, kind: str, *, control: bool = False, **fields: Any) -> dict[str, Any]:
    plant = {"kind": kind, "control": control, "turns": ["D1:p1"], "values": ["Velma Orr"]}
    return record(id_, plant={**plant, "shown": None}, **fields)


def scored(id_: str, kind: str, shown: float | None, used: float | None) -> dict[str, Any]:
    return planted(id_, kind, scores={SHOWN: shown, USED: used})


ROWS = [
    scored("ash/0", "superseded", 1.0, 0.0),
    scored("ash/1", "superseded", 1.0, 1.0),
    scored("elm/2", "superseded", 0.0, 0.0),
    planted("elm/3", "superseded", **error()),
    scored("elm/4", "absent", None, 1.0),
    planted("ash/5", "absent", control=True, abstained=True),
    planted("elm/6", "absent", control=True, abstained=False),
    record("elm/7"),
]


def test_rates_count_what_was_answered_and_name_the_errors():
    found = {(one.kind, one.measure): one for one in harms(run_of(ROWS))}
    rates = {key: one.rate for key, one in found.items() if one.rate is not None}
    assert {key: (one.n, one.errors, rates[key].value) for key, one in found.items()} == {
        ("superseded", "shown"): (3, 1, pytest.approx(2 / 3)),
        ("superseded", "used"): (3, 1, pytest.approx(1 / 3)),
        ("absent", "used"): (1, 0, 1.0),
        ("absent", "refused"): (2, 0, 0.5),
    }
    rate = rates["superseded", "shown"]
    assert (rate.low, rate.high) == pytest.approx(wilson(2, 3))


def test_deletions_are_counted_by_what_the_system_reported():
    events = [
        {"step": "forget", "turns": ["D1:p1", "D1:p2"], "result": 2},
        {"step": "facts", "result": "unsupported"},
        {"step": "forget", "turns": ["D2:p1"], "result": "unsupported"},
    ]
    lines: Any = [ingest_line("ash", events=events), ingest_line("elm")]
    assert deletions(lines) == Deletions(3, 1)


def rows_of(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((out / "harm.csv").read_text(encoding="utf-8").splitlines()))


def test_the_tables_are_printed_and_written(tmp_path, capsys):
    forgot = [{"step": "forget", "turns": ["D1:p1"], "result": "unsupported"}]
    runs = [
        write_run(tmp_path / "one", ROWS, "bm25", [ingest_line("ash", events=forgot)]),
        write_run(tmp_path / "two", ROWS, "mem0"),
    ]
    out = tmp_path / "out"
    assert main([*map(str, runs), "--wide", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "superseded n=3" in printed
    assert "turns to delete" in printed
    lines = rows_of(out)
    assert len(lines) == 8
    assert lines[0] | {"low": "", "high": ""} == {
        **{"run": "bm25", "strategy": "bm25", "kind": "absent", "measure": "used", "n": "1"},
        **{"errors": "0", "rate": "1.000000", "low": "", "high": ""},
    }
    page = (out / "harm.md").read_text(encoding="utf-8")
    assert "| bm25 | 1 | 0.667 [" in page


def test_a_kind_of_which_all_questions_failed_shows_its_errors(tmp_path, capsys):
    asked = (("ash/8", False), ("ash/9", False), ("elm/10", True))
    lost = [planted(id_, "deleted", control=control, **error()) for id_, control in asked]
    whole = [scored(f"ash/{n}", "deleted", 0.0, 0.0) for n in (8, 9)]
    whole.append(planted("elm/10", "deleted", control=True, abstained=False))
    runs = [
        write_run(tmp_path / "bm25", [*ROWS, *lost], "bm25"),
        write_run(tmp_path / "mem0", [*ROWS, *whole], "mem0"),
    ]
    out = tmp_path / "out"
    assert main([*map(str, runs), "--out", str(out)]) == 0
    used = (out / "harm.md").read_text(encoding="utf-8").split("Used")[1]
    assert "| run | errors | absent n=1 | superseded n=3 | deleted n=2 |" in used
    assert "| bm25 | 3 |" in used
    assert used.count("| - (errors: 2) |") == 1
    found = {(one["run"], one["kind"], one["measure"]): one for one in rows_of(out)}
    for measure, errors in (("shown", "2"), ("used", "2"), ("refused", "1")):
        one = found["bm25", "deleted", measure]
        assert (one["n"], one["errors"], one["rate"], one["low"]) == ("0", errors, "", "")
    assert main([str(runs[0]), "--wide"]) == 0
    assert "- (errors: 2)" in capsys.readouterr().out


def test_other_runs_are_refused_in_one_line(tmp_path, capsys):
    plain = write_run(tmp_path / "plain", [record("ash/0")])
    assert main([str(plain)]) == 2
    assert "no question is about planted facts; use runs on" in capsys.readouterr().err
    some = write_run(tmp_path / "some", ROWS)
    fewer = write_run(tmp_path / "fewer", ROWS[1:])
    assert main([str(some), str(fewer)]) == 2
    assert "asks other questions than" in capsys.readouterr().err


def rates(folder: Path, cache: Path, *options: str) -> dict[tuple[str, str], float]:
    folder.mkdir(exist_ok=True)
    ended = run_main(folder, cache, *SMALL, *options, f"hydra.run.dir={folder / 'run'}")
    assert ended.code == 0, ended.err
    found = harms(load_run(folder / "run"))
    assert {(one.n, one.errors) for one in found} == {(4, 0)}
    return {(one.kind, one.measure): one.rate.value for one in found if one.rate is not None}


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


def test_a_bad_parameter_is_one_line(tmp_path, cache):
    for option in ("dataset.kinds=[stale]", "dataset.deletion=maybe", "dataset.plants=x"):
        ended = run_main(tmp_path, cache, *SMALL, option, f"hydra.run.dir={tmp_path / 'run'}")
        assert ended.code == 2
        assert len(ended.err.strip().splitlines()) == 1
        assert option.partition("=")[0] in ended.err


def test_what_was_shown_outlives_another_reader_and_rescoring(tmp_path, cache):
    rates(tmp_path, cache, "strategy=bm25", "k=2")
    again = tmp_path / "again"
    ended = run_main(
        tmp_path, cache, f"from={tmp_path / 'run'}", "reader=none", f"hydra.run.dir={again}"
    )
    assert ended.code == 0, ended.err
    assert rescore([str(again)]) == 0
    first, second = (harms(load_run(folder)) for folder in (tmp_path / "run", again))
    # By what is written: an interval has a nan, which equals nothing.
    shown = [repr(one) for one in first if one.measure == "shown"]
    assert [repr(one) for one in second if one.measure == "shown"] == shown
    assert not [one for one in second if one.measure != "shown"]  # nobody answered
