"""A bundle: the recorded answers of a run in one file with a checksum.

The file consists of gzipped JSON lines. The first has `format`, `version`, `count` and `sha256` (of
the lines after it, in UTF-8); each other line is one answer, or one failure, with the fields of
memsys.llm.recording.RecordedAnswer and, from version 2, the body of its `request` if it is known.
"""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from eval.records.files import replacing, writing
from memsys.core.errors import InputError, problems
from memsys.core.files import ANSWERS, GZIP, read_bytes, unpack
from memsys.core.json_text import parse_json
from memsys.llm.recording import RecordedAnswer

_FORMAT = "memsys-calls"
_VERSIONS = (1, 2)  # without and with requests
Requests = Mapping[str, Mapping[str, Any]]
_Text = Annotated[str, Field(min_length=1)]
_Tokens = Annotated[int, Field(ge=0, le=2**53)] | None  # as when recorded


@with_config(ConfigDict(extra="forbid", defer_build=True))
class _Line(TypedDict):
    """See RecordedAnswer."""

    key: _Text
    path: _Text
    model: _Text
    status: Annotated[int, Field(ge=0, le=999)]
    body: _Text
    latency_ms: Annotated[float, Field(ge=0, le=10**9)]
    input_tokens: _Tokens
    output_tokens: _Tokens
    created: _Text
    request: NotRequired[dict[str, Any] | None]


_LINE = TypeAdapter(_Line)


def write_bundle(
    path: Path, answers: Sequence[RecordedAnswer], requests: Requests | None = None
) -> None:
    """Write `answers` and their `requests` by key, as far as known, to `path`, whole or not at all;
    equal answers and requests give equal bytes. Raises InputError if the file cannot be written.
    """
    rows: list[dict[str, Any]] = [answer._asdict() for answer in answers]
    for row in rows:
        if requests and row["key"] in requests:
            row["request"] = requests[row["key"]]
    lines = "".join(
        json.dumps(row, ensure_ascii=True, sort_keys=True) + "\n" for row in rows
    ).encode()
    header = {
        "format": _FORMAT,
        "version": _VERSIONS[any("request" in row for row in rows)],
        "count": len(answers),
        "sha256": hashlib.sha256(lines).hexdigest(),
    }
    data = gzip.compress((json.dumps(header) + "\n").encode() + lines, mtime=0)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(data)


def read_calls(path: Path) -> tuple[list[RecordedAnswer], Requests]:
    """Read the answers in the bundle at `path`, and the requests in it by key. Raises InputError if
    it is no bundle or damaged.
    """
    packed = read_bytes(path, ANSWERS)
    if not packed.startswith(GZIP):
        raise InputError(f"{path}: no readable bundle (not gzip); fetch it again")
    data = unpack(packed, path, ANSWERS)
    first, _, rest = data.partition(b"\n")
    try:
        header = parse_json(first)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise InputError(f"{path}: not a bundle of recorded calls (python -m eval cache export)")
    if header.get("version") not in _VERSIONS:
        raise InputError(
            f"{path}: a bundle of version {header.get('version')!r:.20}, and this memsys reads "
            f"{_VERSIONS[0]} and {_VERSIONS[1]}; use the memsys that wrote it"
        )
    if hashlib.sha256(rest).hexdigest() != header.get("sha256"):
        raise InputError(
            f"{path}: damaged (its sha256 is not the one in its first line); fetch it again"
        )
    lines = rest.splitlines()
    requests: dict[str, Mapping[str, Any]] = {}
    answers = [_answer(path, number, line, requests) for number, line in enumerate(lines, 2)]
    if twice := [key for key, n in Counter(answer.key for answer in answers).items() if n > 1]:
        raise InputError(f"{path}: two answers to the request {twice[0]!r:.80}; remove one")
    return answers, requests


def _answer(
    path: Path, number: int, line: bytes, requests: dict[str, Mapping[str, Any]]
) -> RecordedAnswer:
    """Parse one line, and add its request to `requests`: another program may have written a bundle
    with a valid checksum.
    """
    with problems(f"{path}: line {number}"):
        row = parse_json(line, unique=True)
        _LINE.validate_python(row, strict=True)
        if not isinstance(parse_json(row["body"]), dict):
            raise ValueError("body is not a JSON object")
    if request := row.pop("request", None):
        requests[row["key"]] = request
    return RecordedAnswer(**row)
