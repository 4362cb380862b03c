"""A run over HTTP against the real server finds what the same ranking finds in process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.eval.commands import PATIENT, Run
from tests.memsys.service.rest.serving import Served, serving

pytestmark = pytest.mark.slow  # a server and its embedder are started for each


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    with serving(tmp_path / "server", config=None) as started:  # with the embedder of a run
        yield started


def turns(run: Run) -> list[list[list[str]]]:
    """What each question retrieved, best first, as ids of turns."""
    return [[one[1] for one in record["retrieved"]] for record in run.records]


def scores(run: Run) -> list[float]:
    return [one[2] for record in run.records for one in record["retrieved"]]


def test_it_retrieves_what_vector_only_does_and_leaves_nothing_there_and_errors_are_counted(
    start, tmp_path, small, server, made
):
    rest = (*small, "strategy=rest", f"strategy.url={server.url}")
    folders = [tmp_path / name for name in ("one", "session", "inside")]
    for folder, arguments in zip(
        folders,
        [rest, (*rest, "strategy.batch=null"), (*small, "strategy=vector_only")],
        strict=True,
    ):
        start(*arguments, f"hydra.run.dir={folder}").ok()
    one, session, inside = (Run(folder) for folder in folders)
    assert len(inside.records) == 21
    assert turns(one) == turns(session) == turns(inside)
    assert scores(one) == pytest.approx(scores(inside), abs=1e-5)
    assert one.manifest["system"]["url"] == server.url
    stores = [line["store"] for line in one.ingests if line["phase"] == "index"]
    assert stores == [{"memories": 6}] * 3
    assert all(record["latency_ms"]["retrieve"] > 0 for record in one.records)
    # From the file itself: an owner that nobody knows cannot be asked for.
    import sqlite3  # noqa: PLC0415

    with sqlite3.connect(tmp_path / "server" / "memories" / "memories.sqlite") as db:
        assert db.execute("SELECT count(*) FROM memories").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM changes").fetchone()[0] == 2 * 2 * 18

    # The server is killed in the middle of another run.
    from baselines.libraries.rest import Rest  # noqa: PLC0415

    asked: list[str] = []
    retrieve = Rest.retrieve

    def fatal(self: Rest, query: object) -> object:
        asked.append(query.id)  # type: ignore[attr-defined]
        if query.id == "beech/3":  # type: ignore[attr-defined]
            server.process.kill()
            server.process.wait(10)
        return retrieve(self, query)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rest, "retrieve", fatal)
        run = made("strategy=rest", f"strategy.url={server.url}", *PATIENT)
    failed = {r["id"]: r["error"] for r in run.records if r["status"] == "error"}
    assert set(failed) == {f"beech/{i}" for i in range(3, 7)} | {f"cedar/{i}" for i in range(7)}
    assert run.summary["errors"] == len(failed) == 11
    assert {error["phase"] for name, error in failed.items() if "beech" in name} == {"retrieve"}
    assert {error["phase"] for name, error in failed.items() if "cedar" in name} == {
        "ingest session_1"
    }
    assert {error["kind"] for error in failed.values()} == {"ServiceError"}


def test_the_benchmarked_run_can_be_served_and_finds_the_same(start, tmp_path, small, monkeypatch):
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    inside = tmp_path / "inside"
    assert start(*small, "strategy=hybrid_rank", f"hydra.run.dir={inside}").code == 0
    with serving(tmp_path / "server", "--config", str(inside), config=None) as server:
        outside = tmp_path / "outside"
        options = ("strategy=rest", f"strategy.url={server.url}", "strategy.batch=null")
        assert start(*small, *options, f"hydra.run.dir={outside}").code == 0
    assert turns(Run(outside)) == turns(Run(inside))
    assert json.loads((outside / "manifest.json").read_text())["system"]["batch"] is None
