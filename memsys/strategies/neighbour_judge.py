"""A model's judgement of which memories that a graph expansion would add are relevant."""

from __future__ import annotations

from collections.abc import Sequence

from memsys.context.writers import dated
from memsys.core.errors import InputError
from memsys.core.types import Memory
from memsys.llm.base import LLM
from memsys.llm.prompt import load_prompt
from memsys.llm.reply import object_schema, schema_reply

PLACES = ("question", "notes")  # places that the prompt must have


class NeighbourJudge:
    """Asks a model, in one call, which of several memories can help to answer a question."""

    def __init__(self, llm: LLM | None, prompt: str) -> None:
        """Raises InputError without a model, or if the prompt cannot be used."""
        if llm is None:
            raise InputError(
                "strategy.expansion.judge=llm: no model to judge neighbours; add llm=openai or "
                "llm=local"
            )
        self._llm, self.prompt = llm, load_prompt(prompt, PLACES)

    def relevant(self, question: str, memories: Sequence[Memory]) -> set[str]:
        """Return the ids of the relevant ones of `memories`; nothing is asked about none. Raises
        LLMError without a usable reply.
        """
        if not memories:
            return set()
        number = {"type": "integer", "enum": list(range(1, len(memories) + 1))}
        schema = object_schema({"relevant": {"type": "array", "items": number}})
        notes = [
            f"{n}. {dated(' '.join(memory.content.split()), memory.time).rstrip()}"
            for n, memory in enumerate(memories, 1)
        ]
        asked = self.prompt.fill(question=question, notes="\n".join(notes))
        reply = self._llm.complete([{"role": "user", "content": asked}], schema=schema)
        numbers = schema_reply(reply, schema, self._llm.name)["relevant"]
        return {memories[int(n) - 1].id for n in numbers}
