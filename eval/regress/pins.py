"""A pin: a YAML file with a command and the scores that it is expected to give."""

import itertools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from eval.datasets.checks import rule
from eval.metrics.registry import pinned
from eval.regress import by_question
from eval.regress.by_question import Questions
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError, problems
from memsys.core.places import SHIPPED
from memsys.core.yaml_text import load_yaml

EXPECTED = SHIPPED / "results" / "expected"
SCORES = ("f1", *pinned(), "abstained")
DIGITS = 4
Cells = Mapping[str, Mapping[str, float | None]]  # type -> n and SCORES, 0 to 1
_START = ["python", "-m", "eval.run"]
_TOLERANCE = 1.0  # questions, unless the pin names another number


@with_config(ConfigDict(extra="forbid", strict=True))
class _Fields(TypedDict):
    command: Annotated[
        str,
        rule(
            lambda text: shlex.split(text)[: len(_START)] == _START,
            f"must begin with {' '.join(_START)}",
        ),
    ]
    bundle: NotRequired[str]
    tolerance_questions: NotRequired[Annotated[float, Field(ge=0)]]
    protocol: NotRequired[str]
    data: NotRequired[dict[str, str]]
    scores: NotRequired[str]
    expected: NotRequired[dict[str, dict[str, float | None]]]


_FIELDS = TypeAdapter(_Fields)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a command: protocol of its F1, sha256 of each data file, cells by type.

    A cell holds `n`, SCORES to DIGITS digits (None where a score does not apply), and `judge` if
    there was one. `questions`: the scores by question if a model was called, else None.
    """

    protocol: str
    data: Mapping[str, str]
    cells: Cells
    questions: Questions | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """A command and its expected outcome, None in a file that only names the command so far.

    `tolerance_questions`: number of questions whose whole score a mean may gain or lose and still
    be OKish, where no model is called. `bundle`: recorded answers to replay, relative to the file's
    folder.
    """

    path: Path
    command: str
    tolerance_questions: float
    expected: Outcome | None
    bundle: str | None = None

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        return self.path.stem

    @property
    def arguments(self) -> list[str]:
        """Arguments of `python -m eval.run`."""
        return shlex.split(self.command)[len(_START) :]

    @property
    def answers(self) -> Path | None:
        """Path of the bundle."""
        return None if self.bundle is None else self.path.parent / self.bundle

    @property
    def scores(self) -> Path:
        """Path of the scores by question, if the pin has any."""
        return self.path.with_name(f"{self.name}.scores.csv")


def load_pins(names: Sequence[str], *, repin: bool = False) -> list[Pin]:
    """Load the pins of files, folders or names in results/expected; without `names` all there.

    `repin`: a pin without some of the scores, as of an earlier version, expects nothing. Raises
    InputError naming file and field.
    """
    paths = [] if names else _folder(EXPECTED)
    for name in names:
        places = (Path(name), EXPECTED / f"{name}.yaml")
        path = next((path for path in places if path.is_dir() or path.is_file()), None)
        if path is None:
            raise InputError(f"{name}: no such pin; name a YAML file, or one of {EXPECTED}")
        paths += _folder(path) if path.is_dir() else [path]
    return [load_pin(path, repin=repin) for path in paths]


def load_pin(path: Path, *, repin: bool = False) -> Pin:
    """Load and validate one file as load_pins does; raises InputError naming file and field."""
    with problems(path, "; see docs/regression.md"):
        fields = _FIELDS.validate_python(load_yaml(path))
    if "scores" in fields and "tolerance_questions" in fields:
        raise InputError(
            f"{path}: tolerance_questions: remove it; a pin with scores by question is judged by "
            "their paired interval"
        )
    tolerance, bundle = fields.get("tolerance_questions", _TOLERANCE), fields.get("bundle")
    if bundle is not None and not (path.parent / bundle).is_file():
        raise InputError(f"{path}: bundle: {bundle!r}: no such file, relative to the pin's folder")
    return Pin(
        path, fields["command"], float(tolerance), _outcome(path, fields, repin=repin), bundle
    )


def save_pin(pin: Pin, outcome: Outcome) -> None:
    """Write `outcome` as the expected one, with its scores by question in a file beside the pin.

    Comments at the head of the pin are preserved.
    """
    lines = pin.path.read_text(encoding="utf-8").splitlines()
    paired = outcome.questions is not None
    text = [
        *itertools.takewhile(lambda line: line.startswith("#"), lines),
        f"command: {pin.command}",
        *([f"bundle: {pin.bundle}"] if pin.bundle else []),
        *([] if paired else [f"tolerance_questions: {pin.tolerance_questions:g}"]),
        f"protocol: {outcome.protocol}",
        "data:",
        *(f"  {name}: {sha256}" for name, sha256 in outcome.data.items()),
        *([f"scores: {pin.scores.name}"] if paired else []),
        "expected:",
    ]
    for type_, cell in outcome.cells.items():
        digits = {name: 0 if name == "n" else DIGITS for name in cell}
        values = [
            f"{name}: {'null' if value is None else f'{value:.{digits[name]}f}'}"
            for name, value in cell.items()
        ]
        text.append(f"  {type_}: {{{', '.join(values)}}}")
    if outcome.questions is not None:
        by_question.write(pin.scores, outcome.questions)
    pin.path.write_text("\n".join(text) + "\n", encoding="utf-8")


def _folder(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise InputError(f"{folder}: no pins here (*.yaml)")
    return paths


def _outcome(path: Path, fields: _Fields, *, repin: bool) -> Outcome | None:
    if "expected" not in fields:
        return None
    cells = fields["expected"]
    needed = ["protocol", "data"]
    for type_, name in itertools.product({OVERALL: {}, **cells}, ("n", *SCORES)):
        if name not in cells.get(type_, {}):
            needed.append(f"expected.{type_}.{name}")
    missing = [name for name in needed if name not in fields]
    if missing and repin:
        return None
    if missing:
        raise InputError(f'{path}: {missing[0]}: missing; --repin "reason" writes it')
    return Outcome(fields["protocol"], fields["data"], cells, _questions(path, fields))


def _questions(path: Path, fields: _Fields) -> Questions | None:
    """Read the scores by question, whose means must be those of the pin."""
    if "scores" not in fields:
        return None
    beside = path.with_name(f"{path.stem}.scores.csv")
    if fields["scores"] != beside.name:
        raise InputError(f"{path}: scores: {fields['scores']!r}; it must be {beside.name}")
    questions = by_question.read(beside)
    if wrong := by_question.misfit(questions, fields["expected"]):
        raise InputError(f'{beside}: does not belong to {path.name}: {wrong}; --repin "reason"')
    return questions
