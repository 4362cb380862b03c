"""Cost of counting tokens in long unbroken runs of characters, and in a long context."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median

from eval.rendering.terminal import plain
from eval.studies.bench.generated import write_dataset
from eval.studies.bench.processes import measure_run
from memsys.core.tokens import count_tokens

_LENGTHS = (1_000, 10_000, 100_000)
_CONTEXT = 26_800  # tokens, the mean of LoCoMo's conversations
_WORDS = "Yesterday we walked to the harbour and she asked me about the old violin. "


def tokens() -> Iterator[str]:
    """Yield milliseconds of count_tokens on unbroken runs, seconds of whole runs that contain one
    as a turn, and milliseconds of a context as long as LoCoMo's conversations.
    """
    count_tokens("the ranks are loaded")
    random = Random(0)  # noqa: S311 - no secret
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for length in _LENGTHS:
            chinese = "".join(chr(random.randrange(0x4E00, 0x9FA5)) for _ in range(length))
            letters = "".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(length))
            path = _with_turn(Path(folder) / "made.json", letters)
            run = measure_run(["strategy=bm25", f"dataset.path={path}", "k=5"], Path(folder))
            texts = ("a" * length, letters, chinese)
            rows.append([f"{length:,}", *map(_milliseconds, texts), f"{run.wall_s:.1f}"])
    header = ["unbroken characters", "one letter, ms", "letters, ms", "Chinese, ms"]
    yield plain([*header, "run with such a turn, s"], rows)
    text = _WORDS * (_CONTEXT * 100 // count_tokens(_WORDS * 100))
    yield f"a context of {count_tokens(text):,} tokens: {_milliseconds(text)} ms"


def _milliseconds(text: str) -> str:
    """Return the median of three counts; each is of another text, as counts may be remembered."""
    taken = []
    for end in ("", ".", "!"):
        started = time.perf_counter()
        count_tokens(text + end)
        taken.append((time.perf_counter() - started) * 1000)
    return f"{median(taken):.1f}"


def _with_turn(path: Path, text: str) -> Path:
    """Write a small data set, one of whose turns is `text`."""
    conversations = json.loads(write_dataset(path, 2, 5).read_bytes())
    conversations[0]["conversation"]["session_2"][1]["text"] = text
    path.write_text(json.dumps(conversations), encoding="utf-8")
    return path
