"""The score card of a run: its scores, and the hashes by which anyone can recompute them."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from eval.datasets.checks import rule
from eval.datasets.files import json_value
from eval.records.files import write_text
from memsys.core.errors import InputError, problems
from memsys.core.files import decode, read_bytes, shown

MOST = 20_000  # bytes of a card's file
DIGITS = 6  # of the numbers of a score, after the decimal point
Role = Literal["data", "answers", "rankings", "key", "evidence", "subset", "weights"]
ANSWERS: Role = "answers"
RANKINGS: Role = "rankings"
Setting = str | int | float | bool | list[str] | None
_SHA256 = "^[0-9a-f]{64}$"
_URL = r"^https?://[^\s\"'<>]+$"
# A path of a machine: one that begins with a slash, a tilde or a drive.
_ABSOLUTE = re.compile(r"(?:^|[\s='\",:\[(])(?:~?/[\w.]|~[\w.]*/|[A-Za-z]:[\\/](?!/)|\\\\|file:)")
Text = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"^[^\x00-\x1f\x7f]*$")]
Name = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^/\\\x00-\x1f\x7f]+$")]
Number = Annotated[
    float,
    Field(allow_inf_nan=False),
    rule(
        lambda number: round(number, DIGITS) == number,
        f"{{}} has more than {DIGITS} digits after the point",
    ),
]


class Strict(BaseModel):
    """Base of what is read from files: no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CardFile(Strict):
    """A file that the scores follow from. It is identified by its content, not by its path.

    `rows_sha256`: of answers and rankings, the hash of what is scored (question id and answer, or
    question id and ranked ids, in the data set's order); a file of the same rows in another layout
    has the same. None for other roles.
    """

    role: Role
    name: Name
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=_SHA256)
    rows_sha256: str | None = Field(default=None, pattern=_SHA256)

    @model_validator(mode="after")
    def _check_rows(self) -> Self:
        if (self.role in (ANSWERS, RANKINGS)) != (self.rows_sha256 is not None):
            raise ValueError("answers and rankings have rows_sha256, and no other file has")
        return self


class Origin(Strict):
    """Where published answers are from; None for what is not known."""

    repository: Text | None = None
    commit: str | None = Field(default=None, pattern="^[0-9a-f]{7,64}$")
    path: Text | None = None  # within the repository
    url: str | None = Field(default=None, max_length=1000, pattern=_URL)  # of the answers' file
    licence: Text | None = None


class Reading(Strict):
    """How an imported file of answers was read: the path of the list of `rows`, None where it was
    looked for, and the columns by field.
    """

    rows: str | None = Field(default=None, max_length=1000)
    columns: Mapping[Text, list[Text]]


class Code(Strict):
    """Version and git commit of memsys, and whether files differed from that commit."""

    version: Text | None = None
    commit: str | None = Field(default=None, pattern="^[0-9a-f]{7,64}$")
    dirty: bool | None = None


