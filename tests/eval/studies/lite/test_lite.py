"""Making the subset: the same every time, by hand-made answers and by the real ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.subset import read_subset, text_of
from eval.studies.lite.__main__ import build, main, validation_figures
from eval.studies.lite.answers import PROBES, family, publisher, read_answered
from eval.studies.lite.sampling import Strata, candidates
from eval.studies.lite.tables import comparisons_table, errors_table, shipped_table
from eval.studies.lite.validation import CHOICES, leave_out
from tests.eval.studies.lite.simulated import simulated_answers

ANSWERS = shared_folder() / "locomo" / "answers"


def rebuilt(seed: int) -> tuple[str, list[list[str]]]:
    answered = simulated_answers()
    strata = Strata(answered.strata, 24)
    subsets = candidates(strata, 2, seed)
    found = leave_out(answered, answered.families, strata, subsets, "family")
    chosen = subsets[0][0].astype(int)
    subset = build(answered, strata, chosen, [], seed, validation_figures(answered, found))
    _, rows = errors_table(found.judge, found.groups, answered.verdicts.mean(1), seed)
    return text_of(subset), rows


def test_the_same_seed_makes_the_same_file_and_the_same_table():
    text, rows = rebuilt(0)
    assert (text, rows) == rebuilt(0)
    other, _ = rebuilt(1)
    assert other != text
    raw = json.loads(text)
    assert len(raw["questions"]) == 24
    assert sum(one["weight"] for one in raw["questions"]) == pytest.approx(1, abs=1e-4)
    assert [one["estimator"] for one in raw["validated"].values()] == ["p-IRT", "weighted mean"]
    assert len(rows) == 4 * len(CHOICES)


def test_a_system_left_out_is_not_looked_at():
    """Its own answers change its own errors alone, and no fit that its family had no part in."""
    answered = simulated_answers()
    strata = Strata(answered.strata, 24)
    subsets = candidates(strata, 3, 0)
    turned = answered.verdicts.copy()
    turned[0] = 1 - turned[0]
    other = replace(answered, verdicts=turned)
    before, after = (leave_out(one, one.families, strata, subsets, "") for one in (answered, other))
    key = ("balanced", "p-IRT")
    assert (before.judge[key][1] == after.judge[key][1]).all()  # of the same family, left out too
    assert (before.judge[key][2:] != after.judge[key][2:]).any()
    assert (before.judge[key][0] != after.judge[key][0]).all()


def test_a_system_that_nobody_judged_counts_for_f1_alone():
    answered = simulated_answers()
    verdicts = answered.verdicts.copy()
    verdicts[3] = np.nan
    answered = replace(answered, verdicts=verdicts)
    strata = Strata(answered.strata, 24)
    subsets = candidates(strata, 3, 0)
    found = leave_out(answered, answered.systems, strata, subsets, "")
    assert answered.judged == [0, 1, 2, 4, 5, 6, 7]
    assert np.isnan(found.judge["balanced", "p-IRT"][3]).all()
    assert not np.isnan(found.f1["balanced", "mean"]).any()
    own = validation_figures(answered, found)
    assert (own["judge"].systems, own["locomo_f1"].systems) == (7, 8)
    header, rows = shipped_table(answered, strata, subsets[0][0].astype(int))
    assert len(header) == len(rows[0])
    assert rows[3][2:6] == ["-"] * 4
    header, rows = comparisons_table({"system": found}, answered.judged, 0)
    assert header == ["difference", "system left out"]


def test_families_hold_what_is_one_system_and_bad_options_are_refused(capsys, tmp_path):
    names = ("mirix_run1", "mirix_run3", "mem0_cloud_mirix", "mem0oss_jinyi", "fc_gpt4omini_cot")
    assert list(map(family, names)) == ["mirix", "mirix", "mem0", "mem0", "full context"]
    assert family("fullcontext_mirix") == "full context"
    assert [publisher(name) for name in names[2:]] == ["MIRIX", "mem0oss_jinyi", "locomo-audit"]
    assert main(["--draws", "1"]) == 2
    assert "--draws must be 2 or more" in capsys.readouterr().err
    assert main(["--answers", str(tmp_path)]) == 2
    assert "no *.jsonl.gz files" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not ANSWERS.is_dir(), reason="needs the judged answers of $MEMSYS_SHARED")
def test_the_committed_file_is_what_the_command_makes():
    """But for the validation, which takes minutes: its figures are taken over."""
    committed, _ = read_subset("lite")
    paths = [p for p in sorted(Path(ANSWERS).glob("*.gz")) if not p.name.startswith(PROBES)]
    dataset = LoCoMo(name="locomo").load()
    answered = read_answered(paths, dataset)
    strata = Strata(answered.strata, len(committed.questions))
    chosen = candidates(strata, 1, committed.seed)[0][0].astype(int)
    validated = dict(committed.validated)
    made_again = build(answered, strata, chosen, dataset.files, committed.seed, validated)
    assert text_of(made_again) == text_of(committed)
    assert {one.draws for one in validated.values()} == {200}
