"""Any file is loaded as it says, or refused in one line that names the place."""

from __future__ import annotations

import itertools
import json
import os
import re
import socket
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.locomo import LoCoMo
from eval.datasets.longmemeval import LongMemEval
from memsys.core.errors import InputError
from tests.eval.datasets.data_variants import (
    LONG,
    MISSING,
    N,
    base,
    put,
    variants,
)
from tests.eval.datasets.made_longmemeval import instance

VARIANTS = variants()


def refusal(load: Callable[[], object]) -> str:
    """The one line of the error."""
    with pytest.raises(InputError) as caught:
        load()
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 1_000
    return line


@pytest.mark.parametrize(
    "variant", VARIANTS, ids=[f"{n}-{one.name:.50}" for n, one in enumerate(VARIANTS)]
)
def test_files_are_loaded_or_refused_in_one_line(variant, tmp_path):
    path = tmp_path / "my.json"
    source = LoCoMo(name="mine", path=str(path))
    for data in variant.files:
        path.write_bytes(data)
        if isinstance(variant.expected, str):
            line = refusal(source.load)
            assert "my.json" in line
            assert re.search(variant.expected, line), line
            continue
        dataset = source.load()
        assert len(dataset.questions) == variant.expected
        ids = [f"{one.id}/{number}" for one in dataset.conversations for number in range(N)]
        assert [question.id for question in dataset.questions] == ids
        rows = [asdict(one) for one in dataset.questions]
        json.dumps(rows, ensure_ascii=False, default=str).encode()


@pytest.mark.parametrize(
    ("given", "gold"),
    [(5, "5"), (0, "0"), (1.5, "1.5"), (-1, "-1"), (" a ", " a "), (2**62, str(2**62))],
)
def test_an_answer_is_read_as_written(given, gold, tmp_path):
    path = tmp_path / "my.json"
    path.write_text(json.dumps([put(base(), "qa/3/answer", given)]))
    loaded = LoCoMo(name="mine", path=str(path)).load()
    assert loaded.questions[3].gold == gold
    assert loaded.questions[2].gold == base()["qa"][2]["answer"]


def test_sessions_out_of_date_order_are_noted(tmp_path):
    path = tmp_path / "my.json"
    path.write_text(json.dumps([base()]))
    assert not LoCoMo(name="mine", path=str(path)).load().repairs
    path.write_text(
        json.dumps([put(base(), "conversation/session_4_date_time", "2001-01-01 10:00")])
    )
    dataset = LoCoMo(name="mine", path=str(path)).load()
    [line] = dataset.repairs
    assert line.startswith("my.json: sample harbour: session_4_date_time: earlier than that of")
    assert [one.id for one in dataset.conversations[0].sessions][2:5] == [
        "session_3",
        "session_4",
        "session_5",
    ]


_TURN = "haystack_sessions/0/0"
_IN_TURN = r"q1: haystack_sessions\[0\]\[0\]"
# Place, values that are put there, and the expectation.
LONGMEMEVAL: list[tuple[str, list[Any], int | str]] = [
    ("question_id", [None, 5, "", [], {}, True], "#1: question_id: .*; must be a text"),
    ("question_type", [None], "q1: question_type: missing"),
    ("question_type", [5, "", "x", LONG, "adversarial"], "q1: question_type: "),
    ("question_type", ["multi_session"], "q1: question_type: 'multi_session' is unknown"),
    ("answer", [None, MISSING, "", " "], "q1: answer: missing or empty"),
    ("answer", [True, [], {}], "q1: answer: .* must be a text or a number"),
    ("answer", ["x", 7, 1.5, LONG], 1),
    ("question_date", [5, "", "2023-06-01", "1 May 2023"], "q1: question_date: .* is no time"),
    ("question_date", ["2023/13/01 (Sat) 01:00", "2023/02/30 (Thu) 10:00"], "question_date: '2023"),
    ("haystack_sessions", [5, {}, "x", [], [[], [], []]], "q1: haystack_sessions"),
    ("haystack_sessions", [[[], []]], "q1: haystack_sessions: no turns"),
    ("haystack_sessions/0", [None, 5, {}, "x"], r"haystack_sessions\[0\]: .*; must be a list"),
    (_TURN, [None, 5, [], "x"], f"{_IN_TURN}: .*; must be an object"),
    (f"{_TURN}/role", ["system"], rf"{_IN_TURN}\.role: 'system'"),
    (f"{_TURN}/content", [""], rf"{_IN_TURN}\.content: empty"),
    (f"{_TURN}/has_answer", ["yes"], rf"{_IN_TURN}\.has_answer: is a text; must be"),
    ("haystack_session_ids/0", [5, "", []], r"q1: haystack_session_ids\[0\]"),
    ("haystack_dates/0", [None, 5, "", "soon", LONG], r"q1: haystack_dates\[0\]"),
    ("haystack_dates", [["2023/05/20 (Sat) 18:30"]], "the three lists must have equal lengths"),
    ("haystack_dates", [[]], "2 haystack_sessions, 2 haystack_session_ids, 0 haystack_dates"),
    ("answer_session_ids/1", [None, 5, [], {}], r"answer_session_ids\[1\]: .*; must be a text"),
    ("answer_session_ids/1", ["x", LONG], r"q1: answer_session_ids\[1\]: .* is no session"),
    ("answer_session_ids", [[]], 1),
    ("unknown", [[None]], 1),
]


