"""Pins of runs that call a model: a scripted one behind a real port, and the replayed sample."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.regress.__main__ import main
from eval.regress.by_question import read
from eval.regress.pins import EXPECTED, load_pin
from tests.memsys.llm import faults
from tests.memsys.llm.server import Behaviour, FaultyServer

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
def pin(
    model: Judge, small: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """In a folder of its own: one that only names its command so far, cache off."""
    for name in ("OPENAI_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
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
    told = "- live: 1 question failed that did not when pinned (ash/0); the first in answer:"
    assert told in judged(1, refuse=1)

    told = "pinned as failed"  # a run with a failure is pinned with it, and says so
    again = ("--repin", "again")
    assert f"live: 1 questions are {told}: ['ash/0']" in judged(0, *again, refuse=1)
    assert told not in judged(0, *again)  # nothing has changed
    assert [id_ for id_, one in read(beside).items() if one.failed] == ["ash/0"]
    judged(0)
    assert "21 of 21 questions failed" in judged(1, refuse=100)  # there is nothing to compare


def test_a_pin_that_was_changed_by_hand_is_refused(pin, said):
    said(main, "live.yaml", "--repin", "begun")
    beside, own = pin.with_name("live.scores.csv"), pin.read_text()
    whole = beside.read_text()
    for more, text, told in (
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
        assert told in said(main, "live.yaml", code=2).splitlines()[-1]


def test_the_pinned_replay_asks_no_model_and_live_does(tmp_path, monkeypatch, said):
    pinned = load_pin(EXPECTED / "sample_bm25_llm.yaml")
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Behaviour:
        asked.append(body)
        if "response_format" in body:
            return faults.says(json.dumps({"reason": "no", "verdict": "WRONG"}))
        return faults.says("the lighthouse")

    monkeypatch.chdir(tmp_path)
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
