"""Dollars of recorded usage, and `python -m eval cost` over runs, with the cost of ingestion."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.cost import __main__ as cost
from eval.pages.report.costs import costs_block
from eval.pages.report.runs import load
from eval.records.prices import break_even, cost_usd, of_records, pricing_of
from memsys.llm.pricing import Price, Pricing
from tests.eval import factory
from tests.eval.commands import Run, run_once

PRICES = {"big": {"input": 2.0, "output": 10.0}, "own": {"input": 0.0, "output": 0.0}}
PRICING = Pricing({name: Price(**row, as_of="2025-01-01") for name, row in PRICES.items()})
INFINITE = float("inf")


def used(calls: int = 0, read: int = 0, written: int = 0, model: str = "big") -> dict[str, Any]:
    """A phase's usage, as records hold it."""
    own = {"calls": calls, "input_tokens": read, "output_tokens": written}
    return own | ({"by_model": {model: own}} if calls else {})


def test_cost_is_tokens_by_price():
    assert cost_usd([used(1, 500_000, 100_000), used(2, 0 + 1, 0), used()], PRICING) == (
        pytest.approx(1.0 + 1.0 + 2e-6)
    )
    assert cost_usd([used(3, 7, 7, "own")], PRICING) == 0
    assert cost_usd([used(1, 10**6, 0, "big-2024-08-06")], PRICING) == 2  # a snapshot
    assert cost_usd([], PRICING) == 0
    assert cost_usd([used(1, 0, 0, "own")], PRICING) == 0  # tokens of what is free need no count


@pytest.mark.parametrize("usage", [None, used(1, 5, 5, "mystery"), used(1, 0, 0)])
def test_what_is_not_known_is_never_0(usage):
    assert cost_usd([used(1, 5, 5), usage], PRICING) is None


def test_phases_of_records_are_apart():
    record = {"usage": {"retrieve": used(), "answer": used(1, 10**6), "judge": used(1, 0, 10**6)}}
    assert of_records([record], ("retrieve", "answer"), PRICING) == 2
    assert of_records([record], ("judge",), PRICING) is None  # 0 tokens read cannot be
    assert of_records([{"usage": {"answer": used(1, 10**6)}}], ("judge",), PRICING) == 0
    assert of_records([record, {"usage": None}], ("answer",), PRICING) is None


@pytest.mark.parametrize(
    ("ingest", "own", "other", "after"),
    [
        (0.6, 0.01, 0.04, 20.0),
        (0.0, 0.01, 0.04, 0.0),
        (0.0, 0.01, 0.01, 0.0),
        (0.5, 0.04, 0.04, INFINITE),
        (0.0, 0.05, 0.04, INFINITE),
        (None, 0.01, 0.04, None),
        (0.5, None, 0.04, None),
        (0.5, 0.01, None, None),
    ],
)
def test_break_even(ingest, own, other, after):
    assert break_even(ingest, own, other) == (None if after is None else pytest.approx(after))


def test_a_manifest_without_prices_knows_none():
    assert pricing_of({"pricing": None}).price("big") is None
    known = pricing_of({"pricing": {"as_of": "2025-01-01", "models": PRICES}})
    assert (known.as_of, known.price("big")) == ("2025-01-01", Price(2.0, 10.0, "2025-01-01"))


def write(
    folder: Path, answer: dict[str, Any] | None, ingest: dict[str, Any] | None = None, **more: Any
) -> str:
    """A run of two conversations with two questions each; `answer` and `ingest` are of one."""
    usage = None if answer is None else {"retrieve": used(), "answer": answer}
    if usage and more.get("judge"):
        usage["judge"] = used(1, 1000, 100)
    rows = [factory.record(f"{c}/{i}", usage=usage) for c in "ab" for i in range(2)]
    known = answer is not None
    lines = [factory.ingest_line(c, usage=ingest or used()) for c in "ab"] if known else []
    fields = {
        **{"llm": "big", "models": {"embedder": None, "reader": "llm", "judge": None}},
        **{"pricing": {"as_of": "2025-01-01", "models": PRICES}, **more},
    }
    factory.write_run(folder, rows, fields.pop("strategy", "graph_expand"), lines, **fields)
    return str(folder)


def table(out: str, first: str) -> dict[str, list[str]]:
    """The rows of the last table whose header begins with `first`, their cells by name, the header
    among them; cells have two spaces between them.
    """
    lines = out.splitlines()
    start = max(i for i, line in enumerate(lines) if line.startswith(f"{first} "))
    rows = [lines[start], *lines[start + 2 : lines.index("", start)]]  # a line of dashes between
    return {name: cells for name, *cells in (re.split(r" {2,}", row.strip()) for row in rows)}


