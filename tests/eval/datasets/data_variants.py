"""Variants of a bundled conversation: what is put where, and what loading it must say.

An expectation is the number of questions, or a pattern of the one line of an error.
"""

from __future__ import annotations

import copy
import functools
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[3] / "data" / "sample"


class _Missing:
    def __repr__(self) -> str:
        return "missing"  # the same in every process: pytest-xdist compares names of tests


MISSING = _Missing()

N = 5  # questions of the changed conversation
SESSIONS = 5
LONG = "a" * 20_000
DEEP = "[" * 100_000
HUGE = 10**400  # json writes it; reading refuses it
DIGITS = "9" * 5_000
# Values of the wrong type, by what messages call them.
_STATES: dict[str, list[Any]] = {
    "missing": [None],
    "empty": ["", " \t"],
    "is a number": [5, 1.5],
    "is true or false": [True],
    "is a text": ["x"],
    "is a list": [[]],
    "is an object": [{}],
}
_MUST = {
    "text": ("is a text", "must be a text"),
    "list": ("is a list", r"must be a list \[...\]"),
    "object": ("is an object", r"must be an object {...}"),
}


class Variant(NamedTuple):
    """Files and their expectation: a number of questions, or a pattern."""

    name: str
    files: list[bytes]
    expected: int | str


@functools.cache
def _base_text() -> str:
    sample = json.loads((FOLDER / "harbour.json").read_text(encoding="utf-8"))[0]
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


