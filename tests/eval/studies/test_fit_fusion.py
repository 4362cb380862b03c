"""Fitting the fusion ranking: repeatable, and blind to the conversations for reporting."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from eval.datasets.files import shared_folder
from eval.datasets.splits import DEV, HELD_OUT
from eval.run.build import build
from eval.run.experiment import composed
from eval.studies import fit_fusion
from eval.studies.fit_fusion import Example, cross_validated, fit_weights, fitted, main
from memsys.errors import InputError
from memsys.fusion.weights import SETS, SIGNALS, load_weights
from tests.eval.commands import small_sample

LOCOMO = shared_folder() / "locomo" / "locomo10.json"


def data(folder: Path, *names: str) -> str:
    """An override for a file with a conversation of each name."""
    path = folder / "made.json"
    path.write_text(json.dumps([small_sample(name) for name in names]), "utf-8")
    return f"dataset.path={path}"


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """No question may be read: a refusal comes before."""

    def fail(*_: object) -> None:
        raise AssertionError("read the questions")

    monkeypatch.setattr(fit_fusion, "examples_of", fail)


def test_the_same_data_give_the_same_bytes(tmp_path, capsys):
    made = data(tmp_path, "conv-26", "conv-30", "conv-41")
    written = []
    for name in ("one.yaml", "two.yaml"):
        out = tmp_path / name
        assert main(["--out", str(out), made, "dataset.split=null"]) == 0
        written.append(out.read_bytes())
    assert written[0] == written[1]
    printed = capsys.readouterr().out
    assert all(f"{name}: recall@10 " in printed for name in SETS)
    load_weights(out)
    about = yaml.safe_load(written[0])["fitted_on"]
    assert about["conversations"] == ["conv-26", "conv-30", "conv-41"]
    assert about["questions"] == 18  # six of seven are of types 1 to 4
    assert [one["file"] for one in about["data"]] == ["made.json"]
    assert (about["embedder"], about["memory"]) == ("minilm", "turns")


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize(
    "overrides",
    [
        ["dataset.split=held_out"],
        ["dataset.limit=3", "dataset.split=held_out"],
        ["dataset.split=dev", "dataset.split=held_out"],
        ["dataset.split=null"],
        ["dataset.split=null", "dataset.conversations=[conv-44]"],
        ["dataset.conversations=[conv-26,conv-44]"],
        ["dataset.split=null", "dataset.conversations=[conv-26,conv-44]"],
        ["dataset.split=null", "dataset.conversations=[conv-26,conv-1]"],
        ["dataset.pooled=true"],
        ["dataset=locomo_held_out"],
        ["dataset=sample"],
        ["dataset=locomo_plus"],
        ["dataset=synthetic", "dataset.split=null"],
        ["dataset.conversations=[conv-26]"],  # cross-validation takes two
        ["strategy=mem0"],
        ["strategy=oracle"],
        ["dataset.split=some"],
        ["no.such=setting"],
        ["embedder=some"],
        ["index.k1=some"],
    ],
)
def test_other_data_are_refused_and_nothing_is_written(tmp_path, capsys, overrides):
    made, out = data(tmp_path, *DEV, *HELD_OUT, "conv-1"), tmp_path / "weights.yaml"
    if not any(one.startswith("dataset=") for one in overrides):
        overrides = [made, *overrides]
    assert main(["--out", str(out), *overrides]) == 2
    assert not out.exists()
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("name", [*HELD_OUT, "conv-1"])
def test_the_conversation_that_is_refused_is_named(tmp_path, capsys, name):
    made = data(tmp_path, "conv-26", "conv-30", name)
    assert main(["--out", str(tmp_path / "w.yaml"), made, "dataset.split=null"]) == 2
    assert f"error: {name}: weights are fitted on {', '.join(DEV)} alone" in capsys.readouterr().err


@pytest.mark.usefixtures("unread")
def test_a_place_that_cannot_be_written_is_refused_before_the_fit(tmp_path, capsys):
    made = data(tmp_path, "conv-26", "conv-30")
    for out in (tmp_path / "none" / "w.yaml", tmp_path, tmp_path / "made.json" / "w.yaml"):
        assert main(["--out", str(out), made, "dataset.split=null"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert str(out) in line


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (lambda: cross_validated(examples(["conv-26"]), ["words"]), "two conversations"),
        (lambda: fit_weights([]), "no question"),
    ],
)
def test_too_few_questions_are_named(broken, named):
    with pytest.raises(InputError, match=named):
        broken()


def test_of_equal_coverages_the_second_is_the_larger():
    assert fit_weights(examples(["conv-26"], equal=True)).coverage == (0.5, 0.501)


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
    weights = fitted(examples(["conv-26", "conv-30"]), ["words", "speaker"])
    assert weights["words"] > 5
    assert weights["speaker"] == 0
    assert cross_validated(examples(["conv-26", "conv-30"]), ["words"]) == (1.0, 1.0)


def test_no_conversation_is_ranked_by_weights_of_its_own(monkeypatch):
    asked: list[set[str]] = []

    def spied(some: Sequence[Example], signals: Sequence[str]) -> dict[str, float]:
        asked.append({one.conversation for one in some})
        return dict.fromkeys(signals, 1.0)

    monkeypatch.setattr(fit_fusion, "fitted", spied)
    cross_validated(examples(list(DEV)), ["words"])
    assert asked == [set(DEV) - {one} for one in DEV]


def test_evidence_that_is_no_memory_counts_as_not_found():
    (one, *others) = examples(["conv-26", "conv-30"])
    absent = Example(one.conversation, one.signals, one.rows, 2)
    recall, _ = cross_validated([absent, *others], ["words"])
    assert recall == pytest.approx((23 + 0.5) / 24)


@pytest.mark.slow
@pytest.mark.skipif(not LOCOMO.is_file(), reason="LoCoMo is not here: set MEMSYS_SHARED")
def test_the_shipped_weights_are_those_of_locomo(cache):
    config, choices = composed(
        [*fit_fusion.SETTINGS, f"dataset.path={LOCOMO}", f"cache={cache}"],
    )
    found, shipped = fit_weights(fit_fusion.examples_of(build(config, choices))), load_weights()
    for name in SETS:  # other libraries of linear algebra round otherwise
        assert getattr(found, name) == pytest.approx(getattr(shipped, name), abs=0.05), name
    assert found.coverage == pytest.approx(shipped.coverage, abs=0.005)
