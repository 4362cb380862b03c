"""The runs of a report: with summaries, and with what records omit: the texts of memories from the
data set, and the recorded calls to models from the cache.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from eval.analyse.diagnose.retrieval_vs_reading import Marking
from eval.datasets.reload import build_trusted, load_original
from eval.datasets.types import Dataset
from eval.records.files import CALLS, USED_CALL, read_lines
from eval.records.run import Run, load_runs
from eval.records.schema import Cell, Summary
from eval.rendering.blocks import ModelCall
from eval.rendering.palette import Look, looks
from eval.summary.summarise import OVERALL, summarise
from memsys.context.writers import stamp
from memsys.core.errors import InputError
from memsys.core.json_text import parse_json
from memsys.core.trusted import check_config
from memsys.core.turns import line
from memsys.knowledge.memory.base import MemoryBuilder
from memsys.llm.recording import CALLS as RECORDED
from memsys.llm.recording import RecordedAnswer, Recording

_CHAT = "/chat/completions"
_CORRECT = 0.5  # least F1 of a right answer that no judge has seen, as in memsys diagnose
TextAndTime = tuple[str | None, str | None]


class Texts:
    """Text and session time of memories and turns, by conversation and id; None of both where
    there is no such memory or turn.
    """

    def __init__(
        self, dataset: Dataset | None = None, builder: MemoryBuilder | None = None
    ) -> None:
        """Without a `dataset` nothing has texts, without a `builder` only turns have."""
        conversations = dataset.conversations if dataset else ()
        self.conversations = {conversation.id: conversation for conversation in conversations}
        self._turns: dict[tuple[str, str], tuple[str, str]] = {}
        self._memories: dict[tuple[str, str], tuple[str, str, tuple[str, ...]]] = {}
        for conversation in conversations:
            opened = builder and builder.opened()
            for session in conversation.sessions:
                time = stamp(session.time)
                for turn in session.turns:
                    self._turns[conversation.id, turn.id] = (line(turn), time)
                for memory in opened.build(session) if opened else ():
                    key = (conversation.id, memory.id)
                    self._memories[key] = (memory.content, time, memory.turns)

    def memory(self, conversation: str, id_: str, turns: Sequence[str]) -> TextAndTime:
        """Return text and time of the memory built from `turns`."""
        memory = self._memories.get((conversation, id_))
        return memory[:2] if memory and {*memory[2]} == {*turns} else (None, None)

    def turn(self, conversation: str, id_: str) -> TextAndTime:
        """Return text and time of a turn."""
        return self._turns.get((conversation, id_), (None, None))


@dataclass(frozen=True)
class ReportedRun(Run):
    """A complete run with its summary and, where the data set is available, its texts."""

    summary: Summary = field(repr=False)
    # Texts by the settings that determine them, shared by the runs that are loaded together.
    shared: dict[str, tuple[Texts, str | None]] = field(default_factory=dict, repr=False)

    @property
    def overall(self) -> Cell:
        """The summary's cell of types 1 to 4."""
        return self.summary["by_type"][OVERALL]

    @property
    def marking(self) -> Marking:
        """The score and threshold that make an answer right."""
        return Marking(self.own_f1, _CORRECT)

    @property
    def judged(self) -> bool:
        """Whether a judge scored answers."""
        return self.overall["judge"] is not None

    @cached_property
    def sees_evidence(self) -> bool:
        """Whether the strategy was given the evidence of the questions, as the oracle is; False
        where its class is none of this project's or the user's.
        """
        config = self.manifest["config"].get("strategy")
        try:
            check_config(config, "strategy", "the manifest")
            module, _, name = str((config or {}).get("_target_")).rpartition(".")
            return bool(getattr(getattr(import_module(module), name), "sees_evidence", False))
        except (AttributeError, ImportError, InputError, ValueError):
            return False

    @property
    def texts(self) -> Texts:
        """Texts of memories and turns, without any where they cannot be loaded."""
        return self._loaded[0]

    @property
    def without_texts(self) -> str | None:
        """The reason why there are no texts; None where there are."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Texts, str | None]:
        config = self.manifest["config"]
        of = json.dumps([config.get("dataset"), config.get("memory"), self.manifest["data"]])
        if of not in self.shared:
            try:
                self.shared[of] = load_texts(self.manifest), None
            except InputError as error:
                self.shared[of] = Texts(), str(error)
        return self.shared[of]


def looks_of(runs: Sequence[ReportedRun]) -> list[Look]:
    """Return the colour and the marker of each run, by its strategy."""
    return looks([run.label for run in runs], [run.strategy for run in runs])


def load_texts(manifest: Mapping[str, Any]) -> Texts:
    """Return the texts of the run's data set; raises InputError as load_original does."""
    dataset, settings = load_original(manifest), manifest["config"].get("memory")
    try:
        built = build_trusted(settings, "memory") if isinstance(settings, Mapping) else None
    except InputError:  # memories that cannot be rebuilt without a model
        built = None
    return Texts(dataset, built if isinstance(built, MemoryBuilder) else None)


