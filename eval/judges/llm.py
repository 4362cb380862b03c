"""A language model as the judge (Zheng et al., 2023, "Judging LLM-as-a-judge")."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from eval.judges.judge import Judgement, ModelByName, Reference
from memsys.core.addresses import without_secrets
from memsys.core.declared import Count, Word, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Usage
from memsys.llm.base import LLM, LLMError, needed_model
from memsys.llm.client import ChatClient
from memsys.llm.meter import total_usage
from memsys.llm.prompt import PROMPTS, Prompt, load_prompt
from memsys.llm.reply import json_objects, object_schema

_REASON = 1_000  # characters that are recorded
ATTEMPTS = 3  # per verdict, until a reply contains one
_PLACEHOLDERS = ("question", "gold", "answer")
_CUE = "{cue}"  # in place of {gold}: the rubric judges awareness of the cue
# Without a bound a small model writes until its tokens are used up, and gives no verdict.
_SHORT = '^[^"\\\\\n]{1,160}$'

SCHEMA: Mapping[str, Any] = object_schema(
    {  # the reason first: a verdict after it can follow from it
        "reason": {"type": "string", "pattern": _SHORT},
        "verdict": {"type": "string", "enum": ["CORRECT", "WRONG"]},
    }
)
_VERDICTS = {"CORRECT": True, "WRONG": False}


class Verdict(NamedTuple):
    """Whether the judge passed an answer, and why ("" without a reason)."""

    passed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class LLMJudgeSettings:
    """Settings of `judge=llm`.

    `rubric`: generous, strict, awareness (of the cue, for questions without gold answer), or the
    path of a prompt with the placeholders {question}, {gold} or {cue}, and {answer}. `runs`:
    verdicts per answer. `model`: another model at the same endpoint; None for the configured one.
    """

    needs_llm: ClassVar = True
    rubric: str = "generous"
    runs: Count = 1
    model: Word | None = None

    def __post_init__(self) -> None:
        """Raise InputError on runs below 1."""
        check_fields(self, "judge")

    @property
    def prompt(self) -> Prompt:
        """The rubric's prompt; raises InputError if there is none."""
        return _load(self.rubric)

    @property
    def compares(self) -> Reference:
        """See Judge; raises InputError as `prompt` does."""
        return _compares(self.prompt)

    def open(self, llm: LLM | None, named: ModelByName | None = None) -> LLMJudge:
        """Return the judge. Raises InputError without a model or on an invalid rubric."""
        llm = needed_model(llm, "judge=llm", "judge with")
        if self.model is not None and self.model != llm.name:
            if named is None:
                raise InputError(f"judge.model={self.model}: only {llm.name} is available; set llm")
            llm = named(self.model)
        return LLMJudge(llm, self.rubric, self.runs)


class LLMJudge:
    """Requests `runs` verdicts on each answer from `llm`, under one rubric.

    A verdict is never invented: a reply without one is requested again under another sample number,
    and after ATTEMPTS replies the result is an LLMError.
    """

    score_key = "judge"

    def __init__(self, llm: LLM, rubric: str = "generous", runs: int = 1) -> None:
        """Raises InputError on a rubric that is no prompt."""
        self._llm = llm
        self._runs = runs
        self._rubric = Path(rubric).stem
        self._prompt = _load(rubric)
        self.compares = _compares(self._prompt)
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

    @property
    def reply_format(self) -> str | None:
        """How the server was asked for JSON: json_schema, json_object or text; None before a call
        and for a model without a server.
        """
        return self._llm.reply_format if isinstance(self._llm, ChatClient) else None

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """Return verdict and reason of each run. Raises LLMError if the model gives no verdict."""
        text = self._prompt.fill(question=question, gold=gold, cue=gold, answer=answer)
        verdicts, usages = zip(
            *(self._verdict(text, run) for run in range(self._runs)), strict=True
        )
        return Judgement(
            {self.name: tuple(verdict.passed for verdict in verdicts)},
            total_usage(usages),
            {self.name: tuple(verdict.reason for verdict in verdicts)},
        )

    def _verdict(self, text: str, run: int) -> tuple[Verdict, Usage]:
        """Return the verdict of a run and the usage of all its replies, rejected ones included."""
        messages = [{"role": "user", "content": text}]
        usage, last = Usage(), ""
        for attempt in range(ATTEMPTS):
            # Numbers of one run do not depend on how many runs there are: more can be added.
            sample = run * ATTEMPTS + attempt
            try:
                done = self._llm.complete(messages, schema=SCHEMA, sample=sample)
            except LLMError as error:  # a client refuses replies that are not of the schema
                usage, last = total_usage((usage, Usage(calls=1))), str(error)
                continue
            usage = total_usage((usage, done.usage))
            verdict = parse_verdict(done.text)
            if verdict is not None:
                return verdict, usage
            last = f"{done.text!r:.80}"
        raise LLMError(
            f"{self.name}: no verdict in {ATTEMPTS} attempts (the last: {last}); a judge must "
            "reply with JSON of the fields reason and verdict, CORRECT or WRONG"
        )


def parse_verdict(reply: str) -> Verdict | None:
    """Return the verdict of `reply` with its reason; None if it gives none, or both verdicts.

    The `verdict` of each JSON object in the reply counts, also amid other text, as not every
    endpoint enforces a schema. A word outside of JSON is never taken for a verdict.
    """
    reasons: dict[bool, str] = {}
    for _, fields in json_objects(reply):
        passed = _VERDICTS.get(str(fields.get("verdict")).strip().upper())
        if passed is not None:
            reasons.setdefault(passed, _clean(fields.get("reason")))
    return Verdict(*next(iter(reasons.items()))) if len(reasons) == 1 else None


def _clean(reason: object) -> str:
    """Return a reason that can be recorded: without secrets, and "" if it is no text."""
    if not isinstance(reason, str):
        return ""
    return textwrap.shorten(without_secrets(reason), _REASON, placeholder=" …")


def _load(rubric: str) -> Prompt:
    name = f"judge_{rubric}"
    if not (PROMPTS / f"{name}.txt").is_file():
        name = rubric
        if rubric in ("", ".") or not Path(rubric).expanduser().is_file():
            raise InputError(
                f"judge.rubric={rubric}: no such rubric; use generous, strict, awareness, or the "
                "path of a prompt"
            )
    prompt = load_prompt(name, ("question", "answer"))
    return prompt if _compares(prompt) == "cue" else load_prompt(name, _PLACEHOLDERS)


def _compares(prompt: Prompt) -> Reference:
    return "cue" if _CUE in prompt.text else "gold"