# Place, kind, and the field as messages name it.
_TYPED = [
    ("sample_id", "text", "#1: sample_id"),
    ("conversation", "object", "harbour: conversation"),
    ("conversation/session_1", "list", "harbour: session_1"),
    ("conversation/session_1/0", "object", r"harbour: session_1\[0\]"),
    ("conversation/session_1/0/dia_id", "text", r"harbour: session_1\[0\]\.dia_id"),
    ("conversation/session_1/0/speaker", "text", r"harbour: session_1\[0\]\.speaker"),
    ("conversation/session_1/0/text", "text", r"harbour: session_1\[0\]\.text"),
    ("qa", "list", "harbour: qa"),
    ("qa/3", "object", r"harbour: qa\[3\]"),
    ("qa/3/question", "text", r"harbour: qa\[3\]\.question"),
    ("observation", "object", "harbour: observation"),
]
_CATEGORIES = "use one of 1 multi_hop, 2 temporal, 3 open_domain, 4 single_hop, 5 adversarial"
_NO_ANSWER = r"harbour: qa\[3\]\.answer: missing or empty; only category 5 may omit it"
_NO_TIME = r"harbour: session_1_date_time: .* is no time; write it as "
# Place, values that are put there, and the expectation.
_EDITS: list[tuple[str, list[Any], int | str]] = [
    (
        "qa/3/category",
        [0, 6, -1, "1", 1.0, True, [], {}, LONG],
        rf"harbour: qa\[3\]\.category: .* is unknown; {_CATEGORIES}",
    ),
    ("qa/3/category", [None, MISSING], rf"qa\[3\]\.category: missing; {_CATEGORIES}"),
    ("qa/3/answer", [MISSING, None, "", " ", "\u200b"], _NO_ANSWER),
    ("qa/3/answer", [True, [], {}], r"harbour: qa\[3\]\.answer: .* must be a text or a number"),
    ("qa/3/answer", [5, -1, 1.5, 2**63 - 1, LONG, "=1+1"], N),
    (
        "qa/3/answer",
        [HUGE, "\ud800", "x\udfff", 2**63, float("nan"), 1e999],
        r"\[0\]\.qa\[3\]\.answer: ",
    ),
    ("qa/4/answer", ["an answer to type 5"], N),
    ("qa/3/evidence", [None, MISSING, [], "D1:1", "D1:1; D1:2", ["D1:1"] * 3], N),
    (
        "qa/3/evidence",
        [5, [5], [None], [["D1:1"]], {"a": 1}],
        r"harbour: qa\[3\]\.evidence: .* is not a text; write turn ids",
    ),
    (
        "qa/3/evidence",
        [["D99:1"], ["D1:1; D99:1"], [""], ["x"], [LONG]],
        r"harbour: qa\[3\]\.evidence: .* is no turn's dia_id",
    ),
    ("qa/3/question", [LONG, "\N{RIGHT-TO-LEFT OVERRIDE}e\u0301 \N{GRINNING FACE}\x00\u2028"], N),
    ("qa/3/adversarial_answer", [[]], r"qa\[3\]\.adversarial_answer: \[\] must be a text or a"),
    ("qa/3/unknown", [{"a": [None]}], N),
    ("qa", [[]], "no question is left"),
    ("qa", [MISSING], "harbour: qa: missing; must be a list"),
    ("sample_id", ["a/b", "=1+1", "0", LONG], N),
    ("sample_id", ["\ud800"], r"\[0\]\.sample_id: an unpaired surrogate, \\ud800"),
    ("conversation/session_1/0/text", [LONG], N),
    ("conversation/session_1/0/text", ["\u200b"], r"session_1\[0\]\.text: empty"),
    ("qa/3/question", ["\u200b\ufeff \u2060"], r"qa\[3\]\.question: empty; must be a text"),
    *(
        (f"conversation/{place}", ["A\nB: a turn", "A\u2028B"], f"{field}: .* has a line break")
        for place, field in (
            ("session_1/0/speaker", r"session_1\[0\]\.speaker"),
            ("speaker_a", "harbour: speaker_a"),
        )
    ),
    ("conversation/session_1/0/text", ["\ud83d"], r"session_1\[0\]\.text: an unpaired"),
    ("conversation/session_1/0/speaker", ["\ude00"], r"session_1\[0\]\.speaker: an unpaired"),
    ("conversation/session_1/0/dia_id", ["\ude00"], r"session_1\[0\]\.dia_id: an unpaired"),
    ("conversation/session_1/1/dia_id", ["D1:1"], r"session_1\[1\]\.dia_id: 'D1:1' is used twice"),
    ("conversation/session_2/0/dia_id", ["D1:1"], r"session_2\[0\]\.dia_id: 'D1:1' is used twice"),
    ("conversation/session_1/0/blip_caption", [5], r"session_1\[0\]\.blip_caption: is a number"),
    ("conversation/session_1/0/blip_caption", [["x"]], r"\[0\]\.blip_caption: is a list"),
    ("conversation/session_1/0/blip_caption", [""], r"session_1\[0\]\.blip_caption: empty"),
    ("conversation/session_1/0/blip_caption", [None], N),
    (
        "conversation/session_1/0/img_url",
        [5, {"a": 1}, [{"url": "x"}]],
        r"harbour: session_1\[0\]\.img_url: must be an address, or a list of addresses",
    ),
    ("conversation/session_1/0/img_url", [[], None, "http://x/y", ["http://x"]], N),
    ("conversation/speaker_a", [5, None], N),
    (
        "conversation/session_1_date_time",
        [MISSING, None],
        "harbour: session_1_date_time: missing",
    ),
    (
        "conversation/session_1_date_time",
        [
            *("", 5, []),
            *("yesterday", "2023-13-01", "0000-01-01", "1:56 pm on 31 February, 2023", LONG),
            *("13:00 pm on 8 May, 2023", "0:10 am on 8 May, 2023", "1:56 pm on 8 Mai, 2023"),
        ],
        _NO_TIME,
    ),
    (
        "conversation/session_1_date_time",
        ["2023-05-08T13:56:00+02:00", "12:00 am on 1 January, 0001", "9999-12-31 23:59"],
        N,
    ),
    (f"conversation/session_{DIGITS}x", [[]], "unknown field"),
    ("conversation/session_one", [[]], "session_one: unknown field; sessions are named session_1"),
    ("conversation/session1", [[]], "session1: unknown field; sessions are named session_1"),
    *(
        (f"conversation/{key}", [[{"dia_id": "D4:1"}]], f"harbour: {key}: unknown field; sessions")
        for key in ("sesion_4", "sessions_4", "ession_4", "sess_4", "chat")
    ),
    ("conversation/sesion_4_date_time", ["never"], "sesion_4_date_time: unknown field"),
    ("conversation/season", ["spring"], N),
    ("conversation/session_-1", [[]], "session_-1: unknown field"),
    ("conversation/Session_1", [[]], "Session_1: unknown field"),
    ("conversation/session_01", [[]], "harbour: session_01: the same session as session_1"),
    ("conversation/session_99", [[]], N),
    ("conversation/session_99_date_time", ["never"], N),
    (
        "conversation",
        [{}, {"session_1": [], "session_1_date_time": "x"}],
        "harbour: conversation: no turns; add session_1",
    ),
    (
        "observation",
        [{"session_1_observation": 5}],
        "session_1_observation: .* an object",
    ),
    ("observation", [{"session_1": {}}], "observation.session_1: belongs to no session"),
    ("observation", [{"x": {}}], "observation.x: belongs to no session"),
    ("observation", [{"session_999_observation": {}}], "n.session_999_observation: belongs to no"),
    ("observation", [{f"session_{DIGITS}_observation": {}}], "belongs to no session"),
    (
        "observation",
        [{"session_1_observation": {"A": one}} for one in (5, "x")],
        r"observation\.A: .* must be a list",
    ),
    (
        "observation",
        [
            {"session_1_observation": {"A": [one]}}
            for one in (5, "x", [], ["fact"], ["", "D1:1"], [" ", "D1:1"], ["fact", 5])
        ],
        r"A\[0\]: must be a text and its turns",
    ),
    ("observation", [{"session_1_observation": {"A": [["fact", []]]}}], r"A\[0\]: names no turn"),
    (  # a fact of session 1 that rests on session 2 would tell the future
        "observation",
        [{"session_1_observation": {"A": [["fact", one]]}} for one in ("D99:1", "D2:1")],
        r"A\[0\]: 'D\d+:1' is no turn",
    ),
    ("observation", [{"session_1_observation": {"A": [["fact", "D1:1"]]}}, MISSING, None, {}], N),
]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _files() -> Iterator[tuple[str, bytes, int | str]]:
    sample = base()
    whole = _json([sample])
    other = put(sample, "sample_id", "other")
    yield from (
        ("empty", b"", "not JSON"),
        ("words", b"{not json", r"my\.json: not JSON \(line 1, column 2"),
        *(
            (f"{one}", _json(one), "must be a list of samples")
            for one in ([], {}, None, 5, "x", True)
        ),
        *((f"[{one}]", _json([one]), "#1: .* an object") for one in ([], 5, None, "x", True)),
        ("deep list", DEEP.encode(), "nested more than 100 deep"),
        ("NaN", b"[NaN]", r"my\.json: \[0\]: NaN is not JSON"),
        ("digits", DIGITS.encode(), "beyond the range of 64 bits"),
        (
            "5,000 digits as category",
            whole.replace(b'"category": 1', b'"category": ' + DIGITS.encode(), 1),
            r"category: an integer",
        ),
        ("rubbish behind", whole + b" x", "not JSON .*Extra data"),
        ("JSON lines", _json(sample) + b"\n" + _json(other), "not JSON .*Extra data"),
        ("a byte order mark", b"\xef\xbb\xbf" + whole, N),
        ("Latin-1", "[{'é'".encode("latin-1"), r"not UTF-8 \(byte 3\)"),
        ("gzip", gzip.compress(whole), N),
        ("gzip in two members", gzip.compress(whole[:99]) + gzip.compress(whole[99:]), N),
        ("gzip, cut", gzip.compress(whole)[:-20], "gzip data is damaged or truncated"),
        ("gzip, rubbish behind", gzip.compress(whole) + b"rubbish", "gzip data is damaged"),
        ("one sample without a list", _json(sample), N),
        ("two samples", _json([sample, other]), 2 * N),
        ("one sample twice", _json([sample, sample]), "harbour: sample_id: used twice"),
        ("a sample and a number", _json([sample, 5]), "#2: is a number"),
        (
            "a key twice",
            whole.replace(b'"category": 1', b'"category": 1, "category": 2', 1),
            "key 'category' occurs twice",
        ),
        (
            "a huge number unused",
            whole.replace(b'"qa"', b'"x": 1e999, "qa"', 1),
            r"\[0\]\.x: a number",
        ),
    )


def _samples(place: str, values: list[Any], expected: int | str) -> Variant:
    files = [json.dumps([put(base(), place, value)]).encode() for value in values]
    return Variant(f"{place}={values[0]!r:.40}", files, expected)


def variants() -> list[Variant]:
    """Return all variants."""
    made = [
        _samples(place, values, f"{field}: {state}; {_MUST[kind][1]}")
        for place, kind, field in _TYPED
        for state, values in _STATES.items()
        if state != _MUST[kind][0] and not (place == "observation" and state == "missing")
    ]
    made += [_samples(*edit) for edit in _EDITS]
    made += [Variant(name, [data], expected) for name, data, expected in _files()]
    return made
