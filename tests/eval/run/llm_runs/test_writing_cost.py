"""What memory costs where a model writes it."""

from __future__ import annotations

import pytest

from eval.cost import __main__ as cost
from tests.eval.run.llm_runs.keeping import Mem0Model
from tests.eval.run.llm_runs.served import Scripted

PRICE = {
    "input": 0.15,
    "output": 0.6,
}  # dollars a million tokens of gpt-4o-mini


def test_writing_by_a_model_is_told_by_session(
    scripted: Scripted, data: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    bench = scripted(Mem0Model())
    ended = bench.start(*data)
    assert ended.code == 0, ended.err
    lines = bench.run.ingests
    sessions = sum(line["phase"] == "ingest" for line in lines)
    total = {
        name: sum(line["usage"][name] for line in lines)
        for name in ("calls", "input_tokens", "output_tokens")
    }
    assert total["calls"] > sessions > 1
    assert bench.run.manifest["pricing"]["models"]["gpt-4o-mini"].items() >= PRICE.items()
    assert cost.main([str(bench.run.folder), "--writing"]) == 0
    out = capsys.readouterr().out
    shown = dict(
        line.rsplit("  ", 1)
        for line in out.splitlines()
        if " a session  " in line and not line.startswith("seconds")
    )
    figures = {name.strip(): float(cell.replace(",", "")) for name, cell in shown.items()}
    usd = (
        PRICE["input"] * total["input_tokens"] + PRICE["output"] * total["output_tokens"]
    ) / 1_000_000
    assert figures["calls a session"] == pytest.approx(total["calls"] / sessions, abs=0.05)
    assert figures["input tokens a session"] == pytest.approx(
        total["input_tokens"] / sessions, abs=0.05
    )
    assert figures["$ a session"] == pytest.approx(usd / sessions, abs=1e-7)
    (store,) = [line["store"] for line in lines if line["phase"] == "index"]
    assert f"kB stored, a conversation {store['bytes'] / 1000:>22,.1f}".split() in [
        line.split() for line in out.splitlines()
    ]
    assert "no such run" in out  # nothing among these to be repaid against
