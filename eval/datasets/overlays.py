"""Known errors of a data set: lists with texts, and overlays with ids and hashes only.

The texts of a published data set may not be redistributed, so the project ships overlays:
data/overlays (gold answers: question ids and sha256 of the texts) and data/evidence (citations).
data/README.md describes the files.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import StrictInt

from eval.datasets.checks import Answer, Row, Text, rule
from eval.datasets.files import json_lines, read_json, read_text, validate
from eval.datasets.types import Question, SourceFile
from memsys.core.errors import InputError, problems
from memsys.core.json_text import parse_json

CITATION_ONLY = "WRONG_CITATION"  # the one type of error that leaves the answer unchanged
# Which part of a corrected text is the gold answer: all of it, none (it says that there is no
# answer), the data set's answer (it confirms that one), or these [start, end) character ranges.
Gold = Literal["text", "none", "original"] | tuple[tuple[int, int], ...]
# Question ids of dial481/locomo-audit, errors.json: the conversation by its position.
_BY_POSITION = re.compile(r"locomo_([0-9]{1,4})_qa([0-9]{1,6})")


E = TypeVar("E")
AnyOverlay = TypeVar("AnyOverlay", bound="Overlay")


Distinct = Annotated[  # entries with distinct ids
    tuple[E, ...],
    rule(lambda rows: len({row.id for row in rows}) == len(rows), "an id occurs twice"),
]


@dataclass(frozen=True, slots=True)
class Overlay:
    """Known errors of the `data` files, an entry a question; `source`, `commit` and `licence` are
    those of the list of errors. `built_by`: the script that writes it.
    """

    built_by: ClassVar[str]
    source: str
    commit: str
    licence: str
    data: tuple[SourceFile, ...]
    entries: tuple[Any, ...]

    def belongs(self, files: Sequence[SourceFile]) -> bool:
        """Return whether all files of the overlay are among `files`, by sha256; False if it names
        none.
        """
        hashes = {file.sha256 for file in files}
        return bool(self.data) and all(file.sha256 in hashes for file in self.data)


@dataclass(frozen=True, slots=True)
class Entry:
    """One error; hashes are sha256 of the UTF-8 text, None if there is no text. `correct`: the
    right answer, which no overlay has; None if no answer is right.
    """

    id: str
    error_type: str
    golden_sha256: str | None
    correct_sha256: str | None
    gold: Gold = "text"
    correct: str | None = None

    def __post_init__(self) -> None:
        """Raise ValueError unless the ranges of `gold` are some, each of a character or more."""
        ranges = [] if isinstance(self.gold, str) else self.gold
        if not self.gold or not all(0 <= start < end for start, end in ranges):
            raise ValueError(f"gold of {self.id}: not ranges [start, end]")

    def cut(self, original: str | None) -> str | None:
        """Return the gold answer in the text `correct`, which replaces `original`, or None."""
        if self.gold == "original":
            return original
        if self.gold == "none" or self.correct is None:
            return None
        if self.gold == "text":
            return self.correct
        return "".join(self.correct[start:end] for start, end in self.gold).strip()


@dataclass(frozen=True, slots=True)
class AnswerOverlay(Overlay):
    """Known errors of gold answers; `texts`: the file of corrected answers they were read from."""

    built_by: ClassVar[str] = "data/overlays/build.py"
    entries: Distinct[Entry]
    texts: SourceFile


def read_overlay(kind: type[AnyOverlay], path: Path) -> tuple[AnyOverlay, SourceFile]:
    """Return the overlay at `path` and its file; raise InputError if it is not valid."""
    value, file = read_json(path)
    overlay = validate(kind, value, str(path), f"build it by {kind.built_by}")
    return overlay, file


def find_overlay(kind: type[Overlay], folder: Path, files: Sequence[SourceFile]) -> Path | None:
    """Return the path of the overlay in `folder` that belongs to `files`; None if none does.

    Raises InputError if several do, or if one of the folder is not valid.
    """
    paths = sorted(folder.glob("*.json"))
    matching = [path for path in paths if read_overlay(kind, path)[0].belongs(files)]
    if len(matching) > 1:
        raise InputError(
            f"{folder}: {matching[0].name} and {matching[1].name} belong to the same data; leave "
            "one there"
        )
    return matching[0] if matching else None


def write_overlay(path: Path, overlay: Overlay) -> None:
    """Write `overlay` to `path`: one line per entry, for readable diffs."""
    head = asdict(overlay)
    rows = [
        {name: value for name, value in row.items() if value != "text" and name != "correct"}
        for row in head.pop("entries")
    ]
    lines = ",\n  ".join(map(json.dumps, rows))
    top = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{top},\n "entries": [\n  {lines}\n ]\n}}\n', encoding="utf-8")


@dataclass(frozen=True)
class Entries(Generic[E]):
    """Entries by question id; `file`: the overlay, list of errors or subset, as messages name it,
    and `remedy` what they say to do.
    """

    file: str
    by_id: Mapping[str, E]
    remedy: str = "correct the entry, or load the file it was made for"

    @cached_property
    def _ids(self) -> Mapping[str, list[str]]:
        """The question ids of the entries of each conversation, in order."""
        by_conversation: dict[str, list[str]] = {}
        for id_ in self.by_id:
            by_conversation.setdefault(id_.rpartition("/")[0], []).append(id_)
        return by_conversation

    def check_conversations(self, conversations: Collection[str]) -> None:
        """Raise InputError naming the first entry whose conversation is not among these."""
        names = set(conversations)
        for conversation, ids in self._ids.items():
            exists = conversation in names
            self.check(ids[0], "the data set has no such conversation", fits=exists)

    def matched(
        self, conversation: str, questions: Sequence[Question]
    ) -> Iterator[tuple[E, Question]]:
        """Yield each entry of a conversation with its question; InputError if there is none."""
        asked = {question.id: question for question in questions}
        for id_ in self._ids.get(conversation, ()):
            self.check(id_, "the data set has no such question", fits=id_ in asked)
            yield self.by_id[id_], asked[id_]

    def check(self, id_: str, problem: str, *, fits: bool) -> None:
        """Raise InputError with `problem` unless the entry `fits` the data set."""
        if not fits:
            raise InputError(f"{self.file}: entry {id_}: {problem}; {self.remedy}")


class _ErrorRow(Row):
    golden_answer: Answer = None
    correct_answer: Answer = None
    error_type: Text
    sample_id: str | None = None
    qa_index: StrictInt | None = None
    question_id: Any = None


def sha256(text: str | None) -> str | None:
    """Return the sha256, in hex, of a text in UTF-8; None for None."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def read_errors(path: Path) -> tuple[Any, SourceFile]:
    """Return the JSON value of a file, or the list of its JSON lines; raise InputError if it is
    neither.
    """
    content, source = read_text(path)
    with problems(path, "; correct it"):
        try:
            return parse_json(content, unique=True), source
        except json.JSONDecodeError:
            return [value for _, value in json_lines(content, str(path))], source


