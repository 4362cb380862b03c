"""Probes: answers with a known right verdict, and the verdicts of a judge on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from tqdm import tqdm

from eval.audit_judge.wording import REFUSALS, buried, reformatted, vague
from eval.audit_judge.wrong_answers import WrongAnswers
from eval.datasets.types import ADVERSARIAL, Question
from eval.judges.judge import Judge
from eval.metrics.abstention import abstains
from eval.metrics.stats.verdicts import majority
from memsys.core.concurrency import run_jobs
from memsys.core.terms import is_cjk
from memsys.llm.base import LLMError

# Kind -> whether a judge has to pass it, and a description.
KINDS: Mapping[str, tuple[bool, str]] = {
    "gold": (True, "the gold answer itself"),
    "gold_reformatted": (True, "the gold with dates, numbers or lists in another form"),
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
    """An answer to be judged; `question_id`, `conversation` and `type` as in Question."""

    kind: str
    question_id: str
    conversation: str
    type: str
    question: str
    gold: str
    answer: str

    @property
    def right(self) -> bool:
        """Whether a judge has to pass the answer."""
        return KINDS[self.kind][0]


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The verdicts on a probe by judge and run, or the error because of which there are none."""

    probe: Probe
    runs: Mapping[str, tuple[bool, ...]]
    error: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the majority of all verdicts passed the probe."""
        return majority([verdict for runs in self.runs.values() for verdict in runs])


Answers = Mapping[str, Mapping[str, str]]  # kind -> question id -> answer
Make = Callable[[Question], str | None]  # the answer of a probe; None: there is none


def make_probes(
    questions: Sequence[Question],
    written: Answers,
    limit: int | None,
    seed: int,
    *,
    by_rule: bool = True,
) -> list[Probe]:
    """Return probes of every kind for the questions with a gold, at most `limit` of each kind.

    `written`: published wrong answers, used in place of those by rule for the kinds it contains;
    without `by_rule`, they are the only probes. All kinds share one seeded order of questions, so
    that a kind and its long form are of the same questions.
    """
    asked = [q for q in questions if q.gold is not None and q.category != ADVERSARIAL]
    random.Random(seed).shuffle(asked)  # noqa: S311 - sampling, not security
    makers = {kind: _written(answers) for kind, answers in written.items()}
    if by_rule:
        makers = _makers(makers, WrongAnswers(asked, seed).specific)
    return [probe for kind, make in makers.items() for probe in _first(kind, asked, make, limit)]


def _makers(written: Mapping[str, Make], specific: Make) -> dict[str, Make]:
    """Return what makes the answer of each kind; `specific`: by rule."""
    specific = written.get("wrong_specific", specific)
    return {
        "gold": lambda q: q.gold,
        "gold_reformatted": lambda q: reformatted(q.text, q.gold or ""),
        "gold_long": lambda q: buried(q.gold or ""),
        "wrong_specific": specific,
        "wrong_vague": written.get("wrong_vague", vague),
        "wrong_long": lambda q: buried(answer) if (answer := specific(q)) is not None else None,
        "empty": lambda q: None if abstains(q.gold or "") else "",
        "refusal": _refusal,
    }


def judge_probes(judge: Judge, probes: Sequence[Probe], workers: int = 1) -> list[ProbeOutcome]:
    """Return the outcome of each probe, in order, with a progress bar; `workers` at a time.

    An LLMError is the outcome of its probe; any other error ends the audit.
    """
    outcomes: dict[int, ProbeOutcome] = {}
    with tqdm(total=len(probes), desc=judge.name, unit="probe", disable=None) as bar:

        def ask(number: int, probe: Probe) -> None:
            outcomes[number] = _judge(judge, probe)
            bar.update()

        run_jobs([partial(ask, *numbered) for numbered in enumerate(probes)], workers)
    return [outcomes[number] for number in range(len(probes))]


def _judge(judge: Judge, probe: Probe) -> ProbeOutcome:
    try:
        judgement = judge.judge(probe.question, probe.gold, probe.answer)
    except LLMError as error:
        return ProbeOutcome(probe, {}, str(error))
    return ProbeOutcome(probe, judgement.runs)


def _first(
    kind: str, questions: Iterable[Question], make: Make, limit: int | None
) -> Iterator[Probe]:
    probes = (
        Probe(kind, q.id, q.conversation, q.type, q.text, q.gold or "", answer)
        for q in questions
        if (answer := make(q)) is not None
    )
    return islice(probes, limit)


def _written(answers: Mapping[str, str]) -> Make:
    return lambda question: answers.get(question.id)


def _refusal(question: Question) -> str | None:
    """Return a refusal in the question's language; None if the gold refuses as well."""
    if abstains(question.gold or ""):
        return None
    wordings = REFUSALS["zh" if is_cjk(question.text) else "en"]
    return wordings[len(question.text) % len(wordings)]
