"""estimate=true: calls, tokens and dollars without request, key or files."""

import io
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from statistics import fmean

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from eval.run.composing import composed
from eval.run.estimate import add_estimate, show_estimates
from memsys.core.places import CONF
from memsys.core.tokens import count_tokens
from memsys.llm.prompt import load_prompt
from tests.eval.commands import Ended, Run, Start, run_main, runs_in
from tests.eval.run.conftest import prices
from tests.memsys.llm.server import FaultyServer

FIVE = ("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate")
EVERY = {path.stem for path in (CONF / "strategy").glob("*.yaml")}
NAMES = ("calls", "read", "written", "system", "judge", "most", "break_even")
MODELS = ("llm=openai", "reader=llm")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as one:
        yield one


def estimated(ended: Ended) -> dict[str, dict[str, str]]:
    """The table by strategy. Its last column is left out where no strategy has a break-even."""
    assert ended.code == 0, ended.err
    lines, width = table(ended)
    rows = [(line[:width].split()[0], line[width:].split()) for line in lines]
    return {name: dict(zip(NAMES, cells, strict=False)) for name, cells in rows}


def table(ended: Ended) -> tuple[list[str], int]:
    """The rows of the table, and the width of its first column."""
    lines = ended.out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("strategy "))
    return lines[start + 2 : lines.index("", start)], len(lines[start + 1].partition("  ")[0])


def printed(strategies: tuple[str, ...], *overrides: str) -> Ended:
    """What a sweep over the strategies prints, from one configuration; of none, its own run."""
    config, choices = composed(overrides)
    OmegaConf.set_struct(config, False)
    out = io.StringIO()
    with initialize_config_dir(str(CONF), version_base="1.3"), redirect_stdout(out):
        try:
            for name in strategies or [choices["strategy"]]:
                if strategies:
                    config.strategy = compose(f"strategy/{name}").strategy
                add_estimate(config, name)
        finally:
            show_estimates()
    return Ended(0, out.getvalue(), "")


def estimate(strategies: tuple[str, ...], *overrides: str) -> dict[str, dict[str, str]]:
    """The table of a sweep over the strategies."""
    return estimated(printed(strategies, *overrides))


def estimate_of(*overrides: str) -> dict[str, str]:
    """The row of the one run with these settings."""
    return list(estimate((), *overrides).values())[-1]  # after that of full_context


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_every_strategy_without_key_or_request(server, tmp_path, cache, small):
    url = f"llm.base_url={server.base_url}"
    embedder = ("embedder=openai", f"embedder.base_url={server.base_url}")
    ended = run_main(tmp_path, cache, "estimate=true", *MODELS, "judge=llm", url, *embedder, *small)
    found = estimated(ended)
    assert set(found) == EVERY
    assert next(iter(found)) == "full_context"
    assert {name for name, row in found.items() if row["calls"] == "unknown"} == {"given", "rest"}
    assert "rest: unknown, as the memory service calls models by itself" in ended.out
    assert server.requests == 0
    assert "Nothing is called" in ended.out
    assert runs_in(tmp_path) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_calls_are_counted_by_stage(small):
    """Without a key for the models, which are elsewhere."""
    plain, judged, panel, embedded = (
        estimate(("full_context", "vector_only", "hybrid_gate"), *MODELS, *small, *more)
        for more in ((), ("judge=llm", "judge.runs=2"), ("judge=panel",), ("embedder=openai",))
    )
    assert plain["vector_only"]["calls"] == "21"
    assert judged["vector_only"]["calls"] == str(21 + 2 * 18)  # type 5 is not judged
    assert panel["vector_only"]["calls"] == str(21 + 2 * 18)
    assert embedded["vector_only"]["calls"] == str(21 + 21 + 6)  # queries, sessions
    assert embedded["full_context"]["calls"] == "21"
    assert plain["hybrid_gate"]["calls"] == str(21 + 21 + 3)  # the gate's, warm-ups too
    closed = ("strategy=hybrid_gate", "strategy.gate.domains=null")
    assert estimate_of(*MODELS, *closed, *small) == plain["vector_only"]
    assert plain["vector_only"]["judge"] == "0.00"
    for name in ("full_context", "vector_only"):
        assert number(judged[name]["read"]) > number(plain[name]["read"])


