"""A panel without one of its verdicts, what the judge does not see, and replies to remarks, judged
by whether they show awareness of the cue.
"""

from pathlib import Path

import pytest

from eval.judges.llm import LLMJudge
from eval.judges.panel import Panel
from eval.pages.report.cards import side
from eval.pages.report.runs import load
from memsys.core.errors import InputError
from memsys.llm.prompt import PROMPTS
from tests.eval.datasets.conftest import cue_sample, write_cues
from tests.eval.judges.test_llm_judge import CORRECT, Scripted
from tests.eval.run.llm_runs.served import Bench, role_of, text_of
from tests.eval.run.llm_runs.test_again import again
from tests.memsys.llm import faults


def test_a_failed_member_of_a_panel_is_shown_and_does_not_lose_the_others(bench):
    words = {name: _words(name) for name in ("generous", "strict")}
    assert words["generous"] != words["strict"]
    bench.model.break_down(faults.says("no JSON"), "judge", words["generous"])
    bench.patient = False
    panel = ("judge=panel", "failures.stop_after=null", "failures.tolerated=0.1")
    assert bench.start(*panel).code == 1  # more answers without a verdict than are tolerated
    assert not any(record["judge"] for record in bench.run.records)
    (record, *_) = [one for one in bench.run.records if one["gold"] is not None]
    assert record["status"] == "ok"
    (reported,) = load([str(bench.run.folder)])
    shown = side(reported, record["id"])
    (line,) = shown.judged
    assert line.startswith("no verdict: LLMError: gpt-4o-mini, generous: no verdict in 3 attempts")
    assert shown.scores
    asked = bench.server.requests
    bench.model.recover()
    bench.start(*panel, resume=True).ok()
    texts = [text_of(body) for body in bench.server.bodies]
    before, new = texts[:asked], texts[asked:]
    # Strict verdicts and answers are replayed.
    assert sorted(new) == sorted({text for text in before if words["generous"] in text})
    names = {"gpt-4o-mini, generous", "gpt-4o-mini, strict"}
    for record in bench.run.records:
        if record["gold"] is not None:
            assert set(record["judge"]) == set(record["judge_reasons"]) == names


def _words(rubric: str) -> str:
    """A line of a rubric that the other does not have."""
    texts = {
        name: (PROMPTS / f"judge_{name}.txt").read_text(encoding="utf-8").splitlines()
        for name in ("generous", "strict")
    }
    (other,) = set(texts) - {rubric}
    return next(line for line in texts[rubric] if len(line) > 30 and line not in texts[other])


def test_instructions_are_in_every_request_but_the_judge_s(bench):
    gate = ("strategy=hybrid_gate", "strategy.gate.similarity=0")  # so that the model is asked
    bench.start("instructions=Answer in German.", *gate).ok()
    by_role: dict[str, set[str]] = {"answer": set(), "gate": set(), "judge": set()}
    for body in bench.server.bodies:
        system = [one["content"] for one in body["messages"] if one["role"] == "system"]
        by_role[role_of(body)].add("".join(system))
    assert by_role["answer"] == by_role["gate"] == {"Answer in German."}
    assert not any("German" in text for text in by_role["judge"])
    assert by_role["judge"]
    assert bench.run.manifest["config"]["instructions"] == "Answer in German."


_AWARE = ("judge.rubric=awareness", "reader.prompt=reply")


@pytest.fixture
def plus(bench: Bench, tmp_path: Path) -> Bench:
    """A bench whose data set has five samples in two conversations."""
    path, locomo = write_cues(tmp_path, *(cue_sample() for _ in range(5)))
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

    # A cue judged by from= has the verdicts of the other run.
    new = again(plus, "judge=llm", "judge.rubric=awareness")
    verdicts = [(one["judge"], one["scores"]["judge"]) for one in new.records]
    assert verdicts == [(one["judge"], one["scores"]["judge"]) for one in plus.run.records]
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