def corrections(path: Path, value: Any, conversations: Sequence[str]) -> dict[str, Entry]:
    """Return the errors in `value`, the content of the file at `path`, by question id.

    A row names its question by `sample_id` and `qa_index`, or, as in dial481/locomo-audit, by a
    `question_id` such as locomo_0_qa12: position in `conversations`, then index in its qa. Raises
    InputError naming the row if a field is missing or wrong or a question occurs twice.
    """
    errors: dict[str, Entry] = {}
    for number, item in enumerate(value if isinstance(value, list) else [value], 1):
        place = f"{path}: error {number}"
        row = validate(_ErrorRow, item, place, "data/README.md lists the fields")
        conversation, index = row.sample_id, row.qa_index
        if match := _BY_POSITION.fullmatch(str(row.question_id)):
            conversation = conversation or dict(enumerate(conversations)).get(int(match[1]))
            index = int(match[2]) if index is None else index
        if conversation is None or index is None:
            raise InputError(f"{place}: names no question; give sample_id and qa_index")
        id_ = f"{conversation}/{index}"
        if id_ in errors:
            raise InputError(f"{place}: {id_} occurs twice; remove one")
        correct = row.correct_answer
        hashes = sha256(row.golden_answer), sha256(correct)
        errors[id_] = Entry(id_, row.error_type, *hashes, correct=correct)
    if not errors:
        raise InputError(f"{path}: lists no error")
    return errors


def is_overlay(value: Any) -> bool:
    """Return True if a JSON value is an overlay and not a list of errors."""
    return isinstance(value, dict) and "entries" in value
