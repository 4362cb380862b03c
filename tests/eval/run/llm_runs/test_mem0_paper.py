"""experiment=mem0_paper from runs against a loopback server to its page, and again from what was
recorded.
"""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.analyse.tabulate.__main__ import main as tabulate
from tests.eval.commands import run_main, runs_in
from tests.eval.run.llm_runs.served import Model, text_of
from tests.memsys.knowledge.relations.models import TOOLS, relation
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.faults import calls
from tests.memsys.llm.server import Behaviour, FaultyServer

SYSTEMS = "strategy=full_context,mem0,mem0_graph"
CHUNKS = ("memory.tokens=128", "k=1,2")
LATENCIES = ("search", "total")


class PaperModel(Model):
    """Every message is a fact, every fact is added, and its last word is an entity."""

    def __call__(self, body: Body) -> Behaviour | None:
        if "input" in body:
            return None
        text, tools = text_of(body), body.get("tools", ())
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        names = [tool["function"]["name"] for tool in tools]
        kind = TOOLS.get(names[0], "operations") if names else form
        said = text.partition("<new_messages>")[2] or text
        if kind == "facts":
            new = re.findall(r"(?m)^(\d+)\. (\w+): (.+)$", said)
            rows = [
                {"title": words.split()[-1], "content": words, "when": "", "speaker": speaker}
                | {"turns": [int(number)]}
                for number, speaker, words in new
            ]
            return faults.says(json.dumps({"facts": rows}))
        if kind == "operations":
            return calls(("ADD", '{"why": "new"}'))
        if kind == "entities":
            found = [{"entity": re.findall(r"\w+", said)[-1], "entity_type": "thing"}]
            return calls((names[0], json.dumps({"entities": found})))
        if kind in ("relations", "conflicts"):
            thing = re.findall(r"\w+", said)[-1]
            rows = [relation("Ada", "knows", thing)] if kind == "relations" else []
            return calls((names[0], json.dumps({kind: rows})))
        return super().__call__(body)


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer(PaperModel()) as one:
        yield one


def commands(small: tuple[str, ...], server: FaultyServer) -> list[tuple[str, ...]]:
    """The arguments of both experiments on two conversations, as `tabulate` has them as well."""
    own = (*small[:2], "dataset.conversations=[ash,beech]")
    urls = tuple(f"{group}.base_url={server.base_url}" for group in ("llm", "embedder"))
    return [(SYSTEMS, *own, *urls), (*CHUNKS, *own, *urls)]


def run_all(folder: Path, cache: Path, orders: list[tuple[str, ...]]) -> None:
    folder.mkdir()
    for name, order in zip(("mem0_paper", "mem0_paper_chunks"), orders, strict=True):
        run_main(folder, cache, "-m", f"experiment={name}", *order).ok()


def cells(folder: Path, given: tuple[str, ...]) -> dict:
    """The own figures of the page by table, row and column."""
    out = folder / "tables"
    named = [*given, "--runs", str(folder / "results" / "runs"), "--out", str(out)]
    assert tabulate(["mem0_paper", *named]) == 0
    with (out / "mem0_paper.csv").open(encoding="utf-8") as file:
        return {(r["table"], r["row"], r["column"]): r for r in csv.DictReader(file) if r["run_id"]}


def test_two_conversations_and_again_as_recorded(tmp_path, small, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    first, second, cache = tmp_path / "first", tmp_path / "second", tmp_path / "cache"
    orders = commands(small, server)
    run_all(first, cache, orders)
    runs = runs_in(first)
    assert len(runs) == 5
    for run in runs:
        assert run.summary["errors"] == 0
        assert run.summary["n"] == 12  # without type 5
        assert run.summary["scoring"] == ["mem0", "locomo"]
        assert {len(next(iter(one["judge"].values()))) for one in run.records} == {10}
        assert {one["latency_source"] for one in run.records} == {"live"}
    found = cells(first, orders[0])
    asked = server.requests
    rows = {row for _, row, _ in found}
    chunks = {"RAG, k=1, 128", "RAG, k=2, 128"}
    assert rows == {"Full-context", "raw conversation", "Mem0", "Mem0g"} | chunks
    table = "Table 1, F1"
    assert {column for t, row, column in found if (t, row) == (table, "Mem0")} == {
        "Single Hop (multi_hop)",
        "Multi-Hop (open_domain)",
        "Open Domain (single_hop)",
        "Temporal",
    }
    (kept,) = [run for run in runs if run.manifest["strategy"] == "mem0"]
    own = float(found[table, "Mem0", "Single Hop (multi_hop)"]["own"])
    assert own == pytest.approx(100 * kept.summary["by_type"]["multi_hop"]["f1"])
    total = float(found["Table 2", "Mem0", "total p95 s"]["own"])
    assert 0 < total < 60
    assert float(found["Section 4.5", "Mem0g", "tokens of a store"]["own"]) > float(
        found["Section 4.5", "Mem0", "tokens of a store"]["own"]
    )
    replayed = [(*order, "llm.cache=replay") for order in orders]
    run_all(second, cache, replayed)
    assert server.requests == asked
    again = cells(second, replayed[0])
    for key, line in found.items():
        if key[2].startswith(LATENCIES):
            assert again[key]["own"] == ""  # replayed
        else:
            assert again[key] | {"run_id": ""} == line | {"run_id": ""}
    shutil.rmtree(second)
