"""An OpenAI-compatible server on loopback through which a memory library uses the run's models.

The library gets its address and a key generated for the run; the real key never leaves this
process. The thread that waits for the library answers each request, so that a call is added to the
meter of the current phase, and an error that ends the run is raised in the run's own thread.
"""

from __future__ import annotations

import base64
import json
import secrets
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from memsys.core.loopback import LoopbackServer, Reply, refusal
from memsys.core.tokens import count_tokens
from memsys.embed.base import Kind
from memsys.embed.cache import CachedEmbedder
from memsys.llm.base import LLM, LLMError

MODEL = "embedder"  # the name of the run's embedder for the library


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """A request of the library: path below /v1 and body; `reply` becomes (status, JSON)."""

    path: str
    body: Mapping[str, Any]
    reply: Future[Reply] = field(default_factory=Future)


class Gateway:
    """Listens at `base_url` from construction until `close`. `kind`: kind of the texts to embed
    now.
    """

    def __init__(
        self, embedder: CachedEmbedder, llm: LLM | None, submit: Callable[[GatewayRequest], None]
    ) -> None:
        """`submit` passes each request to the thread that calls `answer`."""
        self._embedder, self._llm = embedder, llm
        self.kind: Kind = "document"
        self.key = secrets.token_urlsafe(24)
        self.refused: list[str] = []  # reasons of calls that were not answered
        server = LoopbackServer(partial(_passed_on, f"Bearer {self.key}", submit))
        self.base_url = server.base_url
        self._stop = weakref.finalize(self, server.stop)

    def answer(self, job: GatewayRequest) -> None:
        """Answer `job` in this thread. A fault of one call is returned to the library and added to
        `refused`; any other error (a budget, a key) is returned to it and also raised.
        """
        try:
            answer = self._embed(job.body) if job.path == "/embeddings" else self._chat(job)
        except LLMError as error:
            self.refused.append(str(error))
            job.reply.set_result((400, refusal(str(error))))
        except BaseException as error:
            job.reply.set_result((400, refusal(f"the run ends: {type(error).__name__}")))
            raise
        else:
            job.reply.set_result((200, answer))

    def close(self) -> None:
        """Stop listening; running requests are refused."""
        self._stop()

    def _chat(self, job: GatewayRequest) -> Mapping[str, Any]:
        if job.path != "/chat/completions":
            raise LLMError(f"{job.path}: not served; only /chat/completions and /embeddings are")
        if self._llm is None:
            raise LLMError("no chat model: the run has llm=none; add llm=openai or llm=local")
        if job.body.get("stream"):
            raise LLMError("stream: not served; ask for the whole answer")
        return self._llm.forward(job.body)

    def _embed(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        value = body.get("input")
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
            raise LLMError("input: give a text or a list of texts; token numbers are not served")
        if self.kind == "query":
            vectors = np.stack([self._embedder.query(text) for text in texts])
        else:
            vectors = self._embedder.documents(texts)
        if body.get("dimensions") not in (None, vectors.shape[1]):
            raise LLMError(f"dimensions: the embedder has {vectors.shape[1]}")
        rows: list[Any] = vectors.tolist()
        if body.get("encoding_format") == "base64":
            rows = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        tokens = sum(count_tokens(text) for text in texts)
        data = [{"object": "embedding", "index": i, "embedding": r} for i, r in enumerate(rows)]
        return {
            "object": "list",
            "model": self._embedder.name,
            "data": data,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }


def _passed_on(
    key: str, submit: Callable[[GatewayRequest], None], path: str, given: str, data: bytes
) -> Reply:
    """Pass a request with the key to the run, and return its answer."""
    if not secrets.compare_digest(given.encode(), key.encode()):
        return 401, refusal("not the key of this run")
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return 400, refusal("the body is not a JSON object")
    job = GatewayRequest(path.removeprefix("/v1"), body)
    submit(job)
    return job.reply.result()
