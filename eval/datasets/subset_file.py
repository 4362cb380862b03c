"""A subset as a file: ids of questions, and the numbers that an estimate needs. No text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.datasets.files import DATA, PROJECT
from eval.datasets.types import SourceFile
from memsys.errors import InputError

Floats = NDArray[np.float64]

FOLDER = DATA / "subsets"
GRID: Floats = np.linspace(-5.0, 7.0, 61)  # abilities at which curves are evaluated
KEPT = slice(None, None, 5)  # of GRID: where curves are kept; between them the logit is a line


@dataclass(frozen=True, slots=True)
class Chosen:
    """A question of a subset. `weight`: the share of all questions that it stands for. `slope`,
    `difficulty`: posterior means. `curve`: log-odds of a right answer at GRID[KEPT].
    """

    id: str
    weight: float
    slope: float
    difficulty: float
    curve: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Validated:
    """What an estimate was worth for systems that had no part in it.

    `reach`: half of the 95% interval; `coverage`: how often it held the truth; `least_difference`:
    by how much two systems have to differ on the subset. All on the scale of the score, 0 to 1.
    """

    estimator: str
    mean_absolute_error: float
    reach: float
    coverage: float
    least_difference: float
    systems: int
    families: int
    draws: int


@dataclass(frozen=True, slots=True)
class Subset:
    """A subset of a data set's `of` questions.

    `data`: the files that the ids are of; `answers`: those that it was made and validated with.
    `rest`: log-odds of the mean chance of the questions that are not in it, at GRID[KEPT].
    `validated`: by score (judge, locomo_f1).
    """

    name: str
    how: str
    seed: int
    of: int
    data: tuple[SourceFile, ...]
    answers: tuple[SourceFile, ...]
    systems: tuple[str, ...]
    rest: tuple[float, ...]
    validated: Mapping[str, Validated]
    questions: tuple[Chosen, ...]


def logit(chances: Floats) -> tuple[float, ...]:
    """Log-odds of chances at GRID, kept at GRID[KEPT] to 3 digits."""
    kept = chances[KEPT]
    return tuple(round(float(one), 3) for one in np.log(kept / (1 - kept)))


def chances(log_odds: Floats) -> Floats:
    """Chances at GRID (..., len(GRID)) of what `logit` kept (..., len(GRID[KEPT]))."""
    rows = np.atleast_2d(log_odds)
    full = np.stack([np.interp(GRID, GRID[KEPT], row) for row in rows])
    result: Floats = 1 / (1 + np.exp(-full))
    return result if np.ndim(log_odds) > 1 else result[0]


def place(name: str) -> Path:
    """Where the subset is that `dataset.subset` names: `lite`, or a file of one's own."""
    if name == "lite":
        return FOLDER / "locomo_lite.json"
    given = Path(name).expanduser()
    return given if given.is_absolute() or given.exists() else PROJECT / given


def read_subset(name: str) -> tuple[Subset, SourceFile]:
    """The subset `name` and its file. Raises InputError where it is not as it should be."""
    path = place(name)
    try:
        data = path.read_bytes()
        raw = json.loads(data)
        subset = _subset(raw)
    except OSError as error:
        raise InputError(
            f"dataset.subset={name}: {path} cannot be read ({error.strerror}); use lite, the path "
            "of a subset, or null for all questions"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"dataset.subset={name}: {path} is not as a subset should be ({error!r}); make it by "
            "python -m eval.studies.lite"
        ) from error
    ids = [question.id for question in subset.questions]
    if not ids or len(set(ids)) < len(ids):
        raise InputError(f"{path}: no id, or an id twice; make it by python -m eval.studies.lite")
    return subset, SourceFile(path.name, len(data), hashlib.sha256(data).hexdigest())


def _subset(raw: Mapping[str, Any]) -> Subset:
    return Subset(
        name=str(raw["name"]),
        how=str(raw["how"]),
        seed=int(raw["seed"]),
        of=int(raw["of"]),
        data=tuple(SourceFile(**one) for one in raw["data"]),
        answers=tuple(SourceFile(**one) for one in raw["answers"]),
        systems=tuple(map(str, raw["systems"])),
        rest=tuple(map(float, raw["rest"])),
        validated={score: Validated(**one) for score, one in raw["validated"].items()},
        questions=tuple(Chosen(**{**q, "curve": tuple(q["curve"])}) for q in raw["questions"]),
    )


def text_of(subset: Subset) -> str:
    """The file's text: one line a question, so that a change can be read."""
    head = asdict(subset)
    questions = [json.dumps(one) for one in head.pop("questions")]
    top = json.dumps(head, indent=1).removesuffix("\n}")
    return top + ',\n "questions": [\n  ' + ",\n  ".join(questions) + "\n ]\n}\n"
