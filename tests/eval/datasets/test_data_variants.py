"""Any file is loaded as it says, or refused in one line that names the place."""

import copy
import functools
import gzip
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.locomo import LoCoMo
from memsys.core.errors import InputError

SAMPLE = Path(__file__).parents[3] / "data" / "sample"


class _Missing:
    def __repr__(self) -> str:
        return "missing"  # the same in every process: pytest-xdist compares names of tests


MISSING = _Missing()
N = 5  # questions of the changed conversation
SESSIONS = 5
LONG = "a" * 20_000
HUGE = 10**400  # json writes it; reading refuses it
DIGITS = "9" * 5_000
Expected = int | str  # a number of questions, or a pattern of the one line of an error


@functools.cache
def _base_text() -> str:
    sample = json.loads((SAMPLE / "harbour.json").read_text(encoding="utf-8"))[0]
    asked = [*sample["qa"][:4], sample["qa"][75]]
    sample["qa"] = [{**one, "evidence": ["D1:1"]} for one in asked]
    for part in (sample["conversation"], sample["observation"]):
        for name in [*part]:
            if name.startswith("session") and int(name.split("_")[1]) > SESSIONS:
                del part[name]
    return json.dumps(sample)


def base() -> dict[str, Any]:
    """The first sessions of the bundled conversation, and five questions, the last of type 5."""
    sample: dict[str, Any] = json.loads(_base_text())
    return sample


def put(value: Any, place: str, new: Any) -> Any:
    """Return a copy of `value` with `new` at `place` (a/b/0); MISSING removes it."""
    value = copy.deepcopy(value)
    *path, last = [int(part) if part.isdecimal() else part for part in place.split("/")]
    target = value
    for part in path:
        target = target[part]
    if new is MISSING:
        del target[last]
    else:
        target[last] = new
    return value


def refusal(load: Callable[[], object]) -> str:
    """The one line of the error."""
    with pytest.raises(InputError) as caught:
        load()
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 1_000
    return line


def check(
    path: Path, data: bytes, expected: Expected, of: Callable[..., Any] = LoCoMo, n: int = N
) -> None:
    """Check what a class makes of a file, whose conversations have `n` questions each."""
    path.write_bytes(data)
    source = of(name="mine", path=str(path))
    if isinstance(expected, str):
        line = refusal(source.load)
        assert "my.json" in line
        assert re.search(expected, line), line
        return
    dataset = source.load()
    ids = [f"{one.id}/{number}" for one in dataset.conversations for number in range(n)]
    assert [question.id for question in dataset.questions] == ids
    assert len(ids) == expected
    rows = [asdict(one) for one in dataset.questions]
    json.dumps(rows, ensure_ascii=False, default=str).encode()


