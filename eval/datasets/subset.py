"""Subsets of a data set: files with question ids and the numbers an estimate needs, no text."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from eval.datasets.files import SHIPPED_DATA, find_path, read_json, validate
from eval.datasets.overlays import Distinct, Entries
from eval.datasets.types import SourceFile, SubsetUsed
from memsys.core.errors import InputError

Floats = NDArray[np.float64]
FOLDER = SHIPPED_DATA / "subsets"
GRID: Floats = np.linspace(-5.0, 7.0, 61)  # abilities at which item curves are evaluated
STORED = slice(None, None, 5)  # of GRID: points in the file; the logit is linear between them
_POINTS = len(GRID[STORED])
Curve = Annotated[tuple[float, ...], Field(min_length=_POINTS, max_length=_POINTS)]
_REBUILD = "restore the shipped file"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A question of a subset.

    `weight`: share of all questions that it represents. `curve`: log-odds of a right answer at
    GRID[STORED].
    """

    id: str
    weight: Annotated[float, Field(gt=0, le=1)]
    curve: Curve


@dataclass(frozen=True, slots=True)
class Validated:
    """Error of an estimate on systems that were not used to build the subset; scores are 0 to 1.

    `reach`: half the 95% interval. `least_difference`: smallest difference of two systems that can
    be detected on the subset.
    """

    estimator: str
    reach: float
    least_difference: float


@dataclass(frozen=True, slots=True)
class Subset:
    """What an estimate needs of the file of a subset of a data set's `of` questions.

    `data`: the data files of the ids. `rest`: log-odds, at GRID[STORED], of the mean probability of
    a right answer to the questions outside the subset. `validated`: by score (judge, locomo_f1).
    """

    name: str
    of: int
    data: tuple[SourceFile, ...]
    rest: Curve
    validated: Mapping[str, Validated]
    questions: Annotated[Distinct[Chosen], Field(min_length=1)]


def open_subset(
    name: str, files: Sequence[SourceFile], conversations: Collection[str]
) -> tuple[SubsetUsed, Entries[Chosen]]:
    """Return the subset `name` for the data of `files` with these `conversations`, and its
    questions.

    Raises InputError if it cannot be read, was built for other data (by sha256: its ids would mean
    other questions), or names a conversation that does not exist.
    """
    subset, file = read_subset(name)
    others = {source.sha256 for source in subset.data} - {source.sha256 for source in files}
    if others:
        raise InputError(
            f"dataset.subset={name}: built for another {subset.data[0].name} (sha256 "
            f"{min(others)[:12]}...); get that one by python -m eval fetch locomo, or set "
            "dataset.subset=null"
        )
    questions = {question.id: question for question in subset.questions}
    remedy = f"{_REBUILD}, or set dataset.subset=null"
    entries = Entries(f"dataset.subset: {file.name}", questions, remedy)
    entries.check_conversations(conversations)
    return SubsetUsed(subset.name, file, len(questions), subset.of), entries


def read_subset(name: str) -> tuple[Subset, SourceFile]:
    """Return the subset `name` (`lite` or a path) and its file; raise InputError if invalid."""
    path = FOLDER / "locomo_lite.json"
    if name != "lite":
        remedy = "use lite, the path of a subset, or null for all questions"
        path = find_path(name, remedy, "dataset.subset", kind="file")
    raw, file = read_json(path)
    return validate(Subset, raw, f"dataset.subset={name}: {path}", _REBUILD), file


def chances(log_odds: Floats) -> Floats:
    """Return probabilities at GRID (..., len(GRID)) of log-odds at GRID[STORED]."""
    full = np.apply_along_axis(lambda row: np.interp(GRID, GRID[STORED], row), -1, log_odds)
    return np.asarray(1 / (1 + np.exp(-full)))
