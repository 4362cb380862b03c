"""The shipped pins, how they are written anew, and verdicts: OK, OKish and FAIL."""

import re
from dataclasses import replace

import pytest

from eval.regress.__main__ import check, repin
from eval.regress.by_question import Scored, pair
from eval.regress.pins import EXPECTED, Pin, load_pin, load_pins, save_pin
from eval.regress.verdicts import Result, Verdict, judge, report, worst
from eval.summary.contrast import NOT_SHOWN, Contrast
from memsys.core.errors import InputError
from tests.eval.commands import PROJECT
from tests.eval.regress.conftest import changed, outcome, scores

PINNED = scores()


def test_a_score_may_move_by_one_question(pin):
    for f1, verdict in (
        (0.5, Verdict.OK),
        (0.51, Verdict.OKISH),  # one of 100 questions
        (0.49, Verdict.OKISH),
        (0.5102, Verdict.FAIL),  # a rise is no good news until it is understood
        (0.4898, Verdict.FAIL),
        (None, Verdict.FAIL),
    ):
        assert judge(pin, outcome(f1=f1)).verdict == verdict, f1


def test_every_pinned_score_counts_and_without_tolerance_its_last_digit(pin):
    for name in ("bleu1", "evidence_recall", "abstained"):
        result = judge(pin, outcome(**{name: 0.3}))
        assert [(one.score, one.verdict) for one in result.changes] == [(name, Verdict.FAIL)]
    strict = replace(pin, tolerance_questions=0.0)
    assert judge(strict, outcome(f1=0.5003)).verdict == Verdict.FAIL


def test_what_cannot_be_compared_fails_with_equal_scores(pin):
    plain, asked = outcome(), replace(outcome(), questions=PINNED)
    for expected, found, reason in (
        (plain, outcome("strict"), "protocol strict, expected locomo"),
        (plain, outcome(sha256="b" * 64), "made.json: sha256 bbbbbbbbbbbb, expected aaaaaaaaaaaa"),
        (plain, outcome(n=99), "overall: 99 questions, expected 100"),
        (asked, plain, "no model was called"),
        (plain, asked, "a model was called, but no scores by question are pinned"),
        (None, plain, "--repin"),
    ):
        result = judge(replace(pin, expected=expected), found)
        assert result.verdict == Verdict.FAIL
        assert reason in result.reasons[0]
        assert reason in report([result])


def test_the_worst_verdict_stands_above(pin):
    fine, near = judge(pin, outcome()), judge(pin, outcome(f1=0.505))
    broken = Result(pin, None, reasons=("no such file",))
    found = [worst(some) for some in ([fine], [fine, near], [near, broken, fine])]
    assert found == [Verdict.OK, Verdict.OKISH, Verdict.FAIL]
    assert report([near, broken, fine]).startswith("## Score regression: FAIL\n")


def test_the_table_shows_the_farthest_move_first(pin):
    text = report([judge(pin, outcome(bleu1=0.505, f1=0.4, evidence_recall=0.8))])
    rows = [line for line in text.splitlines() if line.startswith("| made: ")]
    assert rows[0] == (
        "| made: evidence_recall | FAIL | overall (types 1-4) | 100 | 0.5000 | 0.8000 | +0.3000 "
        "| ±0.0100 |"
    )
    assert [row.split(" | ")[0] for row in rows[1:]] == ["| made: f1", "| made: bleu1"]
    assert 'python -m eval regress made --repin "reason"' in text


def judged(pin: Pin, found: dict[str, Scored], expected: dict[str, Scored] = PINNED) -> Result:
    """The cells are left out of it: a pin with scores by question is judged by these."""
    return judge(
        replace(pin, expected=replace(outcome(), questions=expected)),
        replace(outcome(f1=0.9), questions=found),
    )


def of(result: Result, score: str, type_: str = "overall") -> Contrast:
    row = next(one for one in result.pairings if (one.key, one.type) == (score, type_))
    return row.contrasts[0]


def shown(one: Contrast) -> bool:
    return one.verdict != NOT_SHOWN


def test_the_same_scores_are_ok(pin):
    result = judged(pin, dict(PINNED))
    assert (result.verdict, result.reasons) == (Verdict.OK, ())
    assert {one.key for one in result.pairings} == set(next(iter(PINNED.values())).scores)
    assert "| made: judge | OK | overall (types 1-4) | 240 |" in report([result])
    assert "- (all equal)" in report([result])


