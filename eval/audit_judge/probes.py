"""Answers whose verdict is known beforehand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from eval.audit_judge.reformat import reformatted
from eval.audit_judge.wording import REFUSALS, buried, vague
from eval.audit_judge.wrong import WrongAnswers
from eval.datasets.types import ADVERSARIAL, Question
from eval.metrics.abstention import abstains
from memsys.text.terms import is_cjk

# Kind -> whether a judge has to pass it, and what it is.
KINDS: Mapping[str, tuple[bool, str]] = {
    "gold": (True, "the gold answer itself"),
    "gold_reformatted": (True, "the gold with dates, numbers or lists written otherwise"),
    "gold_long": (True, "the gold in a long answer"),
    "wrong_specific": (False, "another name, date or thing than the gold"),
    "wrong_vague": (False, "on the topic, without the information"),
    "wrong_long": (False, "a specific wrong answer in a long one"),
    "empty": (False, "nothing"),
    "refusal": (False, "the answer is not known"),
}
RIGHT = tuple(kind for kind, (right, _) in KINDS.items() if right)


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer to put before a judge. `question_id`, `conversation` and `type` as in Question."""

    kind: str
    question_id: str
    conversation: str
    type: str
    question: str
    gold: str
    answer: str

    @property
    def right(self) -> bool:
        """Whether a judge has to pass it."""
        return KINDS[self.kind][0]


Given = Mapping[str, Mapping[str, str]]  # kind -> question id -> answer


def make_probes(
    questions: Sequence[Question], given: Given, limit: int | None, seed: int
) -> list[Probe]:
    """Probes of every kind over the questions that have a gold, at most `limit` of each kind.

    given: wrong answers that somebody wrote; a kind it has is not made by rule. One seeded order of
    questions serves all kinds, so that a kind and its long form are of the same questions.
    """
    asked = _shuffled(questions, seed)
    wrong = WrongAnswers(asked, seed)
    specific = _giver(given, "wrong_specific", wrong.specific)

    def long_wrong(question: Question) -> str | None:
        answer = specific(question)
        return None if answer is None else buried(answer)

    makers: dict[str, Callable[[Question], str | None]] = {
        "gold": lambda q: q.gold,
        "gold_reformatted": lambda q: reformatted(q.text, q.gold or ""),
        "gold_long": lambda q: buried(q.gold or ""),
        "wrong_specific": specific,
        "wrong_vague": _giver(given, "wrong_vague", vague),
        "wrong_long": long_wrong,
        "empty": lambda q: None if abstains(q.gold or "") else "",
        "refusal": _refusal,
    }
    return [probe for kind, make in makers.items() for probe in _first(kind, asked, make, limit)]


def given_probes(
    questions: Sequence[Question], given: Given, limit: int | None, seed: int
) -> list[Probe]:
    """Probes of the given answers alone, at most `limit` of each kind in a seeded order."""
    asked = _shuffled(questions, seed)
    return [
        probe
        for kind, answers in given.items()
        for probe in _first(kind, asked, lambda q, answers=answers: answers.get(q.id), limit)  # type: ignore[misc]
    ]


def _shuffled(questions: Iterable[Question], seed: int) -> list[Question]:
    asked = [q for q in questions if q.gold is not None and q.category != ADVERSARIAL]
    random.Random(seed).shuffle(asked)  # noqa: S311 - a sample, no secret
    return asked


def _first(
    kind: str,
    questions: Iterable[Question],
    make: Callable[[Question], str | None],
    limit: int | None,
) -> list[Probe]:
    found: list[Probe] = []
    for q in questions:
        if limit is not None and len(found) == limit:
            break
        answer = make(q)
        if answer is not None:
            found.append(Probe(kind, q.id, q.conversation, q.type, q.text, q.gold or "", answer))
    return found


def _giver(
    given: Given, kind: str, rule: Callable[[Question], str | None]
) -> Callable[[Question], str | None]:
    answers = given.get(kind)
    return rule if not answers else lambda question: answers.get(question.id)


def _refusal(question: Question) -> str | None:
    """A refusal in the question's language; none where the gold refuses as well."""
    if abstains(question.gold or ""):
        return None
    wordings = REFUSALS["zh" if is_cjk(question.text) else "en"]
    return wordings[len(question.text) % len(wordings)]
