"""estimate=true: calls, tokens and dollars without request, key or files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsys import places
from memsys.llm.prompt import load_prompt
from memsys.text.tokens import count_tokens
from tests.eval.commands import Ended, Start, run_main, runs_in
from tests.memsys.llm.server import FaultyServer

FIVE = ("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate")
CONF = places.CONF / "strategy"
EVERY = {path.stem for path in CONF.glob("*.yaml")}
NAMES = ("calls", "read", "written", "system", "judge", "most", "break_even")
MODELS = ("llm=openai", "reader=llm")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


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


def ask(*strategies: str) -> tuple[str, ...]:
    """The arguments of a sweep of these strategies."""
    return ("-m", "estimate=true", f"strategy={','.join(strategies)}")


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_every_strategy_without_key_or_request(
    server: FaultyServer, tmp_path: Path, cache: Path, small: tuple[str, ...]
) -> None:
    url = f"llm.base_url={server.base_url}"
    embedder = ("embedder=openai", f"embedder.base_url={server.base_url}")
    ended = run_main(tmp_path, cache, "estimate=true", *MODELS, "judge=llm", url, *embedder, *small)
    found = estimated(ended)
    assert set(found) == EVERY
    assert next(iter(found)) == "full_context"
    assert {name for name, row in found.items() if row["calls"] == "unknown"} == {"rest"}
    assert "rest: unknown, as the memory service calls models by itself" in ended.out
    assert server.requests == 0
    assert "Nothing is called" in ended.out
    assert runs_in(tmp_path) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_no_key_is_needed_for_a_server_elsewhere(start: Start, small: tuple[str, ...]) -> None:
    command = (*ask("bm25", "mem0"), *MODELS, "judge=llm", "embedder=openai", *small)
    assert list(estimated(start(*command))) == ["full_context", "bm25", "mem0"]


def test_calls_are_counted_by_stage(start: Start, small: tuple[str, ...]) -> None:
    three = ask("full_context", "vector_only", "hybrid_gate")
    plain = estimated(start(*three, *MODELS, *small))
    judged = estimated(start(*three, *MODELS, "judge=llm", "judge.runs=2", *small))
    panel = estimated(start(*three, *MODELS, "judge=panel", *small))
    embedded = estimated(start(*three, *MODELS, "embedder=openai", *small))
    assert plain["vector_only"]["calls"] == "21"
    assert judged["vector_only"]["calls"] == str(21 + 2 * 18)  # type 5 is not judged
    assert panel["vector_only"]["calls"] == str(21 + 2 * 18)
    assert embedded["vector_only"]["calls"] == str(21 + 21 + 6)  # queries, sessions
    assert embedded["full_context"]["calls"] == "21"
    assert plain["hybrid_gate"]["calls"] == str(21 + 21 + 3)  # the gate's, warm-ups too
    closed = estimated(
        start(
            "estimate=true", *MODELS, "strategy=hybrid_gate", "strategy.gate.domains=null", *small
        )
    )
    assert list(closed) == ["full_context", "hybrid_gate"]
    assert closed["hybrid_gate"] == plain["vector_only"]
    assert plain["vector_only"]["judge"] == "0.00"
    for name in ("full_context", "vector_only"):
        assert number(judged[name]["read"]) > number(plain[name]["read"])


def test_a_run_without_models_takes_nothing(start: Start, small: tuple[str, ...]) -> None:
    ended = start(*ask("bm25", "graph_score", "mem0", "langmem", "rest"), *small)
    found = estimated(ended)
    for name in ("full_context", "bm25", "graph_score"):
        row = found[name]
        assert (row["calls"], row["system"], row["most"]) == ("0", "0.00", "0.00")
    for name in ("mem0", "langmem", "rest"):
        assert found[name]["calls"] == "unknown"
    assert "mem0, langmem: unknown, as a model writes its memories; add llm=openai" in ended.out


def test_an_unknown_price_is_said(start: Start, small: tuple[str, ...]) -> None:
    ended = start(*ask("graph_expand"), *MODELS, "llm.model=mystery", *small)
    found = estimated(ended)
    assert {row["system"] for row in found.values()} == {"unknown"}
    assert found["graph_expand"]["break_even"] == "unknown"
    assert "No price is known for mystery" in ended.out


@pytest.mark.parametrize("strategy", ["full_context", "vector_only"])
def test_tokens_are_those_of_a_real_run(
    strategy: str, server: FaultyServer, start: Start, tmp_path: Path, small: tuple[str, ...]
) -> None:
    ended = start(*ask(strategy), *MODELS, *small)
    expected = number(estimated(ended)[strategy]["read"])
    url = f"llm.base_url={server.base_url}"
    assert start(f"strategy={strategy}", *MODELS, url, "llm.cache=off", *small).code == 0
    (run,) = runs_in(tmp_path)
    sent = [body["messages"][0]["content"] for body in server.bodies]
    assert len(sent) == 21
    real = sum(map(count_tokens, sent))
    frame = count_tokens(load_prompt("short_answer", ()).fill(context="", question=""))
    contexts = expected - sum(frame + count_tokens(r["question"]) for r in run.records)
    if strategy == "full_context":
        held = sum(record["context_tokens"] for record in run.records)
        assert abs(contexts - held) <= 0.01 * held
        assert abs(expected - real) <= 0.01 * real
    else:  # k memories of mean length
        assert abs(expected - real) <= 0.1 * real


def test_at_most_is_no_less_than_a_run_can_cost(
    server: FaultyServer, start: Start, tmp_path: Path, small: tuple[str, ...]
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "as_of: 2025-01-01\nsource: a test\nmodels: {gpt-4o-mini: {input: 1000, output: 1000}}\n"
    )
    options = (f"pricing={prices}", "llm.max_tokens=10", *MODELS, *small)
    found = estimated(start(*ask(*FIVE, "mem0", "mem0ai"), *options))
    for row in found.values():
        assert row["most"] == "unknown" or number(row["system"]) <= number(row["most"])
    url = f"llm.base_url={server.base_url}"
    assert start("strategy=vector_only", url, "llm.cache=off", *options).code == 0
    sent = sum(count_tokens(body["messages"][0]["content"]) for body in server.bodies)
    assert (sent + 21 * 10) / 1000 <= number(found["vector_only"]["most"]) + 0.01


def test_wrong_input_is_refused_as_by_a_run(start: Start, small: tuple[str, ...]) -> None:
    for wrong in ("dataset.path=away.json", "pricing=away.yaml", "reader.prompt=away"):
        ended = start("estimate=true", "strategy=bm25", *MODELS, *small, wrong)
        assert ended.code == 2, wrong
        assert ended.err.count("\n") == 1


def test_the_gates_calls_are_at_most_the_estimated_ones(
    server: FaultyServer, start: Start, small: tuple[str, ...]
) -> None:
    found = estimated(start(*ask("hybrid_gate"), *MODELS, *small))["hybrid_gate"]
    options = (
        "strategy.gate.english=[]",
        "strategy.gate.similarity=-1",
        f"llm.base_url={server.base_url}",
    )
    ended = start("strategy=hybrid_gate", *MODELS, *options, "llm.cache=off", *small)
    assert ended.code == 0, ended.err
    assert server.requests == number(found["calls"])  # every question came to the gate's model


def asked(ended: Ended) -> list[str]:
    """The first columns of the table: the names of its rows."""
    lines, width = table(ended)
    return [line[:width].rstrip() for line in lines]


def test_what_was_asked_is_estimated(start: Start, small: tuple[str, ...]) -> None:
    ended = start("estimate=true", *MODELS, "strategy=bm25", "k=2", *small)
    assert asked(ended) == ["full_context", "bm25"]
    two = estimated(ended)["bm25"]
    one = estimated(start("estimate=true", *MODELS, "strategy=bm25", "strategy.k=1", *small))
    assert number(one["bm25"]["read"]) < number(two["read"])
    ended = start("estimate=true", *MODELS, "strategy=full_context", *small)
    assert asked(ended) == ["full_context"]
    cut = ("strategy=full_context", "strategy.budget=5")
    ended = start("estimate=true", *MODELS, *cut, *small)
    assert asked(ended) == ["full_context", "full_context strategy.budget=5"]
    (whole, cut_row), width = table(ended)
    assert number(cut_row[width:].split()[1]) < number(whole[width:].split()[1])


def test_a_sweep_is_one_table_with_each_run_once(start: Start, small: tuple[str, ...]) -> None:
    ended = start("-m", "estimate=true", "strategy=bm25,full_context,oracle", *MODELS, *small)
    assert asked(ended) == ["full_context", "bm25", "oracle"]
    assert ended.out.count("Nothing is called") == 1
    ended = start("-m", "estimate=true", "strategy=bm25", "budget=1,2", *MODELS, *small)
    assert asked(ended) == ["full_context", "bm25 budget=1", "bm25 budget=2"]
    ended = start("-m", "estimate=true", "strategy=bm25", "llm.model=gpt-4o,gpt-4o-mini", *MODELS)
    assert ended.out.count("Nothing is called") == 2


def test_contexts_are_those_of_the_strategy(start: Start, small: tuple[str, ...]) -> None:
    names = ("no_memory", "oracle", "bm25", "hybrid_rank", "graph_walk", "vector_only")
    found = estimated(start(*ask(*names), *MODELS, "embedder=openai", "k=2", *small))
    read = {name: number(row["read"]) for name, row in found.items()}
    assert read["no_memory"] < read["oracle"] < read["full_context"]
    assert read["no_memory"] < read["bm25"] < read["full_context"]
    calls = {name: row["calls"] for name, row in found.items()}
    assert calls["bm25"] == calls["oracle"] == calls["no_memory"] == "21"  # nothing is embedded
    assert calls["hybrid_rank"] == calls["graph_walk"] == calls["vector_only"] == str(21 + 21 + 6)


def test_libraries_count_as_measured_and_have_no_upper_bound(
    start: Start, small: tuple[str, ...]
) -> None:
    names = ("mem0ai", "mem0ai_graph", "graphiti", "langmem")
    ended = start(*ask(*names), *MODELS, *small)
    found = estimated(ended)
    exchanges = 12
    for name, (an_exchange, a_question) in {
        "mem0ai": (1, 0), "mem0ai_graph": (5, 1), "graphiti": (6, 0), "langmem": (1, 0)
    }.items():  # fmt: skip
        assert found[name]["calls"] == str(21 + an_exchange * exchanges + a_question * 21)
        assert found[name]["most"] == "unknown"
    assert "at least so many" in " ".join(ended.out.split())
    given = ("strategy=langmem", "strategy.infer=false")
    stored = estimated(start("estimate=true", *MODELS, *given, *small))["langmem"]
    assert stored["calls"] == "21"
    assert stored["most"] != "unknown"


def test_a_reasoning_models_limit_is_at_most(start: Start, small: tuple[str, ...]) -> None:
    command = ("estimate=true", "llm=openai_reasoning", "reader=llm", "strategy=bm25", *small)
    little = start(*command, "llm.extra.max_completion_tokens=1000")
    much = start(*command, "llm.extra.max_completion_tokens=100000")
    assert number(estimated(little)["bm25"]["most"]) < number(estimated(much)["bm25"]["most"])
    assert "reasoning is billed as output" in much.out


@pytest.mark.parametrize("value", ["abc", "true", "nan", "-1"])
def test_a_wrong_budget_is_refused(value: str, start: Start, small: tuple[str, ...]) -> None:
    ended = start("estimate=true", *MODELS, "strategy=bm25", f"llm.budget_usd={value}", *small)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: llm.budget_usd: ")
    assert ended.err.count("\n") == 1


def test_a_part_that_is_done_again_is_estimated_alone(
    start: Start, tmp_path: Path, small: tuple[str, ...]
) -> None:
    assert start("strategy=bm25", *small).code == 0
    (run,) = runs_in(tmp_path)
    judged = start(f"from={run.folder.name}", "judge=llm", "llm=openai", "estimate=true")
    assert asked(judged)[0].startswith("bm25")
    (row,) = estimated(judged).values()
    assert (row["calls"], row.get("break_even")) == ("18", None)
    assert runs_in(tmp_path) == [run]
