"""The shipped pins, and pins that are written anew with a reason and read again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.regress.__main__ import check, repin
from eval.regress.pins import EXPECTED, load_pin, load_pins, save_pin
from eval.regress.verdicts import Result, Verdict, judge, report
from memsys.core.errors import InputError
from tests.eval.commands import PROJECT
from tests.eval.regress.conftest import outcome

KEYLESS = (
    *("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate"),
    *("no_memory", "oracle", "bm25", "hybrid_rank", "graph_follow", "graph_walk"),
)
REPLAYED = {"sample_bm25_llm"}
DATA = ("locomo_plus", "locomo", "sample_hard", "sample", "synthetic")


def data_of(stem: str) -> str:
    return next(data for data in DATA if stem.startswith(f"{data}_"))


def test_every_strategy_that_needs_no_model_is_pinned_on_both_data_sets():
    options = {path.stem for path in (PROJECT / "conf" / "strategy").glob("*.yaml")}
    for data in ("sample", "locomo"):
        stems = {path.stem for path in EXPECTED.glob(f"{data}_*.yaml")} - REPLAYED
        pinned = {stem.removeprefix(f"{data}_") for stem in stems if data_of(stem) == data}
        assert set(KEYLESS) <= pinned <= options, data


def test_a_pin_is_found_by_name_and_says_how_to_repeat_it():
    (one,) = load_pins(["sample_bm25"])
    assert one.path == EXPECTED / "sample_bm25.yaml"
    assert one.name in {pin.name for pin in load_pins([])}
    with pytest.raises(InputError, match="no such pin"):
        load_pins(["sample_bm26"])
    pins = load_pins([])
    assert {pin.name for pin in pins if pin.bundle} == REPLAYED
    for pin in (pin for pin in pins if not pin.bundle):
        data = data_of(pin.name)
        named = {f"dataset={data}", f"strategy={pin.name.removeprefix(f'{data}_')}"}
        assert named <= set(pin.arguments)
        others = set(pin.arguments) - named
        if data != "synthetic":  # its parameters make it small
            assert others <= {"embedder.fallback=null"}, pin.name


@pytest.mark.parametrize("name", ["sample_bm25", "sample_bm25_llm"])
def test_sample_scores_are_the_expected_ones(name, cache, monkeypatch):
    """By words alone, and of recorded answers; `make regress` checks all pins. A replay has no
    noise: no score may move, whatever the interval allows.
    """
    monkeypatch.setenv("MEMSYS_CACHE", str(cache))
    result = check(load_pin(EXPECTED / f"{name}.yaml"))
    assert result.verdict != Verdict.FAIL, report([result])
    assert name not in REPLAYED or result.verdict == Verdict.OK, report([result])


def test_what_is_saved_is_read_again(pin):
    found = outcome(f1=0.1234, bleu1=None)
    save_pin(pin, found)
    assert load_pin(pin.path) == replace(pin, expected=found)
    assert pin.path.read_text().startswith("# a pin made by hand\n")
    # a pin of an earlier version, without a newer score, is completed
    text = pin.path.read_text()
    pin.path.write_text(text.replace("mrr: ", "older: "))
    with pytest.raises(InputError, match=r"mrr: missing; --repin"):
        load_pins([str(pin.path)])
    assert [one.expected for one in load_pins([str(pin.path)], repin=True)] == [None]


def test_only_what_moved_is_pinned_and_the_reason_is_noted(pin, tmp_path):
    log = tmp_path / "CHANGELOG.md"
    log.write_text("# Changelog\n\n## 2.0\n\n- newest\n\n## 1.0\n\n- oldest\n")
    assert repin([judge(pin, outcome())], "no change", log) == []
    assert "no change" not in log.read_text()
    assert repin([judge(pin, outcome(f1=0.7))], "stems\nnot words.", log) == ["made"]
    assert load_pin(pin.path).expected == outcome(f1=0.7)
    assert log.read_text() == (
        "# Changelog\n\n## 2.0\n\n- Expected scores pinned: stems not words "
        "(made F1 0.5000 to 0.7000).\n- newest\n\n## 1.0\n\n- oldest\n"
    )
    new = tmp_path / "new.md"  # a changelog is begun where there is none
    repin([judge(replace(pin, expected=None), outcome())], "first", new)
    assert new.read_text() == "# Changelog\n\n- Expected scores pinned: first (made).\n"


def test_nothing_is_pinned_without_a_reason_or_without_scores(pin, tmp_path):
    before, log = pin.path.read_text(), tmp_path / "CHANGELOG.md"
    good = judge(pin, outcome(f1=0.7))
    with pytest.raises(InputError, match="needs a reason"):
        repin([good], "  ", log)
    with pytest.raises(InputError, match="made: not pinned: no such file"):
        repin([good, Result(pin, None, reasons=("no such file",))], "better", log)
    assert pin.path.read_text() == before
    assert not log.exists()


def test_a_wrong_pin_is_refused_by_file_and_field(tmp_path):
    path, command = tmp_path / "wrong.yaml", "command: python -m eval.run\n"
    for text, told in (
        ("expected: {}\n", "command: Field required"),
        ("command: rm -r x\n", "must begin with python -m eval.run"),
        ("command: python -m eval.run 'a\n", "command: No closing quotation"),
        (f"{command}tolerance_questions: -1\n", "questions: Input should be greater"),
        (f"{command}tolerence: 1\n", "tolerence: Extra inputs"),
        (f"{command}expected: {{}}\n", "protocol: missing"),
        ("a: [\n", "not YAML"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=told) as caught:
            load_pin(path)
        assert str(path) in str(caught.value)
