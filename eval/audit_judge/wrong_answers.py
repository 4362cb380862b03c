"""Specific wrong answers: gold answers of other questions, or published ones for LoCoMo."""

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.answers.files import read_answers
from eval.answers.match import match
from eval.datasets.files import shared_folder
from eval.datasets.types import Dataset, Question
from eval.metrics.normalise import normalise, terms
from eval.metrics.strict_f1 import alternatives
from memsys.core.errors import InputError
from memsys.core.terms import is_cjk

_DATE = re.compile(r"\bmonth\d|\bday\d|\b(?:19|20)\d\d\b")
_NUMBER = re.compile(r"\d")
_NEAREST = 8  # candidates of similar length from which one is drawn
# By kind of probe, the files of wrong answers to LoCoMo that dial481/locomo-audit published.
FILES = {"wrong_specific": "ap_wrong_v1.jsonl.gz", "wrong_vague": "ap_wrong_v2.jsonl.gz"}


class WrongAnswers:
    """Draws for each question the gold of another question of its type, language and form."""

    def __init__(self, questions: Sequence[Question], seed: int) -> None:
        """`questions`: with a gold answer; their golds are the candidates."""
        self._seed = seed
        self._pools: dict[tuple[str, bool, str], list[str]] = {}
        for q in questions:
            pool = self._pools.setdefault(_group(q), [])
            if q.gold is not None and q.gold not in pool:
                pool.append(q.gold)

    def specific(self, question: Question) -> str | None:
        """Return a gold with another meaning than the question's, of similar length, or None.

        Of the two golds and their alternatives, neither contains all terms of the other.
        """
        gold = question.gold or ""
        others = [one for one in self._pools.get(_group(question), []) if _differs(one, gold)]
        if not others:
            return None
        others.sort(key=lambda one: (abs(len(one) - len(gold)), one))
        draw = random.Random(f"{self._seed} {question.id}")  # noqa: S311 - sampling, not security
        return draw.choice(others[:_NEAREST])


def _group(question: Question) -> tuple[str, bool, str]:
    """Return the type, whether Chinese, and the form: a date is no credible answer to "who"."""
    plain = normalise(question.gold or "")
    form = "date" if _DATE.search(plain) else "number" if _NUMBER.search(plain) else "words"
    return question.type, is_cjk(question.text), form


def _differs(one: str, other: str) -> bool:
    ours, theirs = ([set(terms(text)) for text in alternatives(gold)] for gold in (one, other))
    return all(not (a <= b or b <= a) for a in ours for b in theirs) and bool(ours) and bool(theirs)


def published_files(folder: str | None) -> dict[str, Path]:
    """Return the existing files of FILES by kind, in `folder` or $MEMSYS_SHARED/locomo/answers.

    Raises InputError if `folder` is not None and lacks one of them.
    """
    place = shared_folder() / "locomo" / "answers" if folder is None else Path(folder).expanduser()
    paths = {kind: place / name for kind, name in FILES.items() if (place / name).is_file()}
    if folder is not None and len(paths) < len(FILES):
        missing = next(name for kind, name in FILES.items() if kind not in paths)
        raise InputError(f"probes={folder}: has no {missing}; name a folder with both, or null")
    return paths


def published_answers(paths: Mapping[str, Path], dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return kind -> question id -> answer for the questions of `dataset` that the files answer.

    Rows are matched as in memsys rescore: by position, checked against the question's text. A kind
    without a matching row is left out, as its file is of other conversations.
    """
    matched = {
        kind: {
            id_: row.answer
            for id_, row in match(read_answers(path, dataset).rows, dataset).answers.items()
        }
        for kind, path in paths.items()
    }
    return {kind: answers for kind, answers in matched.items() if answers}
