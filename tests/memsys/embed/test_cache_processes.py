"""The cache between processes: several at once, and one that is killed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from tests.memsys.build import BagOfWords

ROOT = Path(__file__).parents[3]
SCRIPT = """
import os, sys
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from tests.memsys.build import BagOfWords

class Mortal(BagOfWords):
    def embed(self, texts):
        if len(self.batches) == {dies_at}:
            os._exit(9)
        return super().embed(texts)

print("ready", flush=True)
sys.stdin.readline()
for folder in sys.argv[1:]:
    cached = CachedEmbedder(Mortal(), folder, Meter())
    cached.documents([f"word{{i}}" for i in range({first}, {last})])
"""


def start(folders: list[Path], **numbers: int) -> subprocess.Popen[str]:
    """A process that fills the caches in `folders` as soon as it reads a line."""
    script = SCRIPT.format(**{"dies_at": -1, "first": 0, "last": 200, **numbers})
    command = [sys.executable, "-c", script, *map(str, folders)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def end(*processes: subprocess.Popen[str]) -> list[int]:
    """Let them go on at the same moment; their exit codes."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
    return [process.returncode for process in processes]


def test_a_kill_loses_nothing_that_was_written(tmp_path):
    # Batches of 64 after the warm-up: it dies in the third, so 128 are safe.
    assert end(start([tmp_path], dies_at=3)) == [9]
    embedder = BagOfWords()
    texts = [f"word{i}" for i in range(200)]
    vectors = CachedEmbedder(embedder, tmp_path, Meter()).documents(texts)
    asked = [text for batch in embedder.batches[1:] for text in batch]
    assert asked == texts[128:]
    assert np.array_equal(vectors, BagOfWords().embed(texts)[0])


def test_processes_share_one_file_from_its_first_moment(tmp_path):
    folders = [tmp_path / str(i) for i in range(10)]
    assert end(*[start(folders, first=low, last=low + 90) for low in (0, 30)]) == [0, 0]
    texts = [f"word{i}" for i in range(120)]
    expected = BagOfWords().embed(texts)[0]
    for folder in folders:
        embedder = BagOfWords()
        vectors = CachedEmbedder(embedder, folder, Meter()).documents(texts)
        assert embedder.batches == []
        assert np.array_equal(vectors, expected)


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
