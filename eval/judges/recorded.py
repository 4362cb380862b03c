"""Verdicts that another judge recorded: in a file of answers, or in a run folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from eval.answers.files import read_answers
from eval.judges.judge import Judgement, ModelByName, Reference
from eval.records.run import load_run
from memsys.core.errors import InputError
from memsys.llm.base import LLM, LLMError


class JudgedAnswer(NamedTuple):
    """An answer and its recorded verdicts, one per run; none if it was not judged."""

    question: str
    gold: str
    answer: str
    verdicts: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class RecordedSettings:
    """Settings of `judge=recorded`. `path`: a file of answers with verdicts, or a run folder."""

    needs_llm: ClassVar = False
    path: str | None = None

    def open(self, llm: LLM | None, named: ModelByName | None = None) -> RecordedJudge:
        """Return the judge. Raises InputError without a path, or if it contains no verdict."""
        del llm, named
        if self.path is None:
            raise InputError("judge=recorded: set judge.path to a file of answers with verdicts")
        return RecordedJudge(Path(self.path).name, read_judged(Path(self.path).expanduser()))


class RecordedJudge:
    """Looks up the verdicts recorded on exactly the same question, gold and answer."""

    score_key = "judge"
    compares: Reference = "gold"

    def __init__(self, source: str, answers: Iterable[JudgedAnswer]) -> None:
        """`source`: name of the file or folder, for details and errors.

        Raises InputError if none of `answers` was judged.
        """
        self.name = "recorded"
        self._source = source
        self._verdicts: dict[tuple[str, str, str], set[tuple[bool, ...]]] = {}
        for answer in answers:
            if answer.verdicts:
                key = (answer.question, answer.gold, answer.answer)
                self._verdicts.setdefault(key, set()).add(answer.verdicts)
        if not self._verdicts:
            raise InputError(f"{source}: contains no verdict; a column judge is needed")

    @property
    def details(self) -> Mapping[str, Any]:
        """The source of the verdicts, and the number of different answers that have one."""
        return {"source": self._source, "answers": len(self._verdicts)}

    def judge(self, question: str, gold: str, answer: str) -> Judgement:
        """Return the recorded verdicts. Raises LLMError if there are none or contradictory ones."""
        recorded = self._verdicts.get((question, gold, answer), set())
        if len(recorded) != 1:
            problem = "two different verdicts" if recorded else "no verdict"
            raise LLMError(f"{self._source}: {problem} on this answer")
        return Judgement({self.name: next(iter(recorded))})


def read_judged(path: Path) -> list[JudgedAnswer]:
    """Return the answered questions with a gold of a file of answers or a run folder, in order.

    Raises InputError if it cannot be read (docs/importing.md describes the formats),
    or if a row has a verdict but no question or no gold.
    """
    return list(_of_run(path) if path.is_dir() else _of_file(path))


def _of_run(folder: Path) -> Iterator[JudgedAnswer]:
    for record in load_run(folder, complete=False, answered=False).records.values():
        gold, answer, passed = record["gold"], record["answer"], record["scores"].get("judge")
        if record["status"] == "ok" and gold is not None and answer is not None:
            verdicts = () if passed is None else (passed > 0.5,)
            yield JudgedAnswer(record["question"], gold, answer, verdicts)


def _of_file(path: Path) -> Iterator[JudgedAnswer]:
    for row in read_answers(path, None).rows:
        runs = tuple(passed for by_run in row.verdicts.values() for passed in by_run)
        verdicts = runs or (() if row.judge is None else (row.judge > 0.5,))
        if row.question is None or row.gold is None:
            if not verdicts:
                continue  # type 5 has no gold
            raise InputError(
                f"{path}: {row.place}: a verdict without question or gold; give every judged row "
                "both"
            )
        if row.error is None:
            yield JudgedAnswer(row.question, row.gold, row.answer, verdicts)
