"""A language model as the judge (Zheng et al., 2023, "Judging LLM-as-a-judge")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.judges.base import Judgement
from eval.judges.reply import SCHEMA, verdict
from eval.judges.settings import Named
from memsys.errors import InputError
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import PROMPTS, Prompt, load_prompt
from memsys.types import Usage

ATTEMPTS = 3  # at a reply that can be read, for each verdict
_PLACES = ("question", "gold", "answer")


@dataclass(frozen=True, slots=True)
class LLMJudgeSettings:
    """`judge=llm`. `rubric`: generous, strict, or the path of a prompt with the places {question},
    {gold} and {answer}. `runs`: verdicts on each answer. `model`: judges in place of the configured
    one, at the same endpoint; None for the configured one.
    """

    rubric: str = "generous"
    runs: int = 1
    model: str | None = None

    @property
    def needs_llm(self) -> bool:
        """True."""
        return True

    @property
    def prompt(self) -> Prompt:
        """The rubric's; raises InputError where there is none."""
        return _load(self.rubric)

    def open(self, llm: LLM | None, named: Named | None = None) -> LLMJudge:
        """The judge. Raises InputError without a model, on runs < 1 and on an unusable rubric."""
        if llm is None:
            raise InputError("judge=llm: no model to judge with; add llm=openai or llm=local")
        if self.model is not None and self.model != llm.name:
            if named is None:
                raise InputError(f"judge.model={self.model}: only {llm.name} can be had; set llm")
            llm = named(self.model)
        return LLMJudge(llm, self.rubric, self.runs)


class LLMJudge:
    """Asks `llm` `runs` times about each answer, under one rubric.

    No verdict is ever made up: a reply that cannot be read is asked for again under another sample
    number, at most `ATTEMPTS` times, and then is an LLMError.
    """

    score_key = "judge"

    def __init__(self, llm: LLM, rubric: str = "generous", runs: int = 1) -> None:
        """Raises InputError on runs < 1 and on a rubric that is no prompt."""
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise InputError(f"judge.runs={runs}: must be a whole number of 1 or more")
        self._llm = llm
        self._runs = runs
        self._rubric = Path(rubric).stem
        self._prompt = _load(rubric)
        self.name = f"{llm.name}, {self._rubric}"

    @property
    def details(self) -> Mapping[str, Any]:
        """Model, rubric, prompt and its sha256 (of the text in UTF-8), runs."""
        return {
            "model": self._llm.name,
            "rubric": self._rubric,
            "prompt": self._prompt.name,
            "prompt_sha256": self._prompt.sha256,
            "runs": self._runs,
        }

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """One verdict a run. Raises LLMError if the model gives no reply that can be read."""
        text = self._prompt.fill(question=question, gold=gold, answer=answer)
        verdicts: list[bool] = []
        usage = Usage()
        for run in range(self._runs):
            passed, spent = self._verdict(text, run)
            verdicts.append(passed)
            usage = _add(usage, spent)
        return Judgement({self.name: tuple(verdicts)}, usage)

    def _verdict(self, text: str, run: int) -> tuple[bool, Usage]:
        """The verdict of a run and what it took, the replies that could not be read included."""
        messages = [{"role": "user", "content": text}]
        usage = Usage()
        last = ""
        for attempt in range(ATTEMPTS):
            # Numbers of one run do not depend on how many runs there are: more can be added.
            sample = run * ATTEMPTS + attempt
            try:
                done = self._llm.complete(messages, schema=SCHEMA, sample=sample)
            except LLMError as error:  # a client refuses replies that are not of the schema
                usage, last = _add(usage, Usage(calls=1)), str(error)
                continue
            usage = _add(usage, done.usage)
            passed = verdict(done.text)
            if passed is not None:
                return passed, usage
            last = f"{done.text!r:.80}"
        raise LLMError(
            f"{self.name}: no verdict in {ATTEMPTS} attempts (the last: {last}); a judge must "
            "reply with JSON that has a verdict, CORRECT or WRONG"
        )


def _load(rubric: str) -> Prompt:
    own = f"judge_{rubric}"
    if (PROMPTS / f"{own}.txt").is_file():
        return load_prompt(own, _PLACES)
    if rubric in ("", ".") or not Path(rubric).expanduser().is_file():
        raise InputError(
            f"judge.rubric={rubric}: no such rubric; use generous, strict, or the path of a prompt"
        )
    return load_prompt(rubric, _PLACES)


def _add(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.calls + other.calls,
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
    )
