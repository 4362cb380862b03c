"""The recorded calls to models behind an answer: prompts and replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.pages.report.runs import ReportedRun
from eval.records.jsonl import CALLS, read_lines
from eval.rendering.blocks import ModelCall
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json
from memsys.llm.recording import CALLS as RECORDED
from memsys.llm.recording import RecordedAnswer, Recording

_CHAT = "/chat/completions"


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
            for number, row in enumerate(read_lines(folder / CALLS, torn=True), 1):
                question, key, phase = (row.get(name) for name in ("question", "key", "phase"))
                if question is None:
                    continue  # of an ingestion
                if not (isinstance(key, str) and isinstance(phase, str)):
                    raise InputError(f"{folder / CALLS}: line {number}: needs key and phase")
                found.setdefault(str(question), []).append((key, phase))
            self._keys[folder] = found
        return self._keys[folder]


def _call(phase: str, answer: RecordedAnswer, request: Mapping[str, Any] | None) -> ModelCall:
    title = f"{phase}: {answer.model}, {answer.latency_ms / 1000:,.2f} s, {answer.created}"
    if not answer.answered:
        title += f", failed (status {answer.status})"
    messages = None if request is None else request.get("messages")
    prompt = _text(messages)
    if isinstance(messages, list):
        prompt = "\n\n".join(map(_message, messages))
    return ModelCall(title, None if messages is None else prompt, _reply(answer.body))


def _message(message: object) -> str:
    if not isinstance(message, Mapping):  # of a bundle that another program wrote
        return _text(message)
    return f"{message.get('role')}:\n{_text(message.get('content'))}"


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
