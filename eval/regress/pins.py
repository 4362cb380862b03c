"""A pin: one YAML file with a command and the scores that it is expected to give."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eval.metrics.registry import pinned
from eval.regress import by_question
from eval.regress.by_question import Questions
from eval.summary.summarise import OVERALL
from memsys.errors import InputError

EXPECTED = Path(__file__).resolve().parents[2] / "results" / "expected"
SCORES = ("f1", *pinned(), "abstained")
DIGITS = 4
Cells = Mapping[str, Mapping[str, float | None]]  # type -> n and SCORES, 0 to 1
_START = ["python", "-m", "eval.run"]
_FIELDS = ("command", "bundle", "tolerance_questions", "protocol", "data", "scores", "expected")
_WHOLE = 1.0  # questions, where a pin does not say


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command gives: protocol of its F1, sha256 of each data file, cells by type.

    A cell holds `n` and SCORES to DIGITS digits, None where a score does not apply, and `judge`
    where one judged. `questions`: the scores by question where a model was called, else None.
    """

    protocol: str
    data: Mapping[str, str]
    cells: Cells
    questions: Questions | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """`tolerance_questions`: how many questions' worth a score may move and still be OKish, where
    no model is called. `bundle`: recorded answers that stand in for the model, if any.

    `expected` is None in a file that only names its command so far.
    """

    path: Path
    command: str
    tolerance_questions: float
    expected: Outcome | None
    bundle: str | None = None  # as the file has it: seen from the file's own folder

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def arguments(self) -> list[str]:
        """What stands after `python -m eval.run`."""
        return shlex.split(self.command)[len(_START) :]

    @property
    def answers(self) -> Path | None:
        """Where the bundle is."""
        return None if self.bundle is None else self.path.parent / self.bundle

    @property
    def scores(self) -> Path:
        """Where the scores by question are, if the pin has any."""
        return self.path.with_name(f"{self.name}.scores.csv")


def load_pins(names: Sequence[str]) -> list[Pin]:
    """The pins of files, folders or names of results/expected; every one there without `names`.

    Raises InputError naming file and field.
    """
    paths = [path for name in names for path in _paths(name)] if names else _folder(EXPECTED)
    return [load_pin(path) for path in paths]


def load_pin(path: Path) -> Pin:
    """One file, checked. Raises InputError naming file and field."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("command"), str):
        raise InputError(f"{path}: command: missing; a pin names `python -m eval.run ...`")
    if unknown := sorted(map(str, raw.keys() - set(_FIELDS))):
        raise InputError(f"{path}: {unknown[0]}: no field of a pin; use {', '.join(_FIELDS)}")
    if shlex.split(raw["command"])[: len(_START)] != _START:
        raise InputError(f"{path}: command: must begin with {' '.join(_START)}")
    tolerance = raw.get("tolerance_questions", _WHOLE)
    if not isinstance(tolerance, int | float) or tolerance < 0:
        raise InputError(f"{path}: tolerance_questions: {tolerance!r}; use a number of 0 or more")
    if "scores" in raw and "tolerance_questions" in raw:
        raise InputError(
            f"{path}: tolerance_questions: leave it out; a pin with scores by question is judged "
            "by their paired interval"
        )
    bundle = raw.get("bundle")
    if bundle is not None and not (isinstance(bundle, str) and (path.parent / bundle).is_file()):
        raise InputError(f"{path}: bundle: {bundle!r}: no such file, seen from the pin's folder")
    expected = _outcome(path, raw) if "expected" in raw else None
    return Pin(path, raw["command"], float(tolerance), expected, bundle)


def save_pin(pin: Pin, outcome: Outcome) -> None:
    """Write `outcome` as what `pin` expects, its scores by question into a file of their own;
    comments at the head of the pin stay.
    """
    head = []
    for line in pin.path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        head.append(line)
    paired = outcome.questions is not None
    lines = [
        *head,
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
        values = ", ".join(f"{name}: {_text(value)}" for name, value in cell.items())
        lines.append(f"  {type_}: {{{values}}}")
    if outcome.questions is not None:
        by_question.write(pin.scores, outcome.questions)
    pin.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _paths(name: str) -> list[Path]:
    for path in (Path(name), EXPECTED / f"{name}.yaml"):
        if path.is_dir():
            return _folder(path)
        if path.is_file():
            return [path]
    raise InputError(f"{name}: no such pin; name a YAML file, or one of {EXPECTED}")


def _folder(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.yaml"))
    if not found:
        raise InputError(f"{folder}: no pins here (*.yaml)")
    return found


def _outcome(path: Path, raw: Mapping[str, Any]) -> Outcome:
    for name, kind in (("protocol", str), ("data", dict), ("expected", dict)):
        if not isinstance(raw.get(name), kind):
            raise InputError(f'{path}: {name}: missing or of another kind; --repin "reason"')
    for type_, cell in raw["expected"].items():
        for name in ("n", *SCORES):
            if not isinstance(cell, dict) or name not in cell:
                raise InputError(f'{path}: expected.{type_}.{name}: missing; --repin "reason"')
            if not isinstance(cell[name], int | float | None):
                raise InputError(f"{path}: expected.{type_}.{name}: {cell[name]!r} is no number")
    if OVERALL not in raw["expected"]:
        raise InputError(f'{path}: expected.{OVERALL}: missing; --repin "reason"')
    return Outcome(raw["protocol"], raw["data"], raw["expected"], _questions(path, raw))


def _questions(path: Path, raw: Mapping[str, Any]) -> Questions | None:
    """The scores by question, which have to be those of the pin's own cells."""
    name = raw.get("scores")
    if name is None:
        return None
    beside = path.with_name(f"{path.stem}.scores.csv")
    if name != beside.name:
        raise InputError(f"{path}: scores: {name!r}; it is called {beside.name}")
    questions = by_question.read(beside)
    if wrong := by_question.misfit(questions, raw["expected"]):
        raise InputError(f'{beside}: does not belong to {path.name}: {wrong}; --repin "reason"')
    return questions


def _text(value: float | None) -> str:
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}f}"
