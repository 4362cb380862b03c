"""A language model as the reader."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.metrics.abstention import abstains
from eval.readers import Answer, Reader
from memsys.context.writers import ContextWriter
from memsys.core.errors import InputError
from memsys.core.types import Retrieval
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import PROMPTS, Prompt, load_prompt
from memsys.llm.reply import without_thinking

PLACES = ("context", "question")  # places that a prompt must have
_ANSWER = re.compile(
    r"^[\s*#>]*(?:final )?answer\**\s*[:：]\**[ \t]*", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LLMReaderSettings:
    """`prompt`: a shipped prompt, or the path of a text file with {context} and {question}; None
    takes the one for the layout of the context.
    """

    prompt: str | None = None

    def loaded(self, context: ContextWriter) -> Prompt:
        """Return the prompt over this context. Raises InputError if it cannot be used."""
        if self.prompt is None and not context.prompts:
            raise InputError(
                f"reader.prompt: context={context.name} names no prompt of its layout; set one"
            )
        return load_prompt(context.prompts[0] if self.prompt is None else self.prompt, PLACES)

    def misfit(self, context: ContextWriter) -> str | None:
        """Return a warning if the prompt is a shipped one that describes another layout."""
        if not context.prompts or self.prompt in (None, *context.prompts):
            return None
        if not (PROMPTS / f"{self.prompt}.txt").exists():
            return None
        fitting = " or ".join(context.prompts)
        return (
            f"reader.prompt={self.prompt} does not describe context={context.name}; {fitting} "
            f"does, and reader.prompt=null takes {context.prompts[0]}"
        )

    def open(self, llm: LLM, context: ContextWriter) -> LLMReader:
        """Return the reader. Raises InputError where the prompt cannot be used."""
        return LLMReader(llm, self.loaded(context))


class LLMReader(Reader):
    """Gives context and question to a model; its last "Answer:" line is the answer.

    A reply without such a line is the answer as a whole, without text between <think> tags.
    """

    dated = reads_context = True  # see Reader

    def __init__(self, llm: LLM, prompt: Prompt) -> None:
        self.llm, self.prompt = llm, prompt
        self.name = f"llm ({llm.name}, {prompt.name})"

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """See Reader. Raises LLMError without a reply, or if nothing follows its "Answer:"."""
        text = self.prompt.fill(context=retrieval.context, question=question)
        reply = self.llm.complete([{"role": "user", "content": text}])
        answer = final_answer(reply.text)
        if not answer:
            raise LLMError(f"{self.llm.name}: the reply has no answer: {reply.text[-80:]!r}")
        return Answer(answer, abstains(answer))


def final_answer(reply: str) -> str:
    """Return the text after the last "Answer:" at a line's start, else the reply, on one line."""
    text = without_thinking(reply)
    return " ".join(_ANSWER.split(text)[-1].split()).strip("* ")
