"""Kills at random moments lose, double and change nothing, and pay for nothing twice."""

from __future__ import annotations

import pytest

from eval.studies.kills import Damage, kills


@pytest.mark.slow
def test_a_killed_run_ends_as_an_undisturbed_one(tmp_path, monkeypatch):
    monkeypatch.setattr("eval.studies.kills._CONVERSATIONS", 3)
    assert kills(1, tmp_path, seed=1) == Damage(kills=1)


@pytest.mark.soak
def test_runs_killed_again_and_again_end_as_an_undisturbed_one(tmp_path):
    assert kills(20, tmp_path, seed=2) == Damage(kills=20)


def test_every_kind_of_damage_is_found():
    clean = {name: {"id": name, "answer": "here"} for name in ("a/0", "a/1", "a/2")}
    damage = Damage()
    changed = {"id": "a/1", "answer": "elsewhere", "latency_ms": {"total": 1.0}}
    damage.add_records([clean["a/0"], clean["a/0"], changed], clean)
    assert damage == Damage(lost=1, doubled=1, different=1)
    damage.add_records([{**record, "latency_ms": {}} for record in clean.values()], clean)
    assert damage == Damage(lost=1, doubled=1, different=1)
