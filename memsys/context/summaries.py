"""Summaries of long memories by a model, so that more memories fit a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memsys.core.errors import InputError
from memsys.core.tokens import count_tokens
from memsys.core.types import Candidate
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import load_prompt
from memsys.llm.reply import object_schema, schema_reply

PLACES = ("note",)  # places that the prompt must have
_SCHEMA = object_schema({"summary": {"type": "string"}})


class Summariser:
    """Summarises the long memories of one conversation, each at most once.

    There is one call per memory, whose text alone determines the request: what is recorded does not
    depend on the order of the questions.
    """

    def __init__(self, llm: LLM | None, longer_than: int, prompt: str) -> None:
        """`longer_than`: o200k tokens up to which a memory stays as it is. Raises InputError
        without a model, or if the prompt cannot be used.
        """
        if llm is None:
            raise InputError(
                "context.summarise=llm: no model to summarise; add llm=openai or llm=local"
            )
        self._llm, self._longer_than = llm, longer_than
        self.prompt = load_prompt(prompt, PLACES)
        self._summaries: dict[str, str] = {}  # by content

    def shortened(
        self, candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], Mapping[str, Sequence[int]]]:
        """Return `candidates` with the long ones summarised; and, by id of each of these memories,
        its o200k tokens before and after. A summary that is not shorter is not used. Raises
        LLMError without a usable summary.
        """
        shown, lengths = [], {}
        for candidate in candidates:
            content = candidate.memory.content
            before = count_tokens(content)
            if before > self._longer_than:
                summary = self._summary(content)
                after = count_tokens(summary)
                if after < before:
                    candidate = replace(  # noqa: PLW2901
                        candidate, memory=replace(candidate.memory, content=summary)
                    )
                    lengths[candidate.memory.id] = [before, after]
            shown.append(candidate)
        return shown, lengths

    def forget(self, contents: Iterable[str]) -> None:
        """Delete the summaries of memories with these contents."""
        for content in contents:
            self._summaries.pop(content, None)

    def _summary(self, content: str) -> str:
        summary = self._summaries.get(content)
        if summary is None:
            asked = [{"role": "user", "content": self.prompt.fill(note=content)}]
            reply = self._llm.complete(asked, schema=_SCHEMA)
            summary = " ".join(str(schema_reply(reply, _SCHEMA, self._llm.name)["summary"]).split())
            if not summary:
                raise LLMError(f"{self._llm.name}: the summary of a memory is empty")
            self._summaries[content] = summary
        return summary
