"""When to expand: by a word of the question, because little was found directly, or because a model
finds several domains in the question.
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

    `similarity`: the least mean cosine at which the direct results are trusted; None takes the
    embedder's own typical value, since cosines of different models are on different scales.
    English words match whole words, Chinese ones any part of the text. `domains`: the prompt by
    which a model is asked, where there is one and the other rules keep the gate shut; None: never.
    """

    english: Sequence[str]
    chinese: Sequence[str]
    similarity: float | None
    domains: str | None = None

    def decide(self, query: str, similarities: Sequence[float], typical: float) -> Decision:
        """The decision for `query`, whose direct results have cosines `similarities`."""
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
    """Whether `llm` finds several domains in `query`. Raises LLMError if it does not say."""
    text = prompt.fill(question=query)
    reply = llm.complete([{"role": "user", "content": text}], schema=_SEVERAL)
    try:
        several = json.loads(reply.text)["several"]
    except (ValueError, TypeError, KeyError) as error:
        raise LLMError(f"{llm.name}: does not say whether a question spans domains") from error
    return several is True
