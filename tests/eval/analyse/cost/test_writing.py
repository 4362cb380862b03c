"""`python -m eval cost --writing`: the cost of ingestion, from real small runs."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eval.analyse.cost import __main__ as cost
from eval.pages.report.costs import costs_block
from eval.pages.report.runs import load
from tests.eval.commands import Run, run_once

Rows = dict[str, list[str]]


def rows(out: str) -> Rows:
    """The table by quantity: a cell a run; cells have two spaces between them."""
    lines = out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("ingestion "))
    kept = [lines[start], *lines[start + 2 : lines.index("", start)]]  # a line of dashes between
    table = [line.split("  ") for line in kept]
    return {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in table}


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


def shown(capsys: pytest.CaptureFixture[str], *runs: Run) -> Rows:
    assert cost.main([*(str(run.folder) for run in runs), "--writing"]) == 0
    printed = capsys.readouterr()
    assert not printed.err
    return rows(printed.out)


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