def test_noise_is_okish(pin):
    for seed in (1, 2, 3):
        result = judged(pin, scores(seed))
        assert result.verdict == Verdict.OKISH
        one = of(result, "judge")
        assert one.difference.low < 0 < one.difference.high
        assert 0.03 < one.needed < 0.2


@pytest.mark.parametrize("drop", [0.25, -0.25])
def test_a_real_loss_fails_and_so_does_a_rise(pin, drop):
    result = judged(pin, scores(1, drop=drop))
    assert result.verdict == Verdict.FAIL
    one = of(result, "judge")
    assert shown(one)
    assert (one.difference.value < -0.1) == (drop > 0)
    assert one.difference.low * one.difference.high > 0
    found = one.difference
    (row,) = re.findall(r"^.*made: judge \| FAIL \| overall.*$", report([result]), re.M)
    assert f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]" in row
    assert f"| 6 conversations | {one.p_holm:.4f} |".replace("0.0000", "< 0.0001") in row
    assert row.endswith(f"| {one.needed:.4f} |")


def test_a_loss_of_one_type_fails_and_is_not_told_twice(pin):
    lost = [id_ for id_, one in PINNED.items() if one.type == "multi_hop" and one.scores["judge"]]
    result = judged(pin, changed(dict(PINNED), *lost[::2], judge=0.0))
    assert shown(of(result, "judge", "multi_hop"))
    assert not any(shown(one.contrasts[0]) for one in result.pairings if one.type == "single_hop")
    assert result.verdict == Verdict.FAIL
    single = {id_: one for id_, one in PINNED.items() if one.type == "single_hop"}
    assert {one.type for one in pair(single, single)} == {"single_hop"}


def test_other_questions_fail_with_equal_scores(pin):
    failed = changed(PINNED, "c1/1", failed="answer: CallFailed: 400")
    why = "1 question failed that did not when pinned (c1/1)"
    fewer = {id_: one for id_, one in PINNED.items() if id_ not in ("c0/3", "c2/1")}
    for found, reason in (
        (fewer, "2 questions of the pin not asked (c0/3, c2/1)"),
        ({**PINNED, "c9/0": PINNED["c0/0"]}, "1 question not in the pin (c9/0)"),
        (failed, f"{why}; the first in answer: CallFailed: 400"),
        (changed(PINNED, "c1/1", judge=None), "1 question with judge on one side only (c1/1)"),
    ):
        result = judged(pin, found)
        assert result.verdict == Verdict.FAIL
        assert result.reasons == (reason,)
        assert reason in report([result])
        assert "| made: judge | OK |" in report([result])  # what both answered is still compared
    # one that failed when pinned may fail or not
    holed = changed(PINNED, "c1/1", failed="when pinned")
    for found in (PINNED, failed):
        result = judged(pin, found, holed)
        assert result.verdict == Verdict.OK
        assert of(result, "judge").difference.n == len(PINNED) - 1


def test_of_two_conversations_questions_are_resampled_and_the_table_says_so(pin):
    few = scores(conversations=2)
    lost = judged(pin, scores(1, drop=0.4, conversations=2), few)
    assert lost.verdict == Verdict.FAIL  # by two conversations' means nothing could be shown
    assert "| questions of 2 conversations |" in report([lost])
    assert judged(pin, scores(2, conversations=2), few).verdict == Verdict.OKISH
    enough = judged(pin, scores(1, conversations=5), scores(conversations=5))
    assert "| 5 conversations |" in report([enough])


def test_five_questions_that_moved_alike_show_nothing(pin):
    """Their interval has no width and excludes 0, but chance alone moves five of five alike."""
    five = changed(scores(conversations=1, each=5), *(f"c0/{i}" for i in range(5)), judge=1.0)
    found = changed(five, *five, judge=0.0)
    result = judged(pin, found, five)
    found = of(result, "judge").difference
    assert found.low == found.high == -1
    assert result.verdict == Verdict.OKISH


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
    for text, message in (
        ("expected: {}\n", "command: Field required"),
        ("command: rm -r x\n", "must begin with python -m eval.run"),
        ("command: python -m eval.run 'a\n", "command: No closing quotation"),
        (f"{command}tolerance_questions: -1\n", "questions: Input should be greater"),
        (f"{command}tolerence: 1\n", "tolerence: Extra inputs"),
        (f"{command}expected: {{}}\n", "protocol: missing"),
        ("a: [\n", "not YAML"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message) as caught:
            load_pin(path)
        assert str(path) in str(caught.value)
