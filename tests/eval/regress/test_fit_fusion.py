"""Fitting fusion and auto: repeatable, and blind to the conversations for reporting."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from eval.datasets.selection import LOCOMO, REALTALK
from eval.regress import fit_auto, fit_fusion
from eval.regress.fit_auto import KINDS, Kind, examples_of_kinds, fit
from eval.regress.fit_fusion import Example, cross_validated, fit_weights, fitted, main, written
from memsys.core.errors import InputError
from memsys.index.weights import AUTO_SETS, SETS, SIGNALS, WEIGHTS, load_auto_weights, load_weights
from tests.eval.commands import small_sample

# What is fitted on three small conversations.
FITTED = {
    "all": [3.52, -2.01, -1.62, -0.8, 3.64, -2.19, 0.0, 0.15, 0.0, -3.14, 0.0],
    "without_words": [3.02, -1.93],
    "without_vectors": [3.33, 2.73, -2.91, 1.13, 0.81, 0.0, 1.94, 0.0, -0.31, 0.0],
}
COVERAGE = (0.086, 0.087)


def data(folder: Path, *names: str) -> str:
    """An override for a file with a conversation of each name, with a question without evidence."""
    path = folder / "made.json"
    samples = [small_sample(name) for name in names]
    for sample in samples:
        sample["qa"].append({"question": "Who?", "answer": "Ada", "evidence": [], "category": 4})
    path.write_text(json.dumps(samples), "utf-8")
    return f"dataset.path={path}"


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No question may be read: a refusal comes before."""

    def fail(*_: object) -> None:
        raise AssertionError("read the questions")

    monkeypatch.setattr(fit_fusion, "examples_of", fail)


def test_a_fit_repeats_and_is_what_it_was(tmp_path, capsys):
    made = data(tmp_path, "conv-26", "conv-30", "conv-41")
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    for out in (one, two):
        assert main(["--out", str(out), made, "dataset.split=null"]) == 0
    assert one.read_bytes() == two.read_bytes()
    printed = capsys.readouterr().out
    assert all(f"{name}: recall@10 " in printed for name in SETS)
    about = yaml.safe_load(one.read_bytes())["fitted_on"]
    assert about["conversations"] == ["conv-26", "conv-30", "conv-41"]
    assert about["questions"] == 18  # six of eight are of types 1 to 4 and have evidence
    assert [one["file"] for one in about["data"]] == ["made.json"]
    assert (about["embedder"], about["memory"]) == ("minilm", "turns")
    found = load_weights(one)
    for name, weights in FITTED.items():
        assert list(getattr(found, name).values()) == pytest.approx(weights, abs=0.05), name
    assert found.coverage == pytest.approx(COVERAGE, abs=0.005)


def test_a_check_names_what_is_not_fitted_and_writes_nothing(tmp_path, said, monkeypatch):
    few = examples(["conv-26", "conv-30"])
    monkeypatch.setattr(fit_fusion, "examples_of", lambda _: few)
    monkeypatch.setattr(fit_fusion, "_built", lambda _: (None, {}))
    out = tmp_path / "weights.yaml"
    assert f"{out}: no such file or folder; fit it first" in said(
        main, "--check", "--out", out, code=2
    )
    fit = fit_weights(few)
    words, (none, full) = fit.all["words"], fit.coverage
    for weight, share, expected in (
        (0.05, 0.005, [f"{out}: its weights are those of the fit"]),
        (0.06, 0.006, [f"all.words: {words:g}, expected {words + 0.06:g}",
                       f"coverage: {full:g}, expected {full + 0.006:g}"]),
    ):  # fmt: skip
        weights = {**fit.all, "words": words + weight}
        other = replace(fit, all=weights, coverage=(none, full + share))
        out.write_text(written(other, "fusion", {}), "utf-8")
        before = out.read_bytes()
        load_weights.cache_clear()
        shown = said(main, "--check", "--out", out, code=int(len(expected) == 2))
        assert shown.splitlines() == expected
        assert out.read_bytes() == before


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["dataset.split=held_out"], "conv-44: weights are fitted on conv-26, "),
        (["--check", "dataset.split=null"], "conv-44: weights are fitted on"),
        (["dataset.split=null", "dataset.conversations=[conv-26,conv-50]"], "conv-50: weights"),
        (["dataset.split=null", "dataset.conversations=[conv-26,conv-1]"], "conv-1: weights"),
        (["dataset.conversations=[conv-26,conv-44]"], "conv-44"),
        (["dataset.pooled=true"], "pooled: weights are fitted on"),
        (["dataset=locomo_held_out"], "dataset=locomo_held_out strategy=fusion: weights are"),
        (["dataset=sample"], "dataset.split: the chosen dataset has no such"),
        (["strategy=oracle"], "dataset=locomo strategy=oracle: weights are fitted on LoCoMo"),
        (["dataset.split=some"], "some"),
        (["no.such=setting"], "no.such: no such setting"),
        (["embedder=some"], "embedder=some: no such option"),
        (["index.k1=some"], "index.k1"),
    ],
)
def test_other_data_are_refused_in_one_line_and_nothing_is_written(
    tmp_path, refused, overrides, message
):
    made = data(tmp_path, *LOCOMO["dev"], *LOCOMO["held_out"], "conv-1")
    out = tmp_path / "weights.yaml"
    out.write_bytes(WEIGHTS.read_bytes())
    if not any(one.startswith("dataset=") for one in overrides):
        overrides = [*overrides, made]
    assert message in refused(main, "--out", out, *overrides)
    assert out.read_bytes() == WEIGHTS.read_bytes()


