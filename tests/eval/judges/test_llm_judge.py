"""The model as a judge: what is asked, how verdicts are read, and what is never made up."""

from __future__ import annotations

import json

import pytest

from eval.judges.llm import ATTEMPTS, LLMJudge, LLMJudgeSettings, parse_verdict
from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.llm.prompt import PROMPTS
from tests.eval.judges.scripted import CORRECT, WRONG, Scripted


@pytest.mark.parametrize("rubric", ["generous", "strict"])
def test_the_prompt_holds_question_gold_and_answer(rubric):
    llm = Scripted(lambda text, sample: CORRECT)
    LLMJudge(llm, rubric).judge("Whose boat?", "Nadia's {answer}", "the cutter is Nadia's")
    (text, _) = llm.asked[0]
    assert "Whose boat?" in text
    assert "Nadia's {answer}" in text  # braces of the gold are not filled in
    assert text.count("the cutter is Nadia's") == 1
    assert llm.schemas[0]["properties"]["verdict"]["enum"] == ["CORRECT", "WRONG"]


def test_runs_are_separate_samples_and_give_a_verdict_each():
    llm = Scripted(lambda text, sample: CORRECT if sample else WRONG)
    found = LLMJudge(llm, runs=3).judge("q", "g", "a")
    samples = [sample for _, sample in llm.asked]
    assert len(set(samples)) == 3
    assert found.runs == {"scripted, generous": (False, True, True)}
    assert found.value == pytest.approx(2 / 3)
    assert (found.usage.calls, found.usage.input_tokens) == (3, 300)


def test_more_runs_ask_the_samples_of_fewer_again():
    one, three = (Scripted(lambda text, sample: CORRECT) for _ in range(2))
    LLMJudge(one, runs=1).judge("q", "g", "a")
    LLMJudge(three, runs=3).judge("q", "g", "a")
    assert one.asked[0] == three.asked[0]  # so that what is recorded of the first run serves


def test_a_reply_that_is_unreadable_or_refused_is_asked_for_again_and_counted():
    llm = Scripted(lambda text, sample: CORRECT if sample == 1 else "I would say WRONG")
    found = LLMJudge(llm).judge("q", "g", "a")
    assert [sample for _, sample in llm.asked] == [0, 1]
    assert (found.value, found.usage.calls) == (1.0, 2)

    def refuse(text: str, sample: int) -> str:
        if sample == 0:
            raise LLMError("not of the schema")
        return WRONG

    found = LLMJudge(Scripted(refuse)).judge("q", "g", "a")
    assert (found.value, found.usage.calls) == (0.0, 2)


def test_samples_of_retries_are_those_of_no_other_run():
    llm = Scripted(lambda text, sample: CORRECT if sample % ATTEMPTS == ATTEMPTS - 1 else "?")
    LLMJudge(llm, runs=3).judge("q", "g", "a")
    samples = [sample for _, sample in llm.asked]
    assert len(samples) == len(set(samples)) == 3 * ATTEMPTS


def test_no_readable_reply_is_an_error_and_not_wrong():
    llm = Scripted(lambda text, sample: '{"verdict": "MAYBE"}')
    with pytest.raises(LLMError, match="no verdict in 3 attempts"):
        LLMJudge(llm).judge("q", "g", "a")
    assert len(llm.asked) == ATTEMPTS

    def dead(text: str, sample: int) -> str:
        raise LLMError("the connection failed")

    with pytest.raises(LLMError, match=r"3 attempts .*the connection failed"):
        LLMJudge(Scripted(dead)).judge("q", "g", "a")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (CORRECT, True),
        (WRONG, False),
        ('```json\n{"reason": "{x}", "verdict": "wrong"}\n```', False),
        ('Well: {"verdict": " Correct "} and so on', True),
        ('{not json} {"verdict": "CORRECT"}', True),
        ('{"verdict": "CORRECT"} {"verdict": "WRONG"}', None),
        ('{"reason": "the verdict is WRONG", "verdict": ', None),
        ('{"verdict": "INCORRECT"}', None),
        ('{"verdict": null}', None),
        ('["CORRECT"]', None),
        ("CORRECT", None),
        ("", None),
        ("{" * 5000, None),
        ('{"reason": "\\ud800", "verdict": "CORRECT"}', None),  # cannot be written again
    ],
)
def test_reading_a_verdict(reply, expected):
    found = parse_verdict(reply)
    assert (found and found.passed) is expected


@pytest.mark.parametrize(
    ("reason", "recorded"),
    [
        ("same boat", "same boat"),
        ("two\n lines", "two lines"),
        ("x " * 5000, None),
        (["no text"], ""),
        (None, ""),
        ("the key is sk-secret-words", "the key is $OPENAI_API_KEY"),
    ],
)
def test_the_reason_of_a_verdict_can_be_recorded(reason, recorded, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-words")
    reply = json.dumps({"reason": reason, "verdict": "CORRECT"})
    found = LLMJudge(Scripted(lambda text, sample: reply), runs=2).judge("q", "g", "a")
    (reasons,) = found.reasons.values()
    assert list(found.reasons) == list(found.runs)
    assert len(reasons) == 2
    assert reasons[0] == recorded or (recorded is None and 900 < len(reasons[0]) <= 1000)
    reasons[0].encode()


def test_details_name_model_rubric_and_the_prompt_by_its_hash(tmp_path):
    llm = Scripted(lambda text, sample: CORRECT, name="gpt-x")
    generous, strict = LLMJudge(llm, "generous").details, LLMJudge(llm, "strict", 2).details
    assert (strict["model"], strict["rubric"], strict["runs"]) == ("gpt-x", "strict", 2)
    assert generous["prompt_sha256"] != strict["prompt_sha256"]
    copy = tmp_path / "mine.txt"
    copy.write_bytes((PROMPTS / "judge_strict.txt").read_bytes())
    mine = LLMJudge(llm, str(copy))
    assert mine.name == "gpt-x, mine"
    assert mine.details["prompt_sha256"] == strict["prompt_sha256"]


def test_wrong_settings_are_told(tmp_path):
    llm = Scripted(lambda text, sample: CORRECT)
    with pytest.raises(InputError, match=r"judge\.runs=0"):
        LLMJudgeSettings(runs=0).open(llm)
    with pytest.raises(InputError, match="no such rubric; use generous, strict"):
        LLMJudgeSettings(rubric="kind").open(llm)
    with pytest.raises(InputError, match="no model to judge with"):
        LLMJudgeSettings().open(None)
    part = tmp_path / "part.txt"
    part.write_text("{question} {gold}")
    with pytest.raises(InputError, match=r"\{answer\} is missing"):
        LLMJudgeSettings(rubric=str(part)).open(llm)
