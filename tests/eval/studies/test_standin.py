"""Agreement of the stand-in: thresholds come from other systems, figures from held-out answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from eval.datasets.files import shared_folder
from eval.studies.standin import JudgedSystem, best_threshold, left_out, main, pooled, read_system

ANSWERS = shared_folder() / "locomo" / "answers"


def system(name: str, at: float) -> JudgedSystem:
    """A judge who passes what recalls at least `at`, over an even spread of recalls."""
    recall = np.linspace(0, 1, 201)
    return JudgedSystem(name, recall, recall >= at, ["a", "b"] * 100 + ["a"])


def test_the_threshold_of_a_system_is_chosen_without_it():
    systems = [system("one", 0.3), system("two", 0.3), system("odd", 0.8)]
    assert best_threshold(systems[:2]) == pytest.approx(0.3)
    thresholds = left_out(systems)
    assert thresholds["odd"] == pytest.approx(0.3)  # its own would be .8
    kappa, _, n = pooled(systems[:2], {"one": 0.3, "two": 0.3})
    assert (kappa.value, n) == (1.0, 402)
    # runs of one system do not choose for each other
    systems = [system("x_run1", 0.8), system("x_run2", 0.8), system("y", 0.3)]
    assert left_out(systems)["x_run1"] == pytest.approx(0.3)


def test_one_system_is_not_enough(tmp_path, capsys):
    row = {"sample_id": "s", "qa_index": 0, "question": "q", "gold": "g", "answer": "g", "judge": 1}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert main([str(path)]) == 2
    assert "name two or more" in capsys.readouterr().err
    assert main([str(tmp_path / "none.jsonl")]) == 2


@pytest.mark.skipif(not ANSWERS.is_dir(), reason="needs $MEMSYS_SHARED/locomo/answers")
def test_agreement_on_locomo_is_what_the_docs_say():
    names = ("zep_mirix", "rag500k1_mirix", "memobase_0503", "fc_gpt4omini_memos")
    read = [read_system(ANSWERS / f"{name}.jsonl.gz") for name in names]
    systems = [one for one in read if one is not None]
    kappa, area, n = pooled(systems, dict.fromkeys(names, 0.21))
    assert n == 4 * 1540
    assert kappa.value == pytest.approx(0.65, abs=0.03)
    assert area == pytest.approx(0.917, abs=0.015)
    assert read_system(ANSWERS / "automem_e2e.jsonl.gz") is None
