"""Parts of `make bench`: generated data, planned servers, schedules, and figures of a process."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import openai
import pytest

from eval.datasets.locomo import LoCoMo
from eval.studies.bench import __main__ as bench
from eval.studies.bench import growth, schedule
from eval.studies.bench.generated import write_dataset
from eval.studies.bench.processes import MeasuredProcess, MeasuredRun, measure_process, measure_run
from eval.studies.loopback_model import PAUSE_S, Plan, loopback_model


def test_generated_data_set_is_valid_and_repeats(tmp_path):
    path = write_dataset(tmp_path / "made.json", 3, 4)
    again = write_dataset(tmp_path / "again.json", 3, 4)
    assert path.read_bytes() == again.read_bytes()
    dataset = LoCoMo(name="made", path=str(path)).load()
    turns = [[turn for s in one.sessions for turn in s.turns] for one in dataset.conversations]
    assert list(map(len, turns)) == [9, 9, 9]
    assert len({question.text for question in dataset.questions}) == 12
    assert not dataset.repairs


def test_shares_of_a_plan_are_as_planned_and_repeat():
    plan = Plan(0.1, slow=0.03, failing=0.1)
    digests = [str(number) for number in range(4000)]
    slow = [plan.seconds(digest) for digest in digests]
    assert slow == [plan.seconds(digest) for digest in digests]
    assert set(slow) == {0.1, 1.0}
    assert 0.02 < slow.count(1.0) / 4000 < 0.04
    failed = [plan.fails(digest, 1) for digest in digests]
    assert 0.08 < sum(failed) / 4000 < 0.12
    assert failed != [plan.fails(digest, 2) for digest in digests]


def test_the_model_answers_judges_fails_and_logs(tmp_path):
    log = tmp_path / "log"
    messages = [{"role": "user", "content": "Where?"}]
    with loopback_model(Plan(0.0, log=log)) as base_url:
        client = openai.OpenAI(base_url=base_url, api_key="none")
        ask = client.chat.completions.create
        answer = ask(model="m", messages=messages).choices[0].message.content
        assert ask(model="m", messages=messages).choices[0].message.content == answer
        as_json = {"type": "json_object"}
        verdict = ask(model="m", messages=messages, response_format=as_json)
        assert set(json.loads(verdict.choices[0].message.content)) == {"reason", "verdict"}
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["status"] for row in rows] == [200] * 3
    assert rows[0]["body"]["messages"] == messages
    with loopback_model(Plan(0.0, failing=1.0)) as base_url:
        client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="m", messages=messages)


def test_greedy_schedule():
    for jobs, workers, end in (
        ([1.0] * 8, 4, 2.0),
        ([3.0, 1.0, 1.0, 1.0], 2, 3.0),
        ([1.0, 5.0], 1, 6.0),
        ([], 3, 0.0),
    ):
        assert schedule.greedy_seconds(jobs, workers) == end


def test_a_question_lasts_as_long_as_its_attempts_and_pauses():
    def attempt(number: int, seconds: float, status: int = 200) -> dict[str, object]:
        body = {"messages": [{"role": "user", "content": f"Where? (q{number})"}]}
        return {"body": body, "status": status, "began": 10.0, "ended": 10.0 + seconds}

    attempts = [attempt(2, 1.0), attempt(1, 2.0, 500), attempt(1, 2.0), attempt(2, 0.5)]
    assert schedule.durations(attempts) == pytest.approx([4.0 + PAUSE_S, 1.5])


def test_growth_is_a_row_for_each_size(monkeypatch):
    def measured(arguments: Sequence[str], cache: Path) -> MeasuredRun:
        path = arguments[1].partition("=")[2]
        count = len(json.loads(Path(path).read_text()))
        seconds = 1 + count / 100
        process = MeasuredProcess(seconds, seconds, 100.0)
        return MeasuredRun(process, {"summary": 0.1}, 1.0)

    monkeypatch.setattr(growth, "measure_run", measured)
    table, ratio = growth.growth(questions=50)
    rows = [line.split() for line in table.splitlines()[2:]]
    assert [row[:2] for row in rows] == [[n, n] for n in ("250", "1,000", "4,000")] + [["5", "50"]]
    assert [row[5] for row in rows] == ["-", "10.00", "10.00", "-"]
    assert ratio.endswith(": 0.73")  # 41 s / 4,000 to 3.5 s / 250


@pytest.mark.slow
def test_a_run_is_measured_and_a_process_that_fails_is_an_error(tmp_path):
    path = write_dataset(tmp_path / "made.json", 2, 3)
    run = measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], tmp_path / "cache")
    assert 0 < run.work_s < run.wall_s
    assert 0 < run.start_s < run.wall_s
    assert run.process.peak_mb > 10
    with pytest.raises(RuntimeError, match="no such thing"):
        measure_process([sys.executable, "-c", "import sys; sys.exit('no such thing')"])


def test_parts_run_in_order_and_alone(monkeypatch, capsys):
    for name in ("growth", "tokens", "harness", "endpoint", "calls", "schedules"):
        monkeypatch.setattr(bench, name, lambda *_, part=name: iter([f"the {part}"]))
    assert bench.main([]) == 0
    out = capsys.readouterr().out
    shown = [line for line in out.splitlines() if line.startswith("the ")]
    order = ("growth", "tokens", "harness", "calls", "schedules", "endpoint")
    assert shown == [f"the {name}" for name in order]
    assert bench.main(["--part", "tokens"]) == 0
    assert "the growth" not in capsys.readouterr().out