def test_phases_and_break_even(tmp_path, said):
    # a question: 20,000 against 1,000 tokens read at $2 a million, so $.038 saved; a conversation's
    # ingest: $.19
    full = write(tmp_path / "full", used(1, 20_000, 10), strategy="full_context")
    graph = write(
        tmp_path / "graph", used(1, 1_000, 10), used(2, 95_000), judge={"name": "big, generous"}
    )
    out = said(cost.main, full, graph)
    assert table(out, "phase") == {
        "phase": ["calls", "input tokens", "output tokens", "$"],
        "ingest": ["4", "190,000", "0", "0.3800"],
        "retrieve": ["0", "0", "0", "0.0000"],
        "answer": ["4", "4,000", "40", "0.0084"],
        "judge": ["4", "4,000", "400", "0.0120"],
    }
    rows = table(out, "run")
    assert len(rows.pop("run")) == 8
    assert rows == {
        "full": ["4", "20,000.0", "10.0", "0.0401", "0.0000", "0.0000", "0.1604", "-"],
        "graph": ["4", "1,000.0", "10.0", "0.0021", "0.0030", "0.1900", "0.3884", "5.0"],
    }
    assert "judge big, generous" in out
    assert "prices as of 2025-01-01" in out


def test_a_baseline_of_other_models_is_none_and_a_cent_is_not_shown_as_nothing(tmp_path, said):
    full = write(tmp_path / "full", used(1, 9), strategy="full_context", llm="other")
    cells = table(said(cost.main, full, write(tmp_path / "graph", used(1, 30, 2))), "run")["graph"]
    assert cells[-1] == "no such run"
    assert cells[3] == "0.00008000"


@pytest.mark.parametrize(
    ("answer", "more", "words"),
    [
        (
            used(),
            {"llm": None, "models": {"reader": "extractive"}},
            "on some: 4 questions, keyless: $0\n",
        ),
        (used(1, 5, 5, "own"), {"llm": "own"}, "the price of its models is 0"),
        (used(1, 5, 5), {"status": "interrupted"}, "the run is interrupted: so far"),
        (used(1, 5, 5), {"pricing": None}, "no prices of its models in its manifest"),
    ],
)
def test_what_a_run_is_is_told(answer, more, words, tmp_path, said):
    assert words in said(cost.main, write(tmp_path / "one", answer, **more))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("recorded", "recorded answers"),
        ("vectors", "cached vectors, at the time that they took"),
        ("shared", "an index or graph of an earlier job of the sweep, at the time that making it"),
    ],
)
def test_what_is_not_live_is_told_by_its_source(source, words, tmp_path, said):
    usage = {"retrieve": used(), "answer": used(1, 5, 5)}
    recorded = "2026-01-01T00:00:00+00:00" if source == "recorded" else None
    row = factory.record("a/0", usage=usage, latency_source=source, recorded=recorded)
    factory.write_run(tmp_path / "one", [row], pricing={"as_of": "2025-01-01", "models": PRICES})
    out = " ".join(said(cost.main, tmp_path / "one").split())
    assert out.count("1 questions used") == 1
    assert f"1 questions used {words}" in out


@pytest.mark.parametrize("answer", [None, used(1, 5, 5, "mystery")])
def test_unknown_says_so(answer, tmp_path, said):
    full = write(tmp_path / "full", used(1, 9), strategy="full_context", llm="big")
    out = said(cost.main, full, write(tmp_path / "one", answer, llm="big"))
    assert table(out, "phase")["answer"][-1] == "unknown"
    assert table(out, "run")["one"][-1] == "unknown"
    assert (table(out, "phase")["ingest"] == ["unknown"] * 4) == (answer is None)


def test_wrong_input_is_one_line(tmp_path, refused):
    run = write(tmp_path / "one", used())
    for names, words in (([tmp_path / "no"], "no such run"), ([run, run], "named 2 times")):
        assert words in refused(cost.main, *names)


@pytest.fixture(scope="session")
def finished(
    tmp_path_factory: pytest.TempPathFactory,
    cache: Path,
    small: tuple[str, ...],
    keyed: dict[str, Run],
) -> list[Run]:
    """Runs of full_context and bm25, read only."""
    full = run_once(tmp_path_factory, cache, "full", "strategy=full_context", *small)
    return [full, keyed["plain"]]


@pytest.fixture
def copies(finished: list[Run], tmp_path: Path) -> list[Run]:
    """The same, to be changed."""
    folders = [tmp_path / run.folder.name for run in finished]
    pairs = zip(finished, folders, strict=True)
    return [Run(shutil.copytree(run.folder, folder)) for run, folder in pairs]


