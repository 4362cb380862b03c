"""Runs are read whole or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.records.run import load_run
from memsys.errors import InputError
from tests.eval.diagnose.made_losses import expanded, made_run, record, write_run

FAILED: dict[str, Any] = {"status": "error", "abstained": None, "retrieved": []}


def ids(rows: list[dict]) -> list[str]:
    return [row["id"] for row in rows]


def test_what_failed_or_is_left_out_by_the_key_does_not_count(tmp_path: Path) -> None:
    rows = [
        record("a/1"),
        record("a/2") | FAILED,
        record("a/3", key={"kind": "excluded"}, scores={"locomo_f1": None}),
        record("a/4", key={"kind": "corrected"}),
        record("a/5") | FAILED | {"key": {"kind": "excluded"}},
    ]
    del rows[0]["key"]  # as in runs from before there was a choice of keys
    run = made_run(tmp_path / "run", rows)
    assert ids(run.counted) == ["a/1", "a/4"]
    assert ids(run.left_out) == ["a/3", "a/5"]


def test_a_question_that_was_asked_again_counts_as_it_ended(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", [record("a/1") | FAILED, record("a/2"), record("a/1", f1=1.0)])
    assert ids(run.counted) == ["a/1", "a/2"]
    assert run.counted[0]["scores"]["locomo_f1"] == 1.0


def test_an_id_is_looked_for_under_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path / "results" / "runs" / "mine", [record("a/1")])
    monkeypatch.chdir(tmp_path)
    assert load_run("mine").name == "mine"


@pytest.mark.parametrize(
    ("rows", "more", "told"),
    [
        ([record("a/1")], {"status": "interrupted"}, "the run is interrupted; resume it"),
        ([record("a/1")], {"schema_version": 0}, r"another version of memsys \(schema 0, now"),
        ([], {}, "holds no records"),
        ([record("a/1"), {"id": "a/2"}], {}, r"line 2 is no record \(no abstained, category"),
        ([record("a/1"), 7], {}, "line 2 is no record"),
        ([record("a/1") | FAILED], {}, "every question failed or is left out"),
    ],
)
def test_what_is_no_finished_run_is_refused(
    tmp_path: Path, rows: list, more: dict, told: str
) -> None:
    folder = write_run(tmp_path / "run", rows, **more)
    with pytest.raises(InputError, match=told) as refused:
        load_run(str(folder))
    assert str(refused.value).startswith(str(folder))


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such run; name a run folder, or an id under results"):
        load_run(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read"):
        load_run(str(tmp_path))


def test_a_trace_that_only_some_records_hold_is_refused(tmp_path: Path) -> None:
    rows = [expanded("a/1", "a", "a", "b"), record("a/2"), record("a/3") | FAILED]
    run = made_run(tmp_path / "run", rows)
    with pytest.raises(InputError, match=r"1 of 2 records hold no trace\.expansion .*first: a/2"):
        run.traces("expansion")
    assert not run.traces("gate")
    assert made_run(tmp_path / "two", rows[::2]).traces("expansion")