def test_answers_are_taken_to_be_as_long_as_the_gold_answers_on_average():
    config, _ = composed(())
    questions = instantiate(config.dataset).load().questions
    golds = [count_tokens(one.gold) for one in questions if one.gold]
    assert len(golds) < len(questions)  # some have none
    written = round(len(questions) * fmean(golds))
    assert estimate_of(*MODELS, "strategy=vector_only")["written"] == f"{written:,}"


def test_instructions_count_in_every_call_but_the_judge_s(small):
    text = "Answer in German."
    arguments = ("strategy=hybrid_gate", *MODELS, "judge=llm", *small)
    without, with_them = estimate_of(*arguments), estimate_of(*arguments, f"instructions={text}")
    calls = 21 + 21 + 3  # answers, and the gate's
    assert number(with_them["read"]) - number(without["read"]) == calls * count_tokens(text)
    assert {**with_them, "read": ""} == {**without, "read": "", "system": with_them["system"]} | {
        name: with_them[name] for name in ("most", "break_even") if name in with_them
    }


def test_a_run_without_models_takes_nothing(small):
    ended = printed(("bm25", "graph_score", "mem0", "langmem", "rest"), *small)
    found = estimated(ended)
    for name in ("full_context", "bm25", "graph_score"):
        row = found[name]
        assert (row["calls"], row["system"], row["most"]) == ("0", "0.00", "0.00")
    for name in ("mem0", "langmem", "rest"):
        assert found[name]["calls"] == "unknown"
    assert "mem0, langmem: unknown, as a model writes its memories; add llm=openai" in ended.out
    assert estimate_of("strategy=mem0", "strategy.infer=false", *small)["calls"] == "0"


def test_every_neighbour_that_a_model_judges_is_read(small):
    judged = ("strategy=graph_expand", *MODELS, "strategy.expansion.judge=llm", *small)
    few, many = (
        number(estimate_of(*judged, f"strategy.expansion.per_seed={count}")["read"])
        for count in (1, 9)
    )
    assert many > few


def test_an_unknown_price_is_said(small):
    ended = printed(("graph_expand",), *MODELS, "llm.model=mystery", *small)
    found = estimated(ended)
    assert {row["system"] for row in found.values()} == {"unknown"}
    assert found["graph_expand"]["break_even"] == "unknown"
    assert "No price is known for mystery" in ended.out


def sent_by(server: FaultyServer, start: Start, folder: Path, *options: str) -> tuple[Run, int]:
    """A run against the server, and the tokens that it sent."""
    assert start(f"llm.base_url={server.base_url}", "llm.cache=off", *options).code == 0
    (run,) = runs_in(folder)
    assert len(server.bodies) == 21
    return run, sum(count_tokens(body["messages"][0]["content"]) for body in server.bodies)


def test_tokens_of_full_context_are_those_of_a_real_run(server, start, tmp_path, small):
    expected = number(estimate(("full_context",), *MODELS, *small)["full_context"]["read"])
    run, real = sent_by(server, start, tmp_path, "strategy=full_context", *MODELS, *small)
    frame = count_tokens(load_prompt("short_answer", ()).fill(context="", question=""))
    contexts = expected - sum(frame + count_tokens(r["question"]) for r in run.records)
    held = sum(record["context_tokens"] for record in run.records)
    assert abs(contexts - held) <= 0.01 * held
    assert abs(expected - real) <= 0.01 * real


def test_a_run_takes_about_the_expected_tokens_and_at_most_the_most(server, start, tmp_path, small):
    options = (prices(tmp_path), "llm.max_tokens=10", *MODELS, *small)
    found = estimate((*FIVE, "mem0", "mem0ai"), *options)
    for row in found.values():
        assert row["most"] == "unknown" or number(row["system"]) <= number(row["most"])
    _, sent = sent_by(server, start, tmp_path, "strategy=vector_only", *options)
    mine = found["vector_only"]
    assert abs(number(mine["read"]) - sent) <= 0.1 * sent  # k memories of mean length
    assert (sent + 21 * 10) / 1000 <= number(mine["most"]) + 0.01


def test_wrong_input_is_refused_as_by_a_run(start, small):
    of_bm25 = ("dataset.path=away.json", "pricing=away.yaml", "llm.budget_usd=nan")
    of_given = ("strategy.path=away", "strategy.path=null")
    for strategy, wrongs in {"bm25": of_bm25, "given": of_given}.items():
        for wrong in wrongs:
            ended = start("estimate=true", f"strategy={strategy}", *MODELS, *small, wrong).refused()
            lines = [line for line in ended.err.splitlines() if not line.startswith("note: ")]
            assert len(lines) == 1


