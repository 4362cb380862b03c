"""estimate=true: calls, tokens and dollars without request, key or files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsys.llm.prompt import load_prompt
from memsys.text.tokens import count_tokens
from tests.eval.commands import Ended, Start, run_main, runs_in
from tests.memsys.llm.server import FaultyServer

FIVE = ("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate")
WITH_MODEL = (*FIVE, "mem0", "mem0_graph")
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
    """The table by strategy."""
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("strategy "))
    rows = [line.split() for line in lines[start + 2 : lines.index("", start)]]
    return {row[0]: dict(zip(NAMES, row[1:], strict=True)) for row in rows}


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_all_five_strategies_without_key_or_request(
    server: FaultyServer, tmp_path: Path, cache: Path, small: tuple[str, ...]
) -> None:
    url = f"llm.base_url={server.base_url}"
    embedder = ("embedder=openai", f"embedder.base_url={server.base_url}")
    ended = run_main(tmp_path, cache, "estimate=true", *MODELS, "judge=llm", url, *embedder, *small)
    assert list(estimated(ended)) == [*WITH_MODEL]
    assert server.requests == 0
    assert "Nothing is called" in ended.out
    assert runs_in(tmp_path) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_no_key_is_needed_for_a_server_elsewhere(start: Start, small: tuple[str, ...]) -> None:
    command = ("estimate=true", *MODELS, "judge=llm", "embedder=openai", *small)
    assert list(estimated(start(*command))) == [*WITH_MODEL]


def test_calls_are_counted_by_stage(start: Start, small: tuple[str, ...]) -> None:
    plain = estimated(start("estimate=true", *MODELS, *small))
    judged = estimated(start("estimate=true", *MODELS, "judge=llm", "judge.runs=2", *small))
    panel = estimated(start("estimate=true", *MODELS, "judge=panel", *small))
    embedded = estimated(start("estimate=true", *MODELS, "embedder=openai", *small))
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
    assert closed["hybrid_gate"] == closed["vector_only"]
    assert plain["vector_only"]["judge"] == "0.00"
    for name in ("full_context", "vector_only"):
        assert number(judged[name]["read"]) > number(plain[name]["read"])


def test_a_run_without_models_takes_nothing(start: Start, small: tuple[str, ...]) -> None:
    ended = start("estimate=true", *small)
    found = estimated(ended)
    assert {(row["calls"], row["system"], row["most"]) for row in found.values()} == {
        ("0", "0.00", "0.00")
    }


def test_an_unknown_price_is_said(start: Start, small: tuple[str, ...]) -> None:
    ended = start("estimate=true", *MODELS, "llm.model=mystery", *small)
    found = estimated(ended)
    assert {row["system"] for row in found.values()} == {"unknown"}
    assert found["graph_expand"]["break_even"] == "unknown"
    assert "No price is known for mystery" in ended.out


@pytest.mark.parametrize("strategy", ["full_context", "vector_only"])
def test_tokens_are_those_of_a_real_run(
    strategy: str, server: FaultyServer, start: Start, tmp_path: Path, small: tuple[str, ...]
) -> None:
    ended = start("estimate=true", *MODELS, *small)
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
    found = estimated(start("estimate=true", *options))
    for row in found.values():
        assert number(row["system"]) <= number(row["most"])
    url = f"llm.base_url={server.base_url}"
    assert start("strategy=vector_only", url, "llm.cache=off", *options).code == 0
    sent = sum(count_tokens(body["messages"][0]["content"]) for body in server.bodies)
    assert (sent + 21 * 10) / 1000 <= number(found["vector_only"]["most"]) + 0.01


def test_wrong_input_is_refused_as_by_a_run(start: Start, small: tuple[str, ...]) -> None:
    for wrong in ("dataset.path=away.json", "pricing=away.yaml", "reader.prompt=away"):
        ended = start("estimate=true", *MODELS, *small, wrong)
        assert ended.code == 2, wrong
        assert ended.err.count("\n") == 1


def test_the_gates_calls_are_at_most_the_estimated_ones(
    server: FaultyServer, start: Start, small: tuple[str, ...]
) -> None:
    found = estimated(start("estimate=true", *MODELS, *small))["hybrid_gate"]
    options = (
        "strategy.gate.english=[]",
        "strategy.gate.similarity=-1",
        f"llm.base_url={server.base_url}",
    )
    ended = start("strategy=hybrid_gate", *MODELS, *options, "llm.cache=off", *small)
    assert ended.code == 0, ended.err
    assert server.requests == number(found["calls"])  # every question came to the gate's model
