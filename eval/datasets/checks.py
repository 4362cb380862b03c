"""Checks of the values in data files: pydantic models of their rows, and one form of error.

Each failed check is one InputError that names file, sample and field (or the setting), so that a
hand-made file can be corrected without reading this code. Hand-written evidence contains several
ids in one text ("D8:6; D9:17"), zeros ("D30:05") and stray colons ("D:11:26"): an id is repaired
only if it can mean exactly one turn, as a silent guess or loss would change evidence recall.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
)

from memsys.core.errors import InputError
from memsys.core.files import shown

T = TypeVar("T")
_SEPARATORS = re.compile(r"[;,、；，\s]+")
_SHOWN = 80  # characters of a name in a message
_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp"}
_DIALOGUE_ID = re.compile(r"D:?([0-9]{1,9}):([0-9]{1,9})", re.IGNORECASE)
# Problems in words of ours, by pydantic's types of errors.
_PROBLEMS = {
    "missing": "missing; add it",
    "string_type": "must be a text",
    "list_type": "must be a list [...]",
    "dict_type": "must be an object {...}",
    "model_type": "must be an object {...}",
}
NO_TURN = "{!r:.60} is no turn's dia_id; correct or remove it"


@dataclass(frozen=True, slots=True)
class Location:
    """A sample (or another `unit`, "" for none) of an input file, as messages name it, with a line
    per repair.

    `lenient`: evidence that names no turn is dropped and reported instead of refused: for a
    published file, whose faults are known and whose readers cannot change it.
    """

    file: str
    sample: str
    lenient: bool = False
    repairs: list[str] = field(default_factory=list)
    unit: str = "sample"

    def at(self, field: str) -> str:
        """Return `file: sample X: field`, the prefix of errors and repairs; without a field, the
        sample as a whole.
        """
        sample = f"{self.unit} {shown(self.sample, _SHOWN)}".lstrip()
        whole = f"{self.file}: {sample}"
        return f"{whole}: {shown(field, _SHOWN)}" if field else whole

    def repaired(self, field: str, repair: str) -> None:
        """Add a repair of `field`."""
        self.repairs.append(f"{self.at(field)}: {repair}")

    def error(self, field: str, problem: str) -> InputError:
        """Return the InputError for `field`; `problem` states the fault and the remedy."""
        return InputError(f"{self.at(field)}: {problem}")


class Row(BaseModel):
    """An object in a data file. Fields that are not declared are ignored."""

    model_config = ConfigDict(frozen=True)


def parse(kind: type[T], value: Any, where: Location, field: str = "") -> T:
    """Return `value`, plain JSON at `field` of a sample, as an instance of the type `kind`.

    Raises InputError naming file, sample and the first wrong field, with what it must be.
    """
    try:
        return cast(T, adapter(cast(Any, kind)).validate_python(value))
    except ValidationError as error:
        place, problem = problem_in(error)
        raise where.error(f"{field}{place}".lstrip("."), problem) from None


def problem_in(error: ValidationError) -> tuple[str, str]:
    """Return place (`.qa[3].answer`) and fault of the first problem that pydantic found."""
    first = error.errors(include_url=False)[0]
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]]
    problem = _PROBLEMS.get(first["type"], first["msg"].removeprefix("Value error, "))
    return "".join(parts), problem


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return pydantic's checks of `kind`, which take milliseconds to make."""
    return TypeAdapter(kind)


def check_distinct(names: dict[str, Location], where: Location, field: str) -> None:
    """Add the sample of `where` to `names`; raise InputError if it has one that looks the same."""
    other = names.setdefault(same_name(where.sample), where)
    if other is not where:
        raise where.error(
            field,
            f"used twice (before in {other.file}, as {other.sample!r:.60}); give each sample its "
            "own",
        )


def is_visible(value: str) -> bool:
    """Return whether a character of the text is neither a blank nor of zero width."""
    return any(unicodedata.category(char) not in _INVISIBLE for char in value)


def rule(admits: Callable[[Any], object], problem: str) -> AfterValidator:
    """Return the check that `admits` is true of a value. `problem`: the error otherwise, a format
    string for the value.
    """

    def checked(value: Any) -> Any:
        if not admits(value):
            raise ValueError(problem.format(value))
        return value

    return AfterValidator(checked)


