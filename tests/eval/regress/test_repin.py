"""Pins are written anew with a reason, and read again as they were written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eval.regress.__main__ import repin
from eval.regress.pins import EXPECTED, load_pin, load_pins, save_pin
from eval.regress.verdicts import Result, judge
from memsys.errors import InputError
from tests.eval.regress.made_outcomes import outcome


def test_what_is_saved_is_read_again(pin):
    found = outcome(f1=0.1234, bleu1=None)
    save_pin(pin, found)
    assert load_pin(pin.path) == replace(pin, expected=found)
    assert pin.path.read_text().startswith("# a pin made by hand\n")


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


def test_a_changelog_is_begun_where_there_is_none(pin, tmp_path):
    repin([judge(replace(pin, expected=None), outcome())], "first", tmp_path / "new.md")
    assert (tmp_path / "new.md").read_text() == (
        "# Changelog\n\n- Expected scores pinned: first (made).\n"
    )


def test_a_pin_without_a_newer_score_is_completed(pin):
    save_pin(pin, outcome())
    text = pin.path.read_text()
    pin.path.write_text(text.replace("mrr: ", "older: "))
    with pytest.raises(InputError, match=r"mrr: missing; --repin"):
        load_pins([str(pin.path)])
    assert [one.expected for one in load_pins([str(pin.path)], repin=True)] == [None]


def test_nothing_is_pinned_without_a_reason_or_without_scores(pin, tmp_path):
    before, log = pin.path.read_text(), tmp_path / "CHANGELOG.md"
    good = judge(pin, outcome(f1=0.7))
    with pytest.raises(InputError, match="needs a reason"):
        repin([good], "  ", log)
    with pytest.raises(InputError, match="made: not pinned: no such file"):
        repin([good, Result(pin, None, reasons=("no such file",))], "better", log)
    assert pin.path.read_text() == before
    assert not log.exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("expected: {}\n", "command: Field required"),
        ("command: rm -r x\n", "must begin with python -m eval.run"),
        (
            "command: python -m eval.run\ntolerance_questions: -1\n",
            "tolerance_questions: Input should be greater",
        ),
        ("command: python -m eval.run\ntolerence: 1\n", "tolerence: Extra inputs"),
        ("command: python -m eval.run\nexpected: {}\n", "protocol: missing"),
        ("a: [\n", "not YAML"),
    ],
)
def test_a_wrong_pin_is_refused_by_file_and_field(tmp_path, text, told):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        load_pin(path)
    assert str(path) in str(caught.value)


def test_pins_are_found_by_name_and_all_without():
    (one,) = load_pins(["sample_bm25"])
    assert one.path == EXPECTED / "sample_bm25.yaml"
    assert one.name in {pin.name for pin in load_pins([])}
    with pytest.raises(InputError, match="no such pin"):
        load_pins(["sample_bm26"])
