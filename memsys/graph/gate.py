"""The gate of graph expansion: by a word of the question, by low similarity of the direct results,
or by a model that finds several domains in the question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt
from memsys.text.terms import is_cjk, words

_SEVERAL: Mapping[str, Any] = {
    "type": "object",
    "properties": {"several": {"type": "boolean"}},
    "required": ["several"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the gate opened, and by which rule: `word:<word>`, `similarity`, `domains`, or
    `closed`.
    """

    open: bool
    rule: str
    mean_similarity: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Opens on an association word or when the mean similarity of the direct results is low.

    `similarity`: mean cosine from which the direct results are trusted; None takes the embedder's
    typical value, since cosines of different models are on different scales. English words match
    whole words, Chinese ones any part of the text. `domains`: prompt to ask a model if the other
    rules leave the gate closed; None: never ask.
    """

    english: Sequence[str]
    chinese: Sequence[str]
    similarity: float | None
    domains: str | None = None

    def decide(self, query: str, similarities: Sequence[float], typical: float) -> Decision:
        """Return the decision for `query`, given the cosines of its direct results."""
        mean = fmean(similarities) if similarities else 0.0
        word = self._word(query)
        if word is not None:
            return Decision(True, f"word:{word}", mean)
        threshold = typical if self.similarity is None else self.similarity
        if mean < threshold:
            return Decision(True, "similarity", mean)
        return Decision(False, "closed", mean)

    def _word(self, query: str) -> str | None:
        present = set(words(query))
        for word in self.english:
            if word in present:
                return word
        if is_cjk(query):
            for word in self.chinese:
                if word in query:
                    return word
        return None


def spans_domains(query: str, llm: LLM, prompt: Prompt) -> bool:
    """Return whether `llm` finds several domains in `query`. Raises LLMError without an answer."""
    text = prompt.fill(question=query)
    reply = llm.complete([{"role": "user", "content": text}], schema=_SEVERAL)
    try:
        several = json.loads(reply.text)["several"]
    except (ValueError, TypeError, KeyError) as error:
        raise LLMError(f"{llm.name}: does not say whether a question spans domains") from error
    return several is True
