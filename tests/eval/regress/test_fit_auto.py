"""Fitting strategy=auto: every kind of data weighs the same, and data for reports are refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from eval.datasets.selection import LOCOMO, REALTALK
from eval.regress import fit_auto
from eval.regress.fit_auto import KINDS, Kind, examples_of_kinds, fit, main
from eval.regress.fit_fusion import Example, fitted
from memsys.core.errors import InputError
from memsys.index.weights import AUTO_SETS, load_auto_weights


def kind(seed: int, count: int, *, tokens: bool = True) -> Kind:
    """Questions over six memories, whose evidence is the row with the highest `words`."""
    draw = np.random.default_rng(seed)
    names = AUTO_SETS["with_tokens" if tokens else "with_vectors"]
    examples = []
    for _ in range(count):
        signals = {name: draw.random(6) for name in names}
        best = (int(signals["words"].argmax()),)
        examples.append(Example("c", signals, best, 1))
    return Kind(examples, [{"settings": f"seed {seed}", "questions": count}])


MADE = {"one": kind(1, 9), "two": kind(2, 30), "three": kind(3, 12, tokens=False)}


def test_a_fit_repeats_is_checked_and_names_its_data(tmp_path, said, monkeypatch):
    monkeypatch.setattr(fit_auto, "examples_of_kinds", lambda: MADE)
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    for out in (one, two):
        assert "three: recall@10 1.000, nDCG@10 " in said(main, "--out", out)
    assert one.read_bytes() == two.read_bytes()
    assert yaml.safe_load(one.read_text())["fitted_on"]["two"] == MADE["two"].datasets
    assert main(["--check", "--out", str(one)]) == 0
    weights = load_auto_weights(one)
    assert all(getattr(weights, name).keys() == set(AUTO_SETS[name]) for name in AUTO_SETS)
    changed = replace(weights, remark={"window_cosine": weights.remark["window_cosine"] + 0.06})
    two.write_text(fit_auto.written(changed, "auto", {}), "utf-8")
    load_auto_weights.cache_clear()
    assert "remark.window_cosine: " in said(main, "--check", "--out", two, code=1)
    assert main(["--check", "--out", str(tmp_path / "absent.yaml")]) == 2


def test_every_kind_weighs_the_same_whatever_its_number_of_questions():
    twice = {**MADE, "one": Kind([*MADE["one"].examples] * 2, [])}
    for name in AUTO_SETS:
        found, expected = (getattr(fit(kinds), name) for kinds in (twice, MADE))
        assert found == pytest.approx(expected, abs=0.02), name
    examples = [one for each in ("one", "two") for one in MADE[each].examples]
    alike = fitted(examples, AUTO_SETS["with_tokens"])
    assert fit(MADE).with_tokens != pytest.approx(alike, abs=0.02)  # nine count as thirty


@pytest.mark.parametrize("held_out", [LOCOMO["held_out"][0], REALTALK["held_out"][-1]])
def test_conversations_for_reports_are_refused(held_out, monkeypatch):
    data = SimpleNamespace(conversations=(SimpleNamespace(id=held_out),))
    monkeypatch.setattr(fit_auto, "composed", lambda _: (None, None))
    monkeypatch.setattr(fit_auto, "build", lambda *_: SimpleNamespace(dataset=data))
    with pytest.raises(InputError, match=f"{held_out}: results are reported on it"):
        examples_of_kinds()


def test_generated_data_have_seeds_that_no_data_set_uses():
    parts = {part for settings in KINDS.values() for one in settings for part in one}
    assert {part for part in parts if "seed" in part} == {
        "dataset.seed=11",
        "dataset.seed=13",
    }  # conf/dataset has 0