@pytest.mark.parametrize(("place", "values", "expected"), LONGMEMEVAL)
def test_histories_are_loaded_or_refused_in_one_line(place, values, expected, tmp_path):
    path = tmp_path / "my.json"
    source = LongMemEval(name="mine", path=str(path))
    for value in values:
        path.write_text(json.dumps([put(instance(), place, value)]))
        if isinstance(expected, str):
            line = refusal(source.load)
            assert "my.json" in line
            assert re.search(expected, line), line
        else:
            assert len(source.load().questions) == expected


def test_session_ids_never_collide(tmp_path):
    path = tmp_path / "my.json"
    sessions = [instance()["haystack_sessions"][0]] * 3
    dates = ["2023/05/20 (Sat) 18:30"] * 3
    refused = 0
    for ids in sorted(set(itertools.permutations(["a", "a", "a#2"]))):
        made = instance(
            haystack_sessions=sessions,
            haystack_dates=dates,
            haystack_session_ids=list(ids),
            answer_session_ids=[],
        )
        path.write_text(json.dumps([made]))
        source = LongMemEval(name="mine", path=str(path), session_ids="published")
        if ids == ("a", "a", "a#2"):
            [conversation] = source.load().conversations
            assert [one.id for one in conversation.sessions] == ["a", "a#2", "a#2#2"]
        else:
            refused += 1
            assert "haystack_session_ids[" in refusal(source.load)
    assert refused == 2


def _unusable(kind: str, folder: Path) -> str:
    path = folder / "x.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
        server.close()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "dangling":
        path.symlink_to(folder / "nowhere")
    elif kind == "not UTF-8":
        path = Path(os.fsdecode(os.fsencode(folder) + b"/\xff.json"))
        path.write_text("[]")
    elif kind == "folder":
        path.mkdir()
    else:
        return kind
    return str(path)


UNUSABLE = [
    ("pipe", "is a pipe; name a regular file"),
    ("socket", "is a socket"),
    ("loop", "symbolic links"),
    ("dangling", "no such file or folder"),
    ("not UTF-8", "its name is not UTF-8; rename it"),
    ("folder", r"no \*\.json in this folder"),
    ("/dev/zero", "is a device"),
    ("/dev/null", "is a device"),
    ("x" * 300, "name too long"),
    ("x/" * 3_000, "name too long"),
    ("~nobody-has-this-name/x", "no such file or folder"),
    ("a\x00b", "null"),
    ("\ud800", "cannot be read|no such file"),
    ("nowhere.json", "no such file or folder"),
]


@pytest.mark.parametrize(("kind", "says"), UNUSABLE)
def test_what_is_no_readable_file_is_refused_at_once(kind, says, tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    line = refusal(LoCoMo(name="mine", path=_unusable(kind, folder)).load)
    assert re.search(says, line), line
    if kind in ("pipe", "/dev/zero"):
        name = _unusable(kind, tmp_path)
        whole = str(Path(__file__).parents[3] / "data/sample")
        for option in ({"key": "corrected", "key_file": name}, {"subset": name}):
            refusal(LoCoMo(name="mine", path=whole, **option).load)  # type: ignore[arg-type]