class Score(Strict):
    """One number: a mean over `n` questions with its 95% interval.

    `key`: answer key. `protocol`: None for measures that no protocol defines. `type`: question
    type, or `overall`. `low` and `high` are None where no interval is determined. `reported`: the
    value is a mean of verdicts or amounts in the file of answers, which are not recomputed here.
    """

    key: Text
    protocol: Text | None = None
    type: Text
    measure: Text
    n: int = Field(ge=1)
    mean: Number
    low: Number | None = None
    high: Number | None = None
    reported: bool = False

    @property
    def identity(self) -> tuple[str, str | None, str, str]:
        """What is measured: key, protocol, type and measure."""
        return self.key, self.protocol, self.type, self.measure

    @property
    def label(self) -> str:
        """What is measured, in words for messages."""
        return " ".join(part for part in self.identity if part is not None)

    @model_validator(mode="after")
    def _check_ends(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has both ends, or none")
        return self


class Card(Strict):
    """A score card; at most MOST bytes as JSON.

    `kind`: `run` of a strategy here, or `imported` answers of another system. `command`: the one
    that made the run, with names of files in place of their paths. `code`: memsys as it computed
    the scores; `run_code`: as it answered, None for imports. `dataset`: configuration of the data
    set, as eval.datasets.reload reads it; its `key` is the answer key of the run. `models`: name by
    role (reader, judge, embedder, llm), None if not known. `rows`: counts: `questions` of the data
    set, `matched` ones with an answer or ranking, of so many `conversations`, `errors` that are
    no answer; of the file `rows` and `unmatched`. `unknown`: what is not known of the system, one
    sentence each. `reading`: of imported answers, None for others.
    """

    version: Literal[1] = 1
    system: Text
    kind: Literal["run", "imported"]
    made_at: Text
    command: Annotated[
        Text,
        rule(
            lambda text: not is_absolute(text), "names a path of a machine; leave its folders out"
        ),
    ]
    code: Code
    run_code: Code | None = None
    config_sha256: str | None = Field(default=None, pattern=_SHA256)
    dataset: Mapping[str, Setting]
    models: Mapping[str, Text | None]
    origin: Origin | None = None
    unknown: list[Text] = []
    reading: Reading | None = None
    rows: Mapping[str, Annotated[int, Field(ge=0)]]
    files: list[CardFile]
    scores: list[Score] = Field(min_length=1)

    @property
    def key(self) -> str:
        """Answer key of the run."""
        return str(self.dataset.get("key") or "original")

    def of_role(self, role: Role) -> list[CardFile]:
        """Return the files of a role."""
        return [file for file in self.files if file.role == role]

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        values = [v if isinstance(v, list) else [v] for v in self.dataset.values()]
        texts = [text for value in values for text in value if isinstance(text, str)]
        if outside := [text for text in texts if is_absolute(text) or ".." in text.split("/")]:
            raise ValueError(f"dataset: {outside[0]:.60} is a path outside of the project")
        identity, times = Counter(score.identity for score in self.scores).most_common(1)[0]
        if times > 1:
            raise ValueError(f"scores: {' '.join(filter(None, identity))} occurs {times} times")
        for role in (ANSWERS, RANKINGS):
            if sum(file.role == role for file in self.files) > 1:
                raise ValueError(f"files: several of {role}")
        return self


def is_absolute(text: str) -> bool:
    """Return whether `text` contains an absolute path, which names folders of a machine."""
    return _ABSOLUTE.search(text) is not None


def load_card(path: Path) -> Card:
    """Return the score card in the file at `path`.

    Raises InputError naming the field if the file is no valid card of this version: unknown fields,
    numbers that are none, absolute paths and more than MOST bytes are refused.
    """
    data = read_bytes(path, MOST)
    value = json_value(decode(data, path), shown(path), remedy="name a score card")
    if not isinstance(value, dict) or not {"version", "system", "scores"} <= value.keys():
        raise InputError(f"{shown(path)}: no score card; make one by python -m eval card RUN")
    if value["version"] != 1 or isinstance(value["version"], bool):
        raise InputError(
            f"{shown(path)}: version {value['version']!r:.20} of score cards, and this program "
            "reads version 1; use the version of memsys that made it"
        )
    with problems(shown(path), "; docs/cards.md lists the fields"):
        return Card.model_validate_json(data, strict=True)


def save_card(card: Card, path: Path) -> None:
    """Write `card` as JSON, one line a score. Raises InputError beyond MOST bytes."""
    text = as_json(card)
    if (size := len(text.encode())) > MOST:
        raise InputError(
            f"{shown(path)}: the card would have {size:,} bytes, and {MOST:,} are allowed; "
            "shorten --unknown, or choose fewer question types by dataset.types"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


def as_json(card: Card) -> str:
    """Return the text of a card's file: one line a field, and a file, a score and a sentence."""
    fields = card.model_dump(mode="json", exclude_defaults=True)
    parts = []
    for name, value in ({"version": card.version} | fields).items():
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if isinstance(value, list):
            rows = [json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in value]
            text = "[\n" + ",\n".join(rows) + "\n]"
        parts.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