def _answer(value: Any) -> str | None:
    if value is None or (isinstance(value, str) and not is_visible(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{value!r:.60} must be a text or a number")
    return str(value)


def _ids(value: Any) -> tuple[str, ...]:
    ids = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(id_, str) for id_ in ids):
        raise ValueError(f'{value!r:.60} are no texts; write turn ids as in ["D1:3"]')
    return tuple(ids)


Text = Annotated[str, rule(is_visible, "empty; write a text")]  # unchanged
Line = Annotated[
    Text,
    rule(
        lambda text: len(text.splitlines()) < 2, "{!r:.60} has a line break; write it on one line"
    ),
]
Answer = Annotated[str | None, BeforeValidator(_answer)]  # a text or number; None if blank
Given = Annotated[Text, BeforeValidator(_answer)]  # a text or number, not blank
Ids = Annotated[
    tuple[str, ...], BeforeValidator(_ids)
]  # an id, a text of several, a list of these, null


def key_of(table: Mapping[Any, T], words: str = "") -> BeforeValidator:
    """Return the check that a value is a key of `table`, which it replaces by the value there.

    `words`: the keys in messages.
    """

    def look_up(value: Any) -> T:
        if type(value) in (str, int) and value in table:
            return table[value]
        raise ValueError(
            f"{value!r:.60} is unknown; use one of {words or ', '.join(map(str, table))}"
        )

    return BeforeValidator(look_up)


def time_by(
    read: Callable[[Any], datetime], form: str, *, optional: bool = False
) -> BeforeValidator:
    """Return the check that `read` makes a time of a value, written as `form` says; `optional`:
    null remains null.
    """

    def checked(value: Any) -> datetime | None:
        if value is None and optional:
            return None
        try:
            return read(value)
        except (AttributeError, KeyError, OSError, OverflowError, TypeError, ValueError):
            raise ValueError(f"{value!r:.60} is no time; write {form}") from None

    return BeforeValidator(checked)


def same_name(value: str) -> str:
    """Return what names that look alike share: in one case, with single blanks, in NFC."""
    return unicodedata.normalize("NFC", " ".join(value.casefold().split()))


class TurnIds:
    """The ids of a conversation's turns, found by exact id or by an unambiguous misspelling."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._by_canonical: dict[str, list[str]] = defaultdict(list)
        self.add(ids)

    def add(self, ids: Iterable[str]) -> None:
        """Add turns with new ids."""
        for turn in ids:
            self._by_canonical[_canonical(turn)].append(turn)

    def find(self, raw: str) -> str | None:
        """Return the turn that `raw` names, or None if it could mean none or several."""
        candidates = self._by_canonical.get(_canonical(raw), [])
        if raw in candidates:
            return raw
        return candidates[0] if len(candidates) == 1 else None

    def cited(self, ids: Sequence[str], where: Location, field: str) -> tuple[str, ...]:
        """Return the turns that `ids` name, texts of one id or more, in order and without
        repetition; add repairs to `where`. A part that names no turn raises InputError, unless
        `where` is lenient.
        """
        all_turns: dict[str, None] = {}
        for raw in ids:
            named = {raw: self.find(raw)}
            if named[raw] is None:
                parts = [part for part in _SEPARATORS.split(raw) if part]
                named = {part: self.find(part) for part in parts or [raw]}
            turns = list(dict.fromkeys(turn for turn in named.values() if turn is not None))
            unknown = [part for part, turn in named.items() if turn is None]
            if unknown and not where.lenient:
                raise where.error(field, NO_TURN.format(unknown[0]))
            repeated = [turn for turn in turns if turn in all_turns]
            notes = [f"read as {', '.join(turns)}"] if turns and turns != [raw] else []
            notes += [f"{', '.join(unknown)} dropped: no such turn"] if turns and unknown else []
            notes += ["dropped: no such turn"] if not turns else []
            notes += [f"repeated, counted once: {', '.join(repeated)}"] if repeated else []
            if notes:
                where.repaired(field, f"{raw!r} {'; '.join(notes)}")
            all_turns |= dict.fromkeys(turns)
        return tuple(all_turns)


def _canonical(turn: str) -> str:
    """Return `D11:5` for `D:011:05` and `d11:5`; an id of another form unchanged."""
    match = _DIALOGUE_ID.fullmatch(turn.strip())
    return f"D{int(match[1])}:{int(match[2])}" if match else turn.strip()
