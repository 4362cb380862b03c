"""Panels and run figures: who said what, and how far they agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

from eval.judges.judge import NoJudge
from eval.judges.llm import LLMJudge, LLMJudgeSettings
from eval.judges.panel import Panel, PanelSettings
from eval.metrics.stats.agreement import majority, panel_statistics, run_statistics
from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from tests.eval.judges.scripted import CORRECT, WRONG, Scripted


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
    members = [LLMJudgeSettings(), LLMJudgeSettings(model="big")]
    panel = PanelSettings(members).open(
        Scripted(kind, "small"), lambda name: Scripted(kind, name=name)
    )
    assert list(panel.judge("q", "g", "a").runs) == ["small, generous", "big, generous"]
    with pytest.raises(InputError, match=r"judge\.model=big: only small"):
        PanelSettings(members).open(Scripted(kind, "small"))


def test_one_verdict_missing_is_no_verdict_although_every_member_is_asked():
    silent, other = Scripted(lambda text, sample: "", "silent"), Scripted(kind)
    for members in ([silent, other], [other, silent]):
        with pytest.raises(LLMError, match="silent"):
            Panel([LLMJudge(one) for one in members]).judge("q", "g", "a")
    assert len(other.asked) == 2


def test_a_panel_of_one_or_of_twins_is_refused():
    judge = LLMJudge(Scripted(kind))
    with pytest.raises(InputError, match="1 judges; a panel has two or more"):
        Panel([judge])
    with pytest.raises(InputError, match="is listed twice"):
        Panel([judge, LLMJudge(Scripted(kind))])


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
        with pytest.raises(ValueError, match="same number of runs"):
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