@pytest.mark.usefixtures("unread")
def test_a_place_that_cannot_be_written_is_refused_before_the_fit(tmp_path, refused):
    made = data(tmp_path, "conv-26", "conv-30")
    for out in (tmp_path / "none" / "w.yaml", tmp_path, tmp_path / "made.json" / "w.yaml"):
        assert str(out) in refused(main, "--out", out, made, "dataset.split=null")


def test_too_few_questions_are_named():
    with pytest.raises(InputError, match="two conversations"):
        cross_validated(examples(["conv-26"]), ["words"])
    with pytest.raises(InputError, match="no question"):
        fit_weights([])


def examples(conversations: Sequence[str], *, equal: bool = False) -> list[Example]:
    """Twelve questions of each conversation over nine memories: the evidence has the most words."""
    random = np.random.default_rng(0)
    found = []
    for number in range(12 * len(conversations)):
        signals = {name: np.zeros(9) for name in SIGNALS}
        signals["words"] = random.random(9)
        signals["window_words"] = np.full(9, 0.5 if equal else number / 100)
        rows = (int(signals["words"].argmax()),)
        found.append(Example(conversations[number % len(conversations)], signals, rows, 1))
    return found


def test_what_finds_the_evidence_gets_the_weight():
    both = examples(["conv-26", "conv-30"])
    weights = fitted(both, ["words", "speaker"])
    assert weights["words"] > 5
    assert weights["speaker"] == 0
    assert cross_validated(both, ["words"]) == (1.0, 1.0)
    # evidence that is no memory counts as not found
    absent = Example(both[0].conversation, both[0].signals, both[0].rows, 2)
    recall, _ = cross_validated([absent, *both[1:]], ["words"])
    assert recall == pytest.approx((23 + 0.5) / 24)
    # of equal coverages the second is the larger
    assert fit_weights(examples(["conv-26"], equal=True)).coverage == (0.5, 0.501)


def test_no_conversation_is_ranked_by_weights_of_its_own(monkeypatch):
    asked: list[set[str]] = []

    def spied(some: Sequence[Example], signals: Sequence[str]) -> dict[str, float]:
        asked.append({one.conversation for one in some})
        return dict.fromkeys(signals, 1.0)

    monkeypatch.setattr(fit_fusion, "fitted", spied)
    cross_validated(examples(list(LOCOMO["dev"])), ["words"])
    assert asked == [set(LOCOMO["dev"]) - {one} for one in LOCOMO["dev"]]


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
        assert "three: recall@10 1.000, nDCG@10 " in said(fit_auto.main, "--out", out)
    assert one.read_bytes() == two.read_bytes()
    assert yaml.safe_load(one.read_text())["fitted_on"]["two"] == MADE["two"].datasets
    assert fit_auto.main(["--check", "--out", str(one)]) == 0
    weights = load_auto_weights(one)
    assert all(getattr(weights, name).keys() == set(AUTO_SETS[name]) for name in AUTO_SETS)
    changed = replace(weights, remark={"window_cosine": weights.remark["window_cosine"] + 0.06})
    two.write_text(fit_auto.written(changed, "auto", {}), "utf-8")
    load_auto_weights.cache_clear()
    assert "remark.window_cosine: " in said(fit_auto.main, "--check", "--out", two, code=1)
    assert fit_auto.main(["--check", "--out", str(tmp_path / "absent.yaml")]) == 2


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
