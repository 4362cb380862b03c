"""A language model as the reader."""

from __future__ import annotations

import re
from dataclasses import dataclass

from eval.metrics.abstention import abstains
from eval.readers.base import Answer, Reader
from memsys.llm.base import LLM
from memsys.llm.prompt import Prompt, load_prompt
from memsys.types import Retrieval

PLACES = ("context", "question")  # what a prompt has to hold
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_ANSWER = re.compile(
    r"^[\s*#>]*(?:final )?answer\**\s*[:：]\**[ \t]*", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class LLMReaderSettings:
    """`prompt`: one of conf/prompts, or the path of a text file with {context} and {question}."""

    prompt: str

    def open(self, llm: LLM) -> LLMReader:
        """The reader. Raises InputError where the prompt cannot be used."""
        return LLMReader(llm, load_prompt(self.prompt, PLACES))


class LLMReader(Reader):
    """Puts the context and the question before a model, and takes its last "Answer:" line.

    A reply without such a line is taken whole; what stands between <think> tags never is.
    """

    dated = True  # is told when a question is asked, where the data set says so

    def __init__(self, llm: LLM, prompt: Prompt) -> None:
        self.llm, self.prompt = llm, prompt
        self.name = f"llm ({llm.name}, {prompt.name})"

    def read(self, question: str, retrieval: Retrieval) -> Answer:
        """See Reader. Raises LLMError where none comes; an empty answer is a refusal."""
        text = self.prompt.fill(context=retrieval.context, question=question)
        reply = self.llm.complete([{"role": "user", "content": text}])
        answer = final_answer(reply.text)
        return Answer(answer, abstains(answer))


def final_answer(reply: str) -> str:
    """What follows the last line that begins with "Answer:", else the whole reply, on one line."""
    said = _THINKING.sub("", reply)
    return " ".join(_ANSWER.split(said)[-1].split()).strip("* ")
