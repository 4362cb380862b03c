"""The model as a judge, alone and in a panel: what is asked, how verdicts are read, how far they
agree.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from eval.judges.judge import NoJudge
from eval.judges.llm import ATTEMPTS, LLMJudge, LLMJudgeSettings, parse_verdict
from eval.judges.panel import Panel, PanelSettings
from eval.metrics.stats.agreement import majority, panel_statistics, run_statistics
from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm.base import Completion, LLMError, Message, Tool
from memsys.llm.prompt import PROMPTS

CORRECT = '{"reason": "same", "verdict": "CORRECT"}'
WRONG = '{"reason": "other", "verdict": "WRONG"}'


class Scripted:
    """Replies by a rule over the prompt and the sample number; remembers what it was asked."""

    def __init__(self, rule: Callable[[str, int], str], name: str = "scripted") -> None:
        self._rule = rule
        self.name = name
        self.asked: list[tuple[str, int]] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
        sample: int = 0,
    ) -> Completion:
        text = str(messages[-1]["content"])
        self.asked.append((text, sample))
        self.schemas.append(schema)
        return Completion(self._rule(text, sample), Usage(1, 100, 10), self.name, "stop")


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
    LLMJudge(llm, runs=1).judge("q", "g", "a")
    assert llm.asked[3] == llm.asked[0]  # so that what is recorded of the first run serves


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
    # Samples of retries are those of no other run.
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
    with pytest.raises(InputError, match=r"judge\.runs: 0"):
        LLMJudgeSettings(runs=0).open(llm)
    with pytest.raises(InputError, match="no such rubric; use generous, strict"):
        LLMJudgeSettings(rubric="kind").open(llm)
    with pytest.raises(InputError, match="no model to judge with"):
        LLMJudgeSettings().open(None)
    part = tmp_path / "part.txt"
    part.write_text("{question} {gold}")
    with pytest.raises(InputError, match=r"\{answer\} is missing"):
        LLMJudgeSettings(rubric=str(part)).open(llm)


def kind(text: str, sample: int) -> str:
    return WRONG if "as exact as the reference" in text else CORRECT


def test_every_member_judges_under_its_name():
    members = [LLMJudgeSettings("generous", 2), LLMJudgeSettings("strict", 1)]
    panel = PanelSettings(members).open(Scripted(kind))
    found = panel.judge("q", "g", "a")
    assert found.runs == {"scripted, generous": (True, True), "scripted, strict": (False,)}
    assert found.value == pytest.approx(2 / 3)
    assert found.usage.calls == 3
    assert list(panel.details["members"]) == list(found.runs)
    assert found.reasons == {"scripted, generous": ("same", "same"), "scripted, strict": ("other",)}


def test_members_may_name_another_model():
    members, small = [LLMJudgeSettings(), LLMJudgeSettings(model="big")], Scripted(kind, "small")
    panel = PanelSettings(members).open(small, lambda name: Scripted(kind, name=name))
    assert list(panel.judge("q", "g", "a").runs) == ["small, generous", "big, generous"]
    with pytest.raises(InputError, match=r"judge\.model=big: only small"):
        PanelSettings(members).open(small)


def test_one_verdict_missing_is_no_verdict_although_every_member_is_asked():
    silent, other = Scripted(lambda text, sample: "", "silent"), Scripted(kind)
    for members in ([silent, other], [other, silent]):
        with pytest.raises(LLMError, match="silent"):
            Panel([LLMJudge(one) for one in members]).judge("q", "g", "a")
    assert len(other.asked) == 2


def test_a_panel_of_one_or_of_twins_is_refused():
    judge = LLMJudge(Scripted(kind))
    for members in ([judge], [judge, LLMJudge(Scripted(kind))]):
        with pytest.raises(InputError, match=r"scripted, generous.*; name two or more, each of"):
            Panel(members)


@pytest.mark.parametrize("name", ["none", "llm", "panel", "recorded", "gold_recall"])
def test_the_configured_judges_can_be_built(name):
    config = OmegaConf.load(Path(__file__).parents[3].joinpath("conf", "judge", f"{name}.yaml"))
    settings = instantiate(config)
    judge = settings.open(Scripted(kind)) if name != "recorded" else None
    assert settings.needs_llm == (name in ("llm", "panel"))
    assert (judge is None) == (isinstance(settings, NoJudge) or name == "recorded")


def test_run_statistics():
    found = run_statistics([(True, True, False), (True, False, False), (True, True, True)])
    assert found.runs == pytest.approx((1, 2 / 3, 1 / 3))
    assert found.mean == pytest.approx(2 / 3)
    assert found.deviation == pytest.approx(1 / 3)
    assert found.majority == pytest.approx(2 / 3)
    assert run_statistics([(True,), (False,)]).deviation is None
    assert not majority((True, False))
    for wrong in ([], [()], [(True,), (True, False)]):
        with pytest.raises(ValueError):  # noqa: PT011 - of zip and fmean
            run_statistics(wrong)


def test_panel_statistics_take_each_members_majority():
    yes, no = (True, True, False), (False, False, True)
    judgements = [{"a": yes, "b": (True,)}, {"a": no, "b": (False,)}] * 6
    judgements += [{"a": yes, "b": (False,)}, {"a": no, "b": (True,)}] * 2
    found = panel_statistics(judgements, ["x", "y"] * 8)
    assert found.pairs["a", "b"].value == pytest.approx(0.5)  # p_o .75, p_e .5
    assert found.all_members is not None
    assert found.all_members.value == pytest.approx(0.5)
    assert found.members["a"].runs == (0.5, 0.5, 0.5)
    assert panel_statistics([{"a": yes}], ["x"]).all_members is None
    with pytest.raises(ValueError, match="same judges"):
        panel_statistics([{"a": yes}, {"b": yes}], ["x", "x"])
