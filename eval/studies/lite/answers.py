"""Published answers of many systems to the same questions, as tables of scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from eval.answers.files import read_answers
from eval.answers.match import match
from eval.datasets.subset import Floats
from eval.datasets.types import ADVERSARIAL, Dataset, SourceFile
from eval.metrics.locomo_f1 import locomo_f1
from memsys.core.errors import InputError

PROBES = "ap_wrong"  # prefix of files with deliberately wrong answers, which no system gave
_RUN = re.compile(r"_run\d+$")
# Variants of one system: the same memory with another reader, prompt or judge.
_FAMILIES = {"fc": "full context", "fullcontext": "full context", "mem0": "mem0", "mem0oss": "mem0"}
# Who published the answers and verdicts, each with one reader and one judge prompt.
_PUBLISHERS = {"_mirix": "MIRIX", "mirix": "MIRIX", "fc_": "locomo-audit", "ap_": "locomo-audit"}


@dataclass(frozen=True, slots=True)
class AnsweredSystem:
    """Scores of S systems on Q questions (types 1 to 4), in the data set's order.

    `ids`, `types`, `conversations` (Q); `systems`, `families`, `publishers` (S); `verdicts` and
    `f1` (S, Q), 0 to 1, `verdicts` NaN in the whole row of a system without a judge. `files`: the
    answer files.
    """

    ids: tuple[str, ...]
    types: tuple[str, ...]
    conversations: tuple[str, ...]
    systems: tuple[str, ...]
    families: tuple[str, ...]
    publishers: tuple[str, ...]
    verdicts: Floats
    f1: Floats
    files: tuple[SourceFile, ...]

    @property
    def strata(self) -> list[str]:
        """Type and conversation of each question."""
        pairs = zip(self.types, self.conversations, strict=True)
        return [f"{type_}/{conversation}" for type_, conversation in pairs]

    @property
    def judged(self) -> list[int]:
        """Positions of the systems that have verdicts."""
        return [i for i, row in enumerate(self.verdicts) if not np.isnan(row).any()]


def read_answered(paths: Sequence[Path], dataset: Dataset) -> AnsweredSystem:
    """Read verdicts and compute LoCoMo's F1 per file; questions match as in memsys rescore.

    Raises InputError if a file lacks a question of types 1 to 4 or has verdicts on only some.
    """
    asked = [q for q in dataset.questions if q.category != ADVERSARIAL and q.gold is not None]
    verdicts, f1, files, names = [], [], [], []
    for path in tqdm(paths, desc="answers", unit="file", disable=None):
        file = read_answers(path, dataset)
        rows = match(file.rows, dataset).answers
        missing = [q.id for q in asked if q.id not in rows]
        if missing:
            raise InputError(
                f"{path}: no answer to {missing[0]} ({len(missing)} of {len(asked)} are missing); "
                "name files that answer every question of types 1 to 4"
            )
        judged = [rows[q.id].judge for q in asked]
        if len({one is None for one in judged}) > 1:
            raise InputError(f"{path}: verdicts on only some questions; judge all or none")
        verdicts.append([np.nan if one is None else one for one in judged])
        f1.append([locomo_f1(rows[q.id].answer, q.gold, q.category) for q in asked])
        files.append(file.source)
        names.append(path.name.partition(".")[0])
    return AnsweredSystem(
        tuple(q.id for q in asked),
        tuple(q.type for q in asked),
        tuple(q.conversation for q in asked),
        tuple(names),
        tuple(map(family, names)),
        tuple(map(publisher, names)),
        np.array(verdicts, dtype=np.float64),
        np.array(f1, dtype=np.float64),
        tuple(files),
    )


def system_of(name: str) -> str:
    """System of a file by its `name`, without the number of the run."""
    return _RUN.sub("", name)


def family(name: str) -> str:
    """Family of a file's system: all runs of one system, and all readers of one memory."""
    stem = system_of(name)
    return _FAMILIES.get(stem.partition("_")[0], stem)


def publisher(name: str) -> str:
    """Publisher of a file's answers and verdicts."""
    for part, who in _PUBLISHERS.items():
        if name.endswith(part) or name.startswith(part):
            return who
    return name
