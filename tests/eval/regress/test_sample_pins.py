"""Every strategy and baseline still reaches its expected scores on the bundled sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.regress.__main__ import check
from eval.regress.pins import EXPECTED, load_pin, load_pins
from eval.regress.tables import report
from eval.regress.verdicts import Verdict
from tests.eval.commands import PROJECT

KEYLESS = (
    *("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate"),
    *("no_memory", "oracle", "bm25", "hybrid_rank", "graph_follow", "graph_walk"),
)
SAMPLE = sorted([*EXPECTED.glob("sample_*.yaml"), *EXPECTED.glob("synthetic_*.yaml")])
REPLAYED = {"sample_bm25_llm"}
DATA = ("locomo_plus", "locomo", "sample_hard", "sample", "synthetic")


def data_of(stem: str) -> str:
    """Return the data set of a pin, which is the beginning of its name."""
    return next(data for data in DATA if stem.startswith(f"{data}_"))


@pytest.fixture(autouse=True)
def vectors(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of these runs share one folder of vectors."""
    monkeypatch.setenv("MEMSYS_CACHE", str(cache))


def test_every_strategy_that_needs_no_model_is_pinned_on_both_data_sets():
    options = {path.stem for path in (PROJECT / "conf" / "strategy").glob("*.yaml")}
    for data in ("sample", "locomo"):
        stems = {path.stem for path in EXPECTED.glob(f"{data}_*.yaml")} - REPLAYED
        pinned = {stem.removeprefix(f"{data}_") for stem in stems if data_of(stem) == data}
        assert set(KEYLESS) <= pinned <= options, data


def test_a_pin_says_how_to_repeat_it():
    pins = load_pins([])
    assert {pin.name for pin in pins if pin.bundle} == REPLAYED
    for pin in pins:
        if pin.bundle:
            continue
        data = data_of(pin.name)
        strategy = pin.name.removeprefix(f"{data}_")
        assert {f"dataset={data}", f"strategy={strategy}"} <= set(pin.arguments)
        others = set(pin.arguments) - {f"dataset={data}", f"strategy={strategy}"}
        if data != "synthetic":  # its parameters make it small
            assert others <= {"embedder.fallback=null"}, pin.name


@pytest.mark.parametrize("path", SAMPLE, ids=[path.stem for path in SAMPLE])
def test_sample_scores_are_the_expected_ones(path):
    result = check(load_pin(path))
    assert result.verdict != Verdict.FAIL, report([result])


def test_a_replay_has_no_noise():
    """Its answers are the same ones, so no score may move, whatever the interval allows."""
    for name in REPLAYED:
        result = check(load_pin(EXPECTED / f"{name}.yaml"))
        assert result.verdict == Verdict.OK, report([result])
