"""Models in retrieval: the prompt of the layout, the judge of neighbours, and summaries."""

import json
from pathlib import Path
from typing import Any

import pytest

from memsys.llm.prompt import load_prompt
from tests.eval.commands import conversation, run_main
from tests.eval.run.llm_runs.served import Bench, text_of
from tests.eval.run.test_estimate import table
from tests.memsys.llm import faults

OTHERS = "salt wool rain fern lamp yarn plum drum kite gold moss sail".split()
SEED, LINKED = "I found a Lantern Bay map.", "Yes, Lantern Bay floods in spring."
QUESTION = "Who found a map?"


@pytest.fixture
def options(tmp_path: Path) -> tuple[str, ...]:
    """A run of graph_expand on a conversation in which one memory is linked to the map's."""
    said = [[SEED, *(f"{word}, {word} and {word}" for word in OTHERS)], [LINKED]]
    qa = [{"question": QUESTION, "evidence": ["D1:1"], "category": 4, "answer": "Ada"}]
    sample = {"sample_id": "bay", "conversation": conversation(said, "Ada", "Bo"), "qa": qa}
    path = tmp_path / "bay.json"
    path.write_text(json.dumps([sample]))
    own = ("strategy=graph_expand", "strategy.start=lexical", "k=2", "judge=none")
    own += ("strategy.expansion.threshold=-1", "strategy.expansion.reserved=1")
    return (*own, f"dataset.path={path}", "dataset.name=bay")


def asked(bench: Bench, role: str) -> list[str]:
    """What the requests say that begin like the shipped prompt `role`."""
    begins = load_prompt(role, []).text[:80]
    return [text for text in map(text_of, bench.server.bodies) if text.startswith(begins)]


def record(bench: Bench) -> dict[str, Any]:
    (only,) = bench.run.records
    return only


@pytest.mark.parametrize(("context", "prompt"), [("flat", "short_answer"), ("layered", "layered")])
def test_the_readers_prompt_is_that_of_the_layout(bench, options, context, prompt):
    ended = bench.start(*options, f"context={context}").ok()
    assert "warning" not in ended.out + ended.err
    (text,) = asked(bench, prompt)
    assert bench.server.requests == 1
    assert bench.run.manifest["prompts"] == {"reader": load_prompt(prompt, []).described()}
    assert ("<direct_matches>" in text.partition("Answer the question")[0]) is (
        context == "layered"
    )
    if context == "layered":
        assert f"<content>Ada: {SEED}</content>" in text
        assert "<relevance>related</relevance><source>graph</source>" in text


def test_a_prompt_of_another_layout_is_used_with_a_warning(bench, options):
    ended = bench.start(*options, "context=layered", "reader.prompt=short_answer")
    warning = "reader.prompt=short_answer does not describe context=layered; layered does"
    assert warning in ended.ok().err
    assert any(one.startswith(warning) for one in bench.run.summary["warnings"])
    assert len(asked(bench, "short_answer")) == 1


@pytest.mark.parametrize("verdict", [[1], [], [7]])
def test_a_model_judges_neighbours_once_a_question(bench, options, verdict):
    says = faults.says(json.dumps({"relevant": verdict}))
    bench.model.break_down(says, role="gate", words=QUESTION)
    ended = bench.start(*options, "strategy.expansion.judge=llm")
    if verdict == [7]:  # no neighbour: the question fails
        failed = record(bench)
        assert (failed["status"], failed["error"]["phase"]) == ("error", "retrieve")
        assert "not of the schema" in failed["error"]["message"]
        return
    ended.ok()
    texts = asked(bench, "expansion_judge")
    assert [QUESTION in text for text in texts].count(True) == 1
    assert LINKED in texts[-1]
    found = record(bench)
    (step,) = found["trace"]["expansion"]
    assert step["relevant"] is bool(verdict)
    assert ("expanded" in [origin for *_, origin in found["retrieved"]]) is bool(verdict)
    assert found["usage"]["retrieve"]["calls"] == 1
    assert set(bench.run.manifest["prompts"]) == {"reader", "expansion_judge"}
    live = bench.server.requests
    bench.run.folder.rename(bench.folder / "first")
    assert bench.start(*options, "strategy.expansion.judge=llm").code == 0
    assert bench.server.requests == live  # all answers are recorded
    assert record(bench)["retrieved"] == found["retrieved"]


def test_long_memories_are_shown_as_summaries(bench, options):
    bench.model.break_down(faults.says('{"summary": "Ada has a map"}'), role="gate", words=SEED)
    bench.start(*options, "context.summarise=llm", "context.longer_than=8").ok()
    (text,) = asked(bench, "short_answer")
    assert "] Ada has a map\n" in text
    assert SEED not in text
    found = record(bench)
    before, after = found["trace"]["summarised"]["D1:1"]
    assert (before > 8, after) == (True, 4)
    assert set(bench.run.manifest["prompts"]) == {"reader", "memory_summary"}
    # The warm-up query retrieves other memories; none is summarised twice.
    summaries = asked(bench, "memory_summary")
    assert len(summaries) == len(set(summaries)) > 0


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("strategy.expansion.judge=llm", "strategy.expansion.judge=llm: no model to judge"),
        ("context.summarise=llm", "context.summarise=llm: no model to summarise"),
    ],
)
def test_without_a_model_there_is_one_clear_line(tmp_path, options, setting, reason):
    for estimate in ("false", "true"):
        ended = run_main(tmp_path, tmp_path / "cache", *options, setting, f"estimate={estimate}")
        if estimate == "true" and "judge" in setting:
            assert "unknown, as a model judges the neighbours" in ended.out
        else:
            ended.one_line(reason)


def test_an_estimate_counts_the_calls(bench, options):
    """One call for the question and one for the warm-up; one for each long memory."""
    both = (*options, "strategy.expansion.judge=llm", "context.summarise=llm")
    both = (*both, "context.longer_than=8")
    calls = []
    for chosen in (options, (*options, "strategy.expansion.judge=llm"), both):
        ended = bench.start(*chosen, "estimate=true").ok()
        rows, width = table(ended)
        calls.append(int(rows[-1][width:].split()[0]))  # after that of full_context
    assert calls == [1, 1 + 2, 1 + 2 + 2]
    assert bench.server.requests == 0
    assert "as if every long memory were retrieved and summarised" in " ".join(ended.out.split())
