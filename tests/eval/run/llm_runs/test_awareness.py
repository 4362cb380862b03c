"""Replies to remarks, judged by whether they show awareness of the cue."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.judges.llm import LLMJudge
from eval.judges.panel import Panel
from memsys.core.errors import InputError
from tests.eval.commands import Run, run_main
from tests.eval.datasets.made_locomo_plus import sample, write
from tests.eval.judges.test_llm_judge import CORRECT, Scripted
from tests.eval.run.llm_runs.served import Bench, text_of

_AWARE = ("judge.rubric=awareness", "reader.prompt=reply")


@pytest.fixture
def plus(bench: Bench, tmp_path: Path) -> Bench:
    """A bench whose data set has five samples in two conversations."""
    path, locomo = write(tmp_path, *(sample() for _ in range(5)))
    bench.options = ("dataset=locomo_plus", f"dataset.path={path}", f"dataset.locomo={locomo}")
    return bench


def test_the_judge_sees_cue_remark_and_reply_and_an_estimate_counts_them(plus):
    ended = plus.start(*_AWARE, "estimate=true").ok()
    (line,) = [line for line in ended.out.splitlines() if line.startswith("bm25")]
    name, calls, _, written, *_ = line.split()
    assert (name, calls) == ("bm25", "10")
    assert int(written) > 0
    plus.start(*_AWARE).ok()
    asked = [text_of(body) for body in plus.server.bodies]
    judging = [text for text in asked if "CORRECT or WRONG" in text]
    assert judging
    for text in judging:
        earlier = text.split("<earlier>")[1].split("</earlier>")[0].strip().splitlines()
        assert earlier == [
            "Ada: Since the flood I store the piano upstairs.",
            "Bo: A wise place for it.",
        ]
        assert "<remark>\nAda: Every heavy rain makes me look at the stairs.\n" in text
    for record in plus.run.records:
        assert record["gold"] is None
        assert record["judge"].keys() == {"gpt-4o-mini, awareness"}
        assert record["scores"]["judge"] in (0.0, 1.0)
        assert record["scores"]["locomo_f1"] is None
    assert plus.run.manifest["prompts"]["reader"]["name"] == "reply"
    assert not any("reader.prompt" in one for one in plus.run.manifest["warnings"])


def test_a_cue_judged_by_from_has_the_verdicts_of_the_other_run(plus):
    plus.start(*_AWARE).ok()
    parent, new = plus.run, Run(plus.folder / "new")
    judge = (f"from={parent.folder}", "judge=llm", "judge.rubric=awareness")
    run_main(plus.folder, plus.cache, *judge, f"hydra.run.dir={new.folder}").ok()
    verdicts = [(one["judge"], one["scores"]["judge"]) for one in new.records]
    assert verdicts == [(one["judge"], one["scores"]["judge"]) for one in parent.records]
    assert (None, None) not in verdicts


@pytest.mark.parametrize("estimate", ["false", "true"])
def test_rubrics_of_the_other_kind_are_refused(plus, small, estimate):
    plus.start(f"estimate={estimate}").refused("generous: compares with gold answers")
    plus.options = small
    plus.start("judge.rubric=awareness", f"estimate={estimate}").refused(
        "awareness of a cue, and dataset=small has none"
    )


def test_a_panel_has_judges_of_one_kind():
    llm = Scripted(lambda text, sample: CORRECT)
    with pytest.raises(InputError, match="compare with one reference, the gold answer or the cue"):
        Panel([LLMJudge(llm, "strict"), LLMJudge(llm, "awareness")])
    assert Panel([LLMJudge(llm, "strict"), LLMJudge(llm, "generous")]).compares == "gold"
