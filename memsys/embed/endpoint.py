"""Embeddings from any server that speaks the OpenAI protocol."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from memsys.core.declared import Cosine, CountFrom0, Seconds, check_values
from memsys.core.types import Usage, Vectors
from memsys.embed.base import Embedder, unit_rows
from memsys.llm.base import LLMError
from memsys.llm.budget import Budget
from memsys.llm.endpoint import Endpoint, Exchange, ServerSettings
from memsys.llm.meter import Meter
from memsys.llm.pricing import usage_of
from memsys.llm.recording import Recording
from memsys.llm.reply import check_answer


class EndpointEmbedder(Embedder):
    """Sends texts by `POST {base_url}/embeddings`. The key is read from the environment and never
    stored.
    """

    records_calls: ClassVar[bool] = True

    def __init__(
        self,
        model: str,
        base_url: str,
        typical_similarity: Cosine,
        key_variable: str = "OPENAI_API_KEY",
        timeout_s: Seconds = 60,
        retries: CountFrom0 = 5,
    ) -> None:
        """See ServerSettings. Raises InputError on a wrong argument."""
        self._server = ServerSettings(model, base_url, key_variable, timeout_s, retries)
        self._server.check("embedder")
        check_values(EndpointEmbedder, locals(), "embedder")
        self.typical_similarity, self.model = typical_similarity, model
        # Two servers may give one name to two models: the address is part of the identity.
        self.name = f"{model}-{hashlib.sha256(base_url.encode()).hexdigest()[:8]}"
        self._endpoint: Endpoint | None = None
        self._length: int | None = None  # of the vectors so far

    def open(self, recording: Recording, meter: Meter, budget: Budget | None = None) -> None:
        """Record and replay the calls of a run, and add them to its meter. Raises InputError if
        calls may be live and the key is missing, or if there is a budget and the model has no
        price.
        """
        self._endpoint = Endpoint(
            self._server, recording, meter, budget, option="embedder=openai", most_tokens=0
        )

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return unit vectors, shape (len(texts), d), and the usage. Raises LLMError without a
        usable answer, such as one whose vectors have another length than earlier ones; InputError
        and BudgetReached like Endpoint.post.
        """
        if self._endpoint is None:
            self.open(Recording("", "off"), Meter())
        assert self._endpoint is not None  # noqa: S101 - for the type checker
        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        exchange = Exchange(partial(self._read, expected=len(texts)))
        answer = self._endpoint.post("/embeddings", body, exchange)
        vectors: Vectors = exchange.value
        self._length = vectors.shape[1]
        return vectors, usage_of(answer) or Usage(calls=1)

    def _read(self, answer: Mapping[str, Any], expected: int) -> Vectors:
        """Return the unit vectors of `answer` by index, shape (expected, d). Raises LLMError if it
        has another shape, a vector without a direction, or vectors of another length than before.
        """
        check_answer(answer, self.model)
        rows = answer.get("data") or ()
        try:
            by_index = {row["index"]: row["embedding"] for row in rows}
            if sorted(by_index) != list(range(expected)) or len(by_index) != len(rows):
                raise LLMError(f"{self.model}: {len(rows)} vectors for {expected} texts")
            numbers = np.array([by_index[i] for i in range(expected)])
            with np.errstate(over="ignore", invalid="ignore"):
                vectors = numbers.astype(np.float32)
                lengths = np.linalg.norm(vectors, axis=-1)
        except (TypeError, ValueError, KeyError) as error:
            raise LLMError(f"{self.model}: the answer is no list of vectors ({error})") from None
        is_table = numbers.ndim == 2 and numbers.size and numbers.dtype.kind in "if"
        if not is_table or not np.isfinite(lengths).all() or not lengths.all():
            raise LLMError(
                f"{self.model}: the answer is no list of vectors of one length, of finite numbers "
                "that are not too large, none of them zero"
            )
        vectors = unit_rows(vectors)
        if self._length not in (None, vectors.shape[1]):
            raise LLMError(
                f"{self.model}: vectors of {vectors.shape[1]} numbers, and earlier ones had "
                f"{self._length}"
            )
        return vectors