def shown(capsys: pytest.CaptureFixture[str], *runs: Run) -> dict[str, list[str]]:
    assert cost.main([*(str(run.folder) for run in runs), "--writing"]) == 0
    printed = capsys.readouterr()
    assert not printed.err
    return table(printed.out, "ingestion")


@contextmanager
def edited(path: Path) -> Iterator[list[dict]]:
    """The lines of a JSON-lines file, written back at the end."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    yield lines
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_keyless_runs_cost_nothing_but_their_seconds_in_the_report_too(finished, capsys):
    found = shown(capsys, *finished)
    none = {"calls": "0.0", "input tokens": "0.0", "output tokens": "0.0", "$": "0.0000"}
    units = ("session", "conversation")
    alike = {"sessions": "6", "conversations": "3", "memories stored, a conversation": "6.0"}
    alike |= {f"{what} a {unit}": cell for what, cell in none.items() for unit in units}
    alike |= {"judge, types 1-4": "no judge"}
    assert {name: found[name] for name in alike} == {k: [cell] * 2 for k, cell in alike.items()}
    assert found["ingestion"] == [run.folder.name for run in finished]
    assert found["break-even after questions of a conversation"] == ["-", "0.0"]
    for i, run in enumerate(finished):
        cell = run.summary["by_type"]["overall"]
        seconds = sum(line["latency_ms"] for line in run.ingests) / 1000
        assert seconds > 0
        assert float(found["seconds a conversation"][i]) == pytest.approx(seconds / 3, abs=6e-4)
        held = [line["store"] for line in run.ingests if line["phase"] == "index"]
        assert [one["memories"] for one in held] == [6, 6, 6]
        tokens = sum(one["tokens"] for one in held) / 3
        assert found["tokens stored, a conversation"][i] == f"{tokens:,.1f}"
        kilobytes = sum(one["bytes"] for one in held) / 3 / 1000
        assert found["kB stored, a conversation"][i] == f"{kilobytes:,.1f}" > "1"
        low, high = cell["f1_ci"]
        assert found["F1, types 1-4"][i] == f"{cell['f1']:.3f} [{low:.3f}, {high:.3f}] n=18"
        tokens_read = found["context tokens, types 1-4"][i]
        assert tokens_read.startswith(f"{cell['context_tokens_mean']:,.0f} [")
    block = costs_block(load([str(run.folder) for run in finished]))
    table = next(part for part in block.parts if getattr(part, "header", [""])[0] == "ingestion")
    assert {row[0]: row[1:] for row in table.rows} | {"ingestion": found["ingestion"]} == found


def test_a_run_that_does_not_tell_its_store_shows_none(copies, capsys):
    old, part = copies
    with edited(old.folder / "ingest.jsonl") as lines:
        for line in lines:
            line.pop("store", None)
    with edited(part.folder / "ingest.jsonl") as lines:
        for line in lines:
            if line["phase"] == "index":
                line["store"] |= {"nodes": 4, "edges": 10, "bytes": 1_234_567}
        lines[-1]["store"].pop("edges")  # not known of one conversation: of none
        lines[-1]["store"]["nodes"] = 10
    found = shown(capsys, old, part)
    names = ("memories", "nodes", "edges", "kB")
    cells = [found[f"{name} stored, a conversation"] for name in names]
    assert cells == [["-", "6.0"], ["-", "6.0"], ["-", "-"], ["-", "1,234.6"]]
    with edited(part.folder / "ingest.jsonl") as lines:
        lines[-1].pop("store")
    assert shown(capsys, part)["nodes stored, a conversation"] == ["-"]


def test_what_is_not_known_is_not_nothing(copies, capsys):
    without, unpriced = copies
    (without.folder / "ingest.jsonl").unlink()
    with edited(unpriced.folder / "ingest.jsonl") as lines:
        own = {"calls": 1, "input_tokens": 600, "output_tokens": 60}
        lines[0]["usage"] = own | {"by_model": {"nobody's": own}}
        lines[0]["latency_source"], lines[1]["latency_source"] = "recorded", "vectors"
        lines[1]["shared_ms"] = 0.1
    with edited(unpriced.folder / "records.jsonl") as lines:
        lines[3]["scores"].pop("bleu1")  # of a record from before this score
    found = shown(capsys, without, unpriced)
    assert found["sessions"][0] == "-"
    assert found["seconds a session"][0] == "unknown"
    for note in ("replayed", "vectors cached", "measured in an earlier job of the sweep"):
        assert f" (some {note})" in found["seconds a session"][1]
    assert found["input tokens a session"] == ["unknown", "100.0"]
    assert found["input tokens a conversation"] == ["unknown", "200.0"]
    assert found["$ a conversation"] == ["unknown", "unknown"]
    assert found["break-even after questions of a conversation"][1] == "unknown"
