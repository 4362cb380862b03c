"""The gate as it is used: a strategy that was broken is stopped, by a table that says where."""

import re
from pathlib import Path

import pytest
import yaml

from baselines.rankings import BM25
from eval.regress.__main__ import main
from eval.regress.pins import EXPECTED, load_pin
from memsys.core.types import Memory, Session
from memsys.knowledge.memory.turns import Turns
from tests.eval.commands import PROJECT

STRATEGY = """# Ours
_target_: baselines.rankings.BM25
_partial_: true
k: 5
budget: null
"""


@pytest.fixture(autouse=True)
def elsewhere(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of another project."""
    monkeypatch.setenv("MEMSYS_CACHE", str(cache))
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_strategy_that_forgets_fails_with_a_table(monkeypatch, tmp_path, said):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    build = Turns.build

    def forgetful(self: Turns, session: Session) -> list[Memory]:
        return [one for i, one in enumerate(build(self, session), 1) if i % 3]

    monkeypatch.setattr(Turns, "build", forgetful)
    out = said(main, "sample_bm25", code=1)
    assert out.startswith("## Score regression: FAIL\n\n1 pin: 1 FAIL.")
    expected = load_pin(EXPECTED / "sample_bm25.yaml").expected
    recall = expected.cells["overall"]["evidence_recall"]
    (row,) = re.findall(r"^\| (sample_bm25: evidence_recall \| FAIL \| overall.*)$", out, re.M)
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[4] == f"{recall:.4f}"
    assert float(cells[6]) == pytest.approx(float(cells[5]) - recall, abs=1e-9)
    assert float(cells[6]) < -0.05
    assert (tmp_path / "summary.md").read_text().rstrip() == out.rstrip()


def test_a_project_pins_its_own_strategy_and_gates_it(monkeypatch, tmp_path, said):
    (tmp_path / "conf" / "strategy").mkdir(parents=True)
    (tmp_path / "conf" / "strategy" / "ours.yaml").write_text(STRATEGY)
    small = "dataset=sample 'dataset.conversations=[harbour]' dataset.limit=20"
    pin = tmp_path / "pins" / "ours.yaml"
    pin.parent.mkdir()
    pin.write_text(f"command: python -m eval.run --config-dir conf strategy=ours {small}\n")
    said(main, "pins", code=1)  # nothing is expected yet
    said(main, "pins", "--repin", "begun")
    assert "- Expected scores pinned: begun (ours)." in Path("CHANGELOG.md").read_text()
    said(main, "pins")
    monkeypatch.setattr(BM25, "best", lambda *_: [])
    assert "\n| ours: evidence_recall | FAIL |" in said(main, "pins", code=1)


def test_a_strategy_that_raises_fails_and_the_others_are_still_judged(monkeypatch, said):
    def no(*_):
        raise RuntimeError("no index")

    monkeypatch.setattr(BM25, "rank", no)
    out = said(main, "sample_bm25", "sample_no_memory", code=1)
    assert "217 of 217 questions failed" in out
    assert "RuntimeError: no index" in out
    assert "| sample_no_memory | OK |" in out


def test_a_run_that_cannot_be_is_a_fail_that_says_why_and_an_unknown_pin_bad_input(tmp_path, said):
    for name, arguments in (("a", "strategy=ours"), ("b", "dataset.path=none.json"), ("c", "-m")):
        (tmp_path / f"{name}.yaml").write_text(f"command: python -m eval.run {arguments}\n")
    out = said(main, "a.yaml", "b.yaml", "c.yaml", code=1)
    assert "- a: strategy=ours: no such option; its options are auto, " in out
    assert "- b: none.json: no such file" in out
    assert "- c: -m: a single run takes" in out
    assert "Traceback" not in out
    assert said(main, "nowhere", code=2).startswith("error: nowhere: no such pin")


def test_the_action_needs_pins_and_runs_the_gate_without_pasting_them_into_a_script():
    action = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    needed = [name for name, given in action["inputs"].items() if given.get("required")]
    assert needed == ["pins"]
    last = action["runs"]["steps"][-1]
    assert last["run"].startswith("python -m eval regress $PINS")
    assert last["env"] == {"PINS": "${{ inputs.pins }}", "MEMSYS_CACHE": ".cache"}
    assert not any("${{" in step.get("run", "") for step in action["runs"]["steps"])
