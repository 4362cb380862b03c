"""From commands to verdicts: pins of strategies without a model, of runs that call a scripted model
behind a real port, and of the replayed sample.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from baselines.rankings import BM25
from eval.regress.__main__ import main
from eval.regress.by_question import read
from eval.regress.pins import EXPECTED, load_pin
from memsys.core.types import Memory, Session
from memsys.knowledge.memory.turns import Turns
from tests.eval.commands import PROJECT
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

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


ADVERSARIAL = 3  # of the 21 questions; these are not judged


class Judge:
    """Answers every question alike, and passes all answers but the first `wrong`."""

    def __init__(self) -> None:
        self.wrong, self.refused = 0, 0

    def __call__(self, body: dict[str, Any]) -> Behaviour:
        if "response_format" not in body:
            if self.refused:
                self.refused -= 1
                return faults.status(400)
            return faults.says("nine bees")
        self.wrong -= 1
        verdict = "WRONG" if self.wrong >= 0 else "CORRECT"
        return faults.says(json.dumps({"reason": "so it is", "verdict": verdict}))


@pytest.fixture
def model() -> Judge:
    return Judge()


@pytest.fixture
def pin(model: Judge, small: tuple[str, ...], tmp_path: Path) -> Iterator[Path]:
    """In a folder of its own: one that only names its command so far, cache off."""
    path = tmp_path / "live.yaml"
    with FaultyServer(model) as server:
        options = " ".join(small)
        path.write_text(
            "command: python -m eval.run strategy=bm25 llm=openai reader=llm judge=llm "
            f"llm.base_url={server.base_url} llm.retries=0 llm.cache=off {options}\n"
        )
        yield path


def rows(out: str) -> dict[str, list[str]]:
    """The cells of the paired rows on overall, by score."""
    lines = [line.strip("| ").split(" | ") for line in out.splitlines() if "| overall" in line]
    return {cells[0].removeprefix("live: "): cells[1:] for cells in lines}


def test_a_live_pin_from_its_command_to_a_loss_and_a_failure(pin, model, said):
    beside = pin.with_name("live.scores.csv")

    def judged(code: int, *arguments: str, wrong: int = 0, refuse: int = 0) -> str:
        model.wrong, model.refused = wrong, refuse
        return said(main, "live.yaml", *arguments, code=code)

    judged(0, "--repin", "begun")
    assert "tolerance_questions" not in pin.read_text()
    stored = read(beside)
    assert len(stored) == 21
    assert sum(one.scores["judge"] == 1 for one in stored.values()) == 21 - ADVERSARIAL
    assert "bees" not in beside.read_text()

    assert judged(0).startswith("## Score regression: OK\n")
    out = judged(0, wrong=2)
    assert out.startswith("## Score regression: OKish\n")
    verdict, _, n, expected, found, *_ = rows(out)["judge"]
    assert (verdict, n, expected, found) == ("OKish", "18", "1.0000", "0.8889")
    assert rows(judged(1, wrong=18))["judge"][0] == "FAIL"
    message = "- live: 1 question failed that did not when pinned (ash/0); the first in answer:"
    assert message in judged(1, refuse=1)

    words = "pinned as failed"  # a run with a failure is pinned with it, and says so
    again = ("--repin", "again")
    assert f"live: 1 questions are {words}: ['ash/0']" in judged(0, *again, refuse=1)
    assert words not in judged(0, *again)  # nothing has changed
    assert [id_ for id_, one in read(beside).items() if one.failed] == ["ash/0"]
    judged(0)
    assert "21 of 21 questions failed" in judged(1, refuse=100)  # there is nothing to compare


def test_a_pin_that_was_changed_by_hand_is_refused(pin, said):
    said(main, "live.yaml", "--repin", "begun")
    beside, own = pin.with_name("live.scores.csv"), pin.read_text()
    whole = beside.read_text()
    for more, text, message in (
        ("", whole.replace(",1\n", ",0\n", 3), "live.scores.csv: does not belong to live.yaml"),
        ("", whole.replace("ash/1,", "ash/0,"), "line 3: ash/0 occurs twice"),
        ("", whole.replace(",1\n", ",2\n", 1), "judge: Input should be less than or equal to 1"),
        ("", whole.replace(",ok,", ",fine,", 1), "line 2: status: Input should be 'ok' or 'error'"),
        ("", "question\n", "line 1: must be question,conversation"),
        ("", None, "live.scores.csv: no such file or folder; --repin"),
        ("tolerance_questions: 1\n", whole, "tolerance_questions: remove it"),
    ):
        beside.unlink() if text is None else beside.write_text(text)
        pin.write_text(own + more)
        assert message in said(main, "live.yaml", code=2).splitlines()[-1]


def test_the_pinned_replay_asks_no_model_and_live_does(tmp_path, said):
    pinned = load_pin(EXPECTED / "sample_bm25_llm.yaml")
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Behaviour:
        asked.append(body)
        if "response_format" in body:
            return faults.says(json.dumps({"reason": "no", "verdict": "WRONG"}))
        return faults.says("the lighthouse")

    with FaultyServer(answer) as server:
        own = tmp_path / f"{pinned.name}.yaml"
        text = pinned.path.read_text().replace(" k=3 ", f" k=3 llm.base_url={server.base_url} ")
        own.write_text(text.replace(pinned.bundle, str(pinned.answers.resolve())))
        (tmp_path / pinned.scores.name).write_bytes(pinned.scores.read_bytes())
        assert "## Score regression: OK\n" in said(main, own)
        assert asked == []
        out = said(main, own, "--live")
        assert len(asked) == 20  # each of ten questions is answered and judged
        assert "sample_bm25_llm: judge | OKish | single_hop | 10 | 0.6000 | 0.0000 |" in out
        error = said(main, own, "--live", "--repin", "other answers", code=2)
        assert "--live with --repin: it replays" in error