def asked(ended: Ended) -> list[str]:
    """The first columns of the table: the names of its rows."""
    lines, width = table(ended)
    return [line[:width].rstrip() for line in lines]


def test_what_was_asked_is_estimated(start, small):
    command = ("estimate=true", *MODELS, *small)
    ended = start(*command, "strategy=bm25", "k=2")
    assert asked(ended) == ["full_context", "bm25"]
    one = estimate_of(*MODELS, "strategy=bm25", "strategy.k=1", *small)
    assert number(one["read"]) < number(estimated(ended)["bm25"]["read"])
    ended = start(*command, "strategy=full_context")
    assert "note: k=2 has no effect: strategy=full_context does not use it" in ended.err
    assert asked(ended) == ["full_context"]
    ended = start(*command, "strategy=full_context", "strategy.budget=5")
    assert asked(ended) == ["full_context", "full_context strategy.budget=5"]
    (whole, cut_row), width = table(ended)
    assert number(cut_row[width:].split()[1]) < number(whole[width:].split()[1])


def test_a_sweep_is_one_table_with_each_run_once(start, small):
    sweep = ("-m", "estimate=true", *MODELS, *small)
    ended = start(*sweep, "strategy=bm25,full_context")
    assert asked(ended) == ["full_context", "bm25"]
    assert ended.out.count("Nothing is called") == 1
    ended = start(*sweep, "strategy=bm25", "budget=1,2")
    assert asked(ended) == ["full_context", "bm25 budget=1", "bm25 budget=2"]
    ended = start(*sweep, "strategy=bm25", "llm.model=gpt-4o,gpt-4o-mini")
    assert ended.out.count("Nothing is called") == 2


def test_contexts_are_those_of_the_strategy(small):
    names = ("no_memory", "oracle", "bm25", "hybrid_rank", "graph_walk", "vector_only")
    found = estimate(names, *MODELS, "embedder=openai", "k=2", *small)
    read = {name: number(row["read"]) for name, row in found.items()}
    assert read["no_memory"] < read["oracle"] < read["full_context"]
    assert read["no_memory"] < read["bm25"] < read["full_context"]
    calls = {name: row["calls"] for name, row in found.items()}
    assert calls["bm25"] == calls["oracle"] == calls["no_memory"] == "21"  # nothing is embedded
    assert calls["hybrid_rank"] == calls["graph_walk"] == calls["vector_only"] == str(21 + 21 + 6)


def test_libraries_count_as_measured_and_have_no_upper_bound(small):
    of_each = {"mem0ai": (1, 0), "mem0ai_graph": (5, 1), "graphiti": (6, 0), "langmem": (1, 0)}
    ended = printed(tuple(of_each), *MODELS, *small)
    found = estimated(ended)
    exchanges = 12
    for name, (an_exchange, a_question) in of_each.items():
        assert found[name]["calls"] == str(21 + an_exchange * exchanges + a_question * 21)
        assert found[name]["most"] == "unknown"
    # Of an exchange mem0ai reads 7,943 tokens, its graph 4,076 in 5 calls, and one such call and
    # the question's own tokens for each question.
    read = {name: number(found[name]["read"]) for name in ("mem0ai", "mem0ai_graph")}
    of_questions = read["mem0ai_graph"] - read["mem0ai"] + exchanges * (7_943 - 4_076)
    assert 21 * (4_076 // 5) + 21 * 2 < of_questions < 21 * (4_076 // 5) + 21 * 20
    assert "at least so many" in " ".join(ended.out.split())
    stored = estimate_of(*MODELS, "strategy=langmem", "strategy.infer=false", *small)
    assert stored["calls"] == "21"
    assert stored["most"] != "unknown"


def test_a_reasoning_models_limit_is_at_most(small):
    most = []
    for limit in (1_000, 100_000):
        model = ("llm=openai_reasoning", f"llm.extra.max_completion_tokens={limit}")
        ended = printed(("bm25",), *model, "reader=llm", *small)
        assert "reasoning is billed as output" in ended.out
        most.append(number(estimated(ended)["bm25"]["most"]))
    assert most[0] < most[1]


def test_a_part_that_is_done_again_is_estimated_alone(start, tmp_path, keyed):
    judged = start(f"from={keyed['plain'].folder}", "judge=llm", "llm=openai", "estimate=true")
    assert asked(judged)[0].startswith("bm25")
    (row,) = estimated(judged).values()
    assert (row["calls"], row.get("break_even")) == ("18", None)
    assert runs_in(tmp_path) == []