_CATEGORIES = "use one of 1 multi_hop, 2 temporal, 3 open_domain, 4 single_hop, 5 adversarial"
_NO_ANSWER = r"harbour: qa\[3\]\.answer: missing or empty; only category 5 may omit it"
_TURN = "conversation/session_1/0"
_IN = r"harbour: session_1\[0\]"
_TIME = "conversation/session_1_date_time"
_FACT = "observation/session_1_observation"
# Place, values that are put there, and what is expected of each.
EDITS: list[tuple[str, list[Any], Expected]] = [
    ("sample_id", [None, 5, True, [], MISSING], "my.json: sample #1: sample_id: must be a text"),
    ("conversation", ["x", 5, []], r"harbour: conversation: must be an object {...}"),
    ("qa", [None, "x", 5, {}], r"harbour: qa: must be a list \[...\]"),
    ("qa/3", [None, "x", []], r"harbour: qa\[3\]: must be an object {...}"),
    ("qa/3/question", [None, 1.5], r"harbour: qa\[3\]\.question: must be a text"),
    ("qa/3/question", [MISSING], r"harbour: qa\[3\]\.question: missing; add it"),
    ("qa/3/question", ["", " \t", "\u200b\ufeff \u2060"], r"\.question: empty; write a text"),
    ("qa/3/category", [0, "1", True, None, LONG], rf"\.category: .* is unknown; {_CATEGORIES}"),
    ("qa/3/category", [MISSING], r"qa\[3\]\.category: missing; add it"),
    ("qa/3/answer", [MISSING, None, " ", "\u200b"], _NO_ANSWER),
    ("qa/3/answer", [True, [], {}], r"harbour: qa\[3\]\.answer: .* must be a text or a number"),
    ("qa/3/answer", [5, -1, 1.5, 2**63 - 1, LONG, "=1+1"], N),
    ("qa/3/answer", [HUGE, "x\udfff", 2**63, float("nan"), 1e999], r"\[0\]\.qa\[3\]\.answer: "),
    ("qa/4/answer", ["an answer to type 5"], N),
    ("qa/3/adversarial_answer", [[]], r"qa\[3\]\.adversarial_answer: \[\] must be a text or a"),
    ("qa/3/evidence", [None, MISSING, [], "D1:1", "D1:1; D1:2", ["D1:1"] * 3], N),
    ("qa/3/evidence", [5, [None], [["D1:1"]], {"a": 1}], r"evidence: .* are no texts; write turn"),
    ("qa/3/evidence", [["D1:1; D99:1"], [""], [LONG]], r"evidence: .* is no turn's dia_id"),
    ("qa/3/question", ["\N{RIGHT-TO-LEFT OVERRIDE}e\u0301 \N{GRINNING FACE}\x00\u2028"], N),
    ("qa/3/unknown", [{"a": [None]}], N),
    ("qa", [[]], "no question is left"),
    ("sample_id", ["a/b", "=1+1", "0", LONG], N),
    (f"{_TURN}/text", [LONG], N),
    (f"{_TURN}/speaker", ["A\nB: a turn", "A\u2028B"], rf"{_IN}\.speaker: .* has a line break"),
    ("conversation/speaker_a", ["A\nB: a turn"], "harbour: speaker_a: .* has a line break"),
    ("conversation/speaker_a", [5, None], N),
    ("conversation/session_1/1/dia_id", ["D1:1"], r"session_1\[1\]\.dia_id: 'D1:1' is used twice"),
    ("conversation/session_2/0/dia_id", ["D1:1"], r"session_2\[0\]\.dia_id: 'D1:1' is used twice"),
    (f"{_TURN}/blip_caption", [5, ["x"], ""], rf"{_IN}\.blip_caption: .* a text"),
    (f"{_TURN}/blip_caption", [None], N),
    (f"{_TURN}/img_url", [5, {"a": 1}, [{"url": "x"}]], rf"{_IN}\.img_url: must be an address, or"),
    (f"{_TURN}/img_url", [[], None, "http://x/y", ["http://x"]], N),
    (
        _TIME,
        [
            *("", 5, [], None, MISSING),
            *("yesterday", "2023-13-01", "0000-01-01", "1:56 pm on 31 February, 2023", LONG),
            *("13:00 pm on 8 May, 2023", "0:10 am on 8 May, 2023", "1:56 pm on 8 Mai, 2023"),
        ],
        "harbour: session_1_date_time: .* is no time; write ",
    ),
    (_TIME, ["2023-05-08T13:56:00+02:00", "12:00 am on 1 January, 0001", "9999-12-31 23:59"], N),
    *(
        (f"conversation/{key}", [[{"dia_id": "D4:1"}]], f"{key}: unknown field; sessions are named")
        for key in ("sesion_4", "sess_4", "chat", "Session_1")
    ),
    (f"conversation/session_{DIGITS}x", [[]], "unknown field"),
    ("conversation/sesion_4_date_time", ["never"], "sesion_4_date_time: unknown field"),
    ("conversation/season", ["spring"], N),
    ("conversation/session_01", [[]], "harbour: session_01: the same session as session_1"),
    ("conversation/session_99", [[]], N),
    ("conversation/session_99_date_time", ["never"], N),
    ("conversation", [{}, {"session_1": []}], "harbour: session_1: no turns; add session_1"),
    *(
        (f"observation/{key}", [{}], f"observation.{key}: belongs to no session")
        for key in ("session_1", "x", "session_999_observation")
    ),
    (_FACT, [5], r"observation\.session_1_observation: must be an object"),
    (_FACT, [{"A": 5}, {"A": "x"}], r"observation\.A: must be a list"),
    (
        _FACT,
        [{"A": [one]} for one in (5, "x", [], ["fact"], [" ", "D1:1"], ["fact", 5])],
        r"A\[0\]: must be a text and its turns",
    ),
    (_FACT, [{"A": [["fact", []]]}], r"A\[0\]: names no turn"),
    # A fact of session 1 that rests on session 2 would know the future.
    (_FACT, [{"A": [["fact", one]]} for one in ("D99:1", "D2:1")], r"A\[0\]: 'D\d+:1' is no turn"),
    (_FACT, [{"A": [["fact", "D1:1"]]}], N),
    ("observation", [MISSING, None, {}], N),
]


@pytest.mark.parametrize(
    ("place", "values", "expected"), EDITS, ids=[f"{n}-{one[0]:.40}" for n, one in enumerate(EDITS)]
)
def test_samples_are_loaded_or_refused_in_one_line(place, values, expected, tmp_path):
    for value in values:
        check(tmp_path / "my.json", json.dumps([put(base(), place, value)]).encode(), expected)


def test_files_are_loaded_or_refused_in_one_line(tmp_path):
    sample = base()
    other = put(sample, "sample_id", "other")
    alone, whole, both = (json.dumps(one).encode() for one in (sample, [sample], [sample, other]))
    packed = gzip.compress(whole)
    files: list[tuple[bytes, Expected]] = [
        (b"{not json", r"my\.json: not JSON \(column 2"),
        (b"[]", "must be a list of samples"),
        *((one, "#1: .* an object") for one in (b"[[]]", b"[5]", b"null", b"true")),
        (b"{}", "#1: sample_id: must be a text"),
        (b"[NaN]", r"my\.json: \[0\]: NaN is not JSON"),
        (b"\xef\xbb\xbf" + whole, N),
        (packed, N),
        (alone, N),
        (both, 2 * N),
        (whole[:-1] + b", 5]", "#2: must be an object"),
        (whole.replace(b'"category": 1', b'"category": 1, "category": 2', 1), "'category' occurs"),
    ]
    for data, expected in files:
        check(tmp_path / "my.json", data, expected)


def test_an_answer_is_read_as_written(load):
    for given in (5, 0, 1.5, -1, " a ", 2**62):
        loaded = load([put(base(), "qa/3/answer", given)])
        assert loaded.questions[3].gold == str(given)
        assert loaded.questions[2].gold == base()["qa"][2]["answer"]


def test_sessions_out_of_date_order_are_noted(load):
    assert not load([base()]).repairs
    dataset = load([put(base(), "conversation/session_4_date_time", "2001-01-01 10:00")])
    [line] = dataset.repairs
    assert line.startswith("my.json: sample harbour: session_4_date_time: earlier than that of")
    ids = [one.id for one in dataset.conversations[0].sessions]
    assert ids == [f"session_{number}" for number in range(1, SESSIONS + 1)]
