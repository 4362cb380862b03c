"""All questions of some runs: a row each for the list, and a card with answers, contexts and the
recorded calls to models.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval.datasets.types import types_in
from eval.pages.report.cards import (
    ERROR,
    RIGHT,
    UNSCORED,
    WRONG,
    question_card,
    score_in,
    score_of,
    verdict,
)
from eval.pages.report.runs import ReportedRun
from eval.records.jsonl import CALLS, USED_CALL, read_lines
from eval.records.schema import Record
from eval.rendering.blocks import Card, ModelCall
from memsys.core.json_text import parse_json
from memsys.llm.recording import CALLS as RECORDED
from memsys.llm.recording import RecordedAnswer, Recording

PAGE = 50  # questions that the list shows at once
ABSTAINED = "abstained"
VERDICTS = (RIGHT, WRONG, ERROR, ABSTAINED, UNSCORED)
_CHAT = "/chat/completions"


class Result(NamedTuple):
    """What a run has of a question: ABSTAINED follows the verdict on a refusal."""

    score: float | None
    answer: str | None
    verdicts: list[str]


class Questions:
    """All questions of some runs, in the order of the first."""

    def __init__(self, runs: Sequence[ReportedRun], calls: RecordedCalls | None = None) -> None:
        """`calls`: None if cards show no calls to models."""
        self.runs, self._measure, self._calls = runs, score_of(runs), calls
        self.key = self._measure.key
        records = [record for run in runs for record in run.records.values()]
        self.types = tuple(types_in(records).values())
        self.ids = tuple(dict.fromkeys(id_ for run in runs for id_ in run.records))

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield id, type, question, gold answer, and `runs` with a list for each run: its score,
        its answer and its verdicts; null for a run that did not ask the question.
        """
        for id_ in self.ids:
            asked = self.asked(id_)
            yield {
                **{"id": id_, "type": asked["type"], "question": asked["question"]},
                "gold": asked["gold"],
                "runs": [self.result(run, id_) for run in self.runs],
            }

    def asked(self, id_: str) -> Record:
        """Return the record of a question in the first run that asked it."""
        return next(run.records[id_] for run in self.runs if id_ in run.records)

    def score(self, run: ReportedRun, id_: str) -> float | None:
        """Return the score of a question in `run` by `key`. None where there is none, and where
        the first run that asked the question has another text of it.
        """
        return score_in(run, self.asked(id_), self._measure)

    def card(self, id_: str) -> Card | None:
        """Return the card of a question with the answers of all runs; None if no run asked it."""
        if not any(id_ in run.records for run in self.runs):
            return None
        calls = self._calls
        return question_card(id_, self.runs, lambda run: calls.of(run, id_) if calls else ())

    def result(self, run: ReportedRun, id_: str) -> Result | None:
        """Return what `run` has of a question; None if it did not ask it."""
        record = run.records.get(id_)
        if record is None:
            return None
        verdicts = [verdict(record, run.marking), *([ABSTAINED] if record["abstained"] else [])]
        return Result(self.score(run, id_), record["answer"], verdicts)


class RecordedCalls:
    """Looks up the calls of a question that a run made: their keys are in its calls.jsonl, prompts
    and replies in the cache.
    """

    def __init__(self, cache: Path) -> None:
        """Without a recording in the folder `cache`, no calls are known."""
        self._recording = Recording(cache) if (cache / RECORDED).is_file() else None
        self._keys: dict[Path, dict[str, list[tuple[str, str]]]] = {}

    def of(self, run: ReportedRun, id_: str) -> list[ModelCall]:
        """Return the calls to chat models for a question, in order; those that are not recorded are
        left out. Raises InputError if the recording or calls.jsonl is damaged.
        """
        if self._recording is None:
            return []
        used = self._of_run(run.folder).get(id_, [])
        keys = list(dict.fromkeys(key for key, _ in used))
        answers = {one.key: one for one in self._recording.find_all(keys)}
        requests = self._recording.requests(keys)
        return [
            _call(phase, answers[key], requests.get(key))
            for key, phase in used
            if key in answers and answers[key].path.endswith(_CHAT)
        ]

    def _of_run(self, folder: Path) -> dict[str, list[tuple[str, str]]]:
        """Return key and phase of each call of a run by question."""
        if folder not in self._keys:
            found: dict[str, list[tuple[str, str]]] = {}
            for row in read_lines(folder / CALLS, torn=True, schema=USED_CALL):
                if (question := row.get("question")) is not None:  # else of an ingestion
                    found.setdefault(question, []).append((row["key"], row["phase"]))
            self._keys[folder] = found
        return self._keys[folder]


def _call(phase: str, answer: RecordedAnswer, request: Mapping[str, Any] | None) -> ModelCall:
    title = f"{phase}: {answer.model}, {answer.latency_ms / 1000:,.2f} s, {answer.created}"
    if not answer.answered:
        title += f", failed (status {answer.status})"
    messages = None if request is None else request.get("messages")
    parts = []
    for one in messages if isinstance(messages, list) else [messages]:
        if isinstance(one, Mapping):
            parts.append(f"{one.get('role')}:\n{_text(one.get('content'))}")
        else:  # of a bundle that another program wrote
            parts.append(_text(one))
    prompt = "\n\n".join(parts)
    return ModelCall(title, None if messages is None else prompt, _reply(answer.body))


def _reply(body: str) -> str:
    """Return the text of the first choice; the whole JSON if there is none or the model called a
    tool.
    """
    try:
        message = parse_json(body)["choices"][0]["message"]
        text, tools = message["content"], message.get("tool_calls")
    except (ValueError, LookupError, TypeError, AttributeError):
        return body
    return text if isinstance(text, str) and not tools else body


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, indent=1)