def missing_texts(runs: Sequence[ReportedRun]) -> list[str]:
    """Return a sentence with the reason for each run whose memories are shown by id only."""
    return [
        f"{run.label}: memories by id only ({run.without_texts})"
        for run in runs
        if run.without_texts is not None
    ]


def load(names: Sequence[str]) -> list[ReportedRun]:
    """Load complete runs by folder or id, in order; see load_runs.

    Raises InputError if one cannot be read, is unfinished, is named twice, has no question that
    counts, or has an answered question without the F1 that the run reports.
    """
    shared: dict[str, tuple[Texts, str | None]] = {}
    return [_reported(run, shared) for run in load_runs(names)]


def _reported(run: Run, shared: dict[str, tuple[Texts, str | None]]) -> ReportedRun:
    for record in run.counted if run.has_answers else ():
        if run.own_f1 not in record["scores"]:
            raise InputError(
                f"{run.folder}: {record['id']} lacks the score {run.own_f1}; run "
                "python -m eval rescore on it"
            )
    summary = summarise(list(run.records.values()), run.manifest, run.seed)
    reported = ReportedRun(run.label, run.folder, run.manifest, run.records, summary, shared)
    reported.rankings  # noqa: B018 - an invalid file is an error now, not on a page later
    return reported


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
        answers = {answer.key: answer for answer in self._recording.find_all(keys)}
        requests = self._recording.requests(keys)
        return [
            _call(phase, answers[key], requests.get(key))
            for key, phase in used
            if key in answers and answers[key].path.endswith(_CHAT)
        ]

    def _of_run(self, folder: Path) -> dict[str, list[tuple[str, str]]]:
        """Return key and phase of each call of a run by question."""
        if folder not in self._keys:
            by_question: dict[str, list[tuple[str, str]]] = {}
            for row in read_lines(folder / CALLS, torn=True, schema=USED_CALL):
                if (question := row.get("question")) is not None:  # else of an ingestion
                    by_question.setdefault(question, []).append((row["key"], row["phase"]))
            self._keys[folder] = by_question
        return self._keys[folder]


def _call(phase: str, answer: RecordedAnswer, request: Mapping[str, Any] | None) -> ModelCall:
    title = f"{phase}: {answer.model}, {answer.latency_ms / 1000:,.2f} s, {answer.created}"
    if not answer.answered:
        title += f", failed (status {answer.status})"
    messages = None if request is None else request.get("messages")
    parts = []
    for message in messages if isinstance(messages, list) else [messages]:
        if isinstance(message, Mapping):
            parts.append(f"{message.get('role')}:\n{_content(message.get('content'))}")
        else:  # of a bundle that another program wrote
            parts.append(_content(message))
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


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, indent=1)
