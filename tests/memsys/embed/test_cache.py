import hashlib
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.core.types import Usage, Vectors
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Call, Meter
from tests.memsys.build import BagOfWords


class Slow(BagOfWords):
    """Takes 20 ms a call."""

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        time.sleep(0.02)
        return super().embed(texts)


class Notes(Meter):
    """A meter that also keeps its calls, so that latencies can be compared exactly."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def note(self, call: Call) -> None:
        self.calls.append(call)
        super().note(call)


def asked(embedder: BagOfWords) -> list[str]:
    """What was embedded, but for the warm-up."""
    return [text for batch in embedder.batches[1:] for text in batch]


def test_what_was_embedded_once_is_never_embedded_again(tmp_path):
    first, second = BagOfWords(), BagOfWords()
    cold = CachedEmbedder(first, tmp_path, Meter()).documents(["a bowl", "the kiln"])
    again = CachedEmbedder(second, tmp_path, Meter())
    warm = again.documents(["the kiln", "a bowl", "the sea"])
    assert warm[[1, 0]].tobytes() == cold.tobytes()
    assert asked(first) == ["a bowl", "the kiln"]
    texts = ("a bowl", "the kiln", "the sea")
    keys = {hashlib.sha256(f"document\0{text}".encode()).hexdigest() for text in texts}
    assert blobs(tmp_path).keys() == keys  # those of earlier versions of memsys
    again.documents(["the sea", "a bowl"])
    assert asked(second) == ["the sea"]
    for _ in range(2):  # a query is not a document
        assert again.query("a bowl").shape == (64,)
    assert asked(second) == ["the sea", "a bowl"]


def test_the_vectors_are_the_embedder_s_own_in_the_order_asked(tmp_path):
    texts = [f"word{i}" for i in range(150)]  # more than two batches
    embedder, meter = BagOfWords(), Meter()
    cached = CachedEmbedder(embedder, tmp_path, meter)
    with meter.phase() as reading:
        cached.documents([*texts[:30], *texts[:30]])
    assert asked(embedder) == texts[:30]  # a repeated text once, and live
    assert reading.source == "live"
    assert np.array_equal(cached.documents(texts), BagOfWords().embed(texts)[0])


@pytest.mark.parametrize("records_calls", [False, True])
def test_a_model_s_marks_stand_before_texts_by_kind(records_calls, tmp_path):
    embedder = BagOfWords()
    embedder.query_prefix, embedder.document_prefix = "query: ", "passage: "
    embedder.records_calls = records_calls  # type: ignore[misc]
    cached = CachedEmbedder(embedder, tmp_path, Meter())
    cached.documents(["a bowl", "the kiln"])
    cached.query("a bowl")
    expected = [["passage: a bowl", "passage: the kiln"], ["query: a bowl"]]
    assert embedder.batches[not records_calls :] == expected  # but for the warm-up


def test_a_replayed_query_reports_the_latency_of_its_live_call(tmp_path):
    notes, embedder = Notes(), Slow()
    with notes.phase() as first:
        CachedEmbedder(Slow(), tmp_path, notes).query("a bowl")
    assert first.wall_ms - first.ms >= 20  # the warm-up, with the loading of a model, is no latency
    assert first.source == "live"
    with notes.phase() as reading:
        CachedEmbedder(embedder, tmp_path, notes).query("a bowl")
    live, again = notes.calls
    assert (live.cached, again.cached, again.replayed) == (False, True, False)  # of no model
    assert (live.usage, again.usage) == (Usage(calls=1, input_tokens=1), Usage())
    assert (embedder.batches, reading.source) == ([], "vectors")
    assert again.live_ms == live.live_ms >= 20
    assert min(first.ms, reading.ms) >= 20
    with notes.phase() as fresh:
        CachedEmbedder(Slow(), tmp_path, notes, fresh_queries=True).query("a bowl")
    assert fresh.source == "live"


def test_with_fresh_queries_what_the_run_embedded_itself_is_read_as_from_a_store(tmp_path):
    notes = Notes()
    CachedEmbedder(Slow(), tmp_path, Meter()).documents(["the kiln"])
    fresh = CachedEmbedder(Slow(), tmp_path, notes, fresh_queries=True)
    for texts in (["a bowl"], ["a bowl"], ["a bowl", "the kiln"]):
        fresh.documents(texts)
    assert [call.cached for call in notes.calls] == [False, False, True]
    embedded, read, both = notes.calls
    assert embedded.live_ms >= 20
    assert read.live_ms == read.spent_ms
    assert both.live_ms >= 20  # the kiln, as it was recorded


def test_documents_share_their_batch_s_time(tmp_path):
    notes = Notes()
    cached = CachedEmbedder(Slow(), tmp_path, notes)
    cached.documents(["a", "b", "c", "d"])
    cached.documents(["a"])
    cached.documents(["b", "b", "e"])
    four, one, mixed = notes.calls
    assert one.live_ms == pytest.approx(four.live_ms / 4)
    assert mixed.cached
    assert mixed.live_ms >= one.live_ms + 20  # one recorded and one live
    cached.documents(["a", "a", "a"])
    assert notes.calls[-1].live_ms == pytest.approx(one.live_ms)


@pytest.mark.parametrize("other", ["org_model", "org:model", "org/model/", "../../up"])
def test_embedders_of_different_names_never_mix_or_leave_the_folder(tmp_path, other):
    one = CachedEmbedder(BagOfWords("org/model", 64), tmp_path / "cache", Meter())
    two = CachedEmbedder(BagOfWords(other, 32), tmp_path / "cache", Meter())
    assert [each.query("a bowl").shape for each in (one, two)] == [(64,), (32,)]
    assert (one.name, two.name) == ("org/model", other)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_file_or_folder_that_is_no_cache_or_damaged_is_named(tmp_path):
    path = tmp_path / "bag.sqlite"
    path.write_text("not a database, but long enough to look at" * 100)
    with pytest.raises(InputError, match=r"bag\.sqlite.*delete it"):
        CachedEmbedder(BagOfWords(), tmp_path, Meter())
    with pytest.raises(InputError, match=r"cache=.*: not a usable folder"):
        CachedEmbedder(BagOfWords(), path, Meter())
    path.unlink()
    texts = [f"word{i}" for i in range(500)]
    CachedEmbedder(BagOfWords(), tmp_path, Meter()).documents(texts)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[8192:-8192] = b"\xff" * (len(data) - 16384)
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"bag\.sqlite.*delete it"):
        CachedEmbedder(BagOfWords(), tmp_path, Meter()).documents(texts)


def blobs(folder: Path) -> dict[str, tuple[object, object]]:
    with sqlite3.connect(folder / "bag.sqlite") as db:
        return {k: (v, ms) for k, v, ms in db.execute("SELECT key, vector, ms FROM vectors")}


def unit(numbers: object) -> bytes:
    return np.asarray(numbers, dtype=np.float32).tobytes()


UNIT = np.full(64, 1 / 8)
OTHER = unit(np.eye(32)[0])  # a unit vector, but of another model
DAMAGE: dict[str, object] = {
    "cut": unit(UNIT[:32]),
    "empty": b"",
    "longer": unit([1 / 8] * 65),
    "one NaN": unit([np.nan, *UNIT[1:]]),
    "zero": unit([0] * 64),
    "of another model": OTHER,
    "not of length 1": unit(UNIT * 2),
    "almost of length 1": unit(UNIT * 1.01),
    "null": None,
    "text": "a vector",
}


@pytest.mark.parametrize("every", [False, True], ids=["one", "every"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_vector_is_embedded_anew(damage, every, tmp_path, caplog):
    texts = ["a bowl", "the kiln", "some clay"]
    right = CachedEmbedder(BagOfWords(), tmp_path, Meter()).documents(texts)
    before = blobs(tmp_path)
    every = every and damage != OTHER  # there would be nothing to compare with
    keys = list(before) if every else [min(before)]
    with sqlite3.connect(tmp_path / "bag.sqlite") as db:
        changes = [(damage, key) for key in keys]
        db.executemany("UPDATE vectors SET vector = ? WHERE key = ?", changes)
    embedder = BagOfWords()
    cached = CachedEmbedder(embedder, tmp_path, Meter())
    for _ in range(2):
        assert cached.documents(texts).tobytes() == right.tobytes()
        assert np.array_equal(cached.documents(texts[:1])[0], right[0])
    if not every:
        assert len(asked(embedder)) == 1
    after = blobs(tmp_path)
    assert [after[key][0] for key in before] == [vector for vector, _ in before.values()]
    assert len(caplog.records) == 1


@pytest.mark.parametrize("ms", [None, "long", float("inf"), float("-inf"), -1.0, b"x"])
def test_a_latency_that_is_none_is_measured_anew(ms, tmp_path):
    CachedEmbedder(BagOfWords(), tmp_path, Meter()).query("a bowl")
    with sqlite3.connect(tmp_path / "bag.sqlite") as db:
        db.execute("UPDATE vectors SET ms = ?", (ms,))
    embedder, meter = BagOfWords(), Meter()
    with meter.phase() as reading:
        CachedEmbedder(embedder, tmp_path, meter).query("a bowl")
    assert (asked(embedder), reading.source) == (["a bowl"], "live")
    assert 0 <= reading.ms < 60_000


def test_a_text_without_words_for_the_model_is_no_damage(tmp_path, caplog):
    for _ in range(2):
        embedder = BagOfWords()
        cached = CachedEmbedder(embedder, tmp_path, Meter())
        for _ in range(2):
            assert not cached.documents(["?"]).any()
        assert asked(embedder) == ["?"]  # once a process: zeros may be damage
    assert caplog.records == []


def test_an_end_loses_nothing_that_was_written(tmp_path):
    class Mortal(BagOfWords):
        def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
            if len(self.batches) == 3:  # two of 64 after the warm-up
                raise KeyboardInterrupt
            return super().embed(texts)

    texts = [f"word{i}" for i in range(200)]
    with pytest.raises(KeyboardInterrupt):
        CachedEmbedder(Mortal(), tmp_path, Meter()).documents(texts)
    embedder = BagOfWords()
    vectors = CachedEmbedder(embedder, tmp_path, Meter()).documents(texts)
    assert asked(embedder) == texts[128:]
    assert np.array_equal(vectors, BagOfWords().embed(texts)[0])


def test_a_new_file_that_another_process_is_writing_is_waited_for(tmp_path):
    # SQLite refuses the write-ahead log at once here, however long its time-out.
    other = sqlite3.connect(tmp_path / "bag.sqlite", check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.rollback)
    release.start()
    vector = CachedEmbedder(BagOfWords(), tmp_path, Meter()).query("a bowl")
    release.join()
    other.close()
    assert vector.tobytes() == BagOfWords().embed(["a bowl"])[0].tobytes()
