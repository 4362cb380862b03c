"""A run over HTTP against the real server finds what the same ranking finds in process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.eval.commands import PATIENT, Run
from tests.memsys.service.rest.conftest import Served, serving

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


def test_it_retrieves_what_vector_only_does_and_leaves_nothing(tmp_path, server, made):
    rest = ("strategy=rest", f"strategy.url={server.url}")
    one, session = made(*rest), made(*rest, "strategy.batch=null")
    inside = made("strategy=vector_only")
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
        run = made(*rest, *PATIENT)
    failed = {r["id"]: r["error"] for r in run.records if r["status"] == "error"}
    assert {name: error["phase"] for name, error in failed.items()} == {
        **{f"beech/{i}": "retrieve" for i in range(3, 7)},
        **{f"cedar/{i}": "ingest session_1" for i in range(7)},
    }
    assert run.summary["errors"] == 11
    assert {error["kind"] for error in failed.values()} == {"ServiceError"}


def test_the_benchmarked_run_can_be_served_and_finds_the_same(made, tmp_path, monkeypatch):
    monkeypatch.delenv("MEMSYS_API_KEY", raising=False)
    inside = made("strategy=hybrid_rank")
    with serving(tmp_path / "server", "--config", str(inside.folder), config=None) as server:
        outside = made("strategy=rest", f"strategy.url={server.url}", "strategy.batch=null")
    assert turns(outside) == turns(inside)
    assert outside.manifest["system"]["batch"] is None
