"""Embeddings from any server that speaks the OpenAI protocol."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from memsys.embed.base import Vectors, unit_rows
from memsys.errors import InputError
from memsys.types import Usage

if TYPE_CHECKING:
    from openai import OpenAI

_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class EndpointEmbedder:
    """`POST {base_url}/embeddings`. The key comes from the environment and is kept nowhere else."""

    def __init__(
        self,
        model: str,
        base_url: str,
        typical_similarity: float,
        key_variable: str = "OPENAI_API_KEY",
        timeout_s: float = 60,
        retries: int = 5,
    ) -> None:
        """`retries` are the client's own, with the server's retry-after. Raises InputError."""
        parts = urlsplit(base_url)
        # First of all, so that no message repeats a secret.
        if parts.username or parts.password:
            raise InputError("embedder.base_url: holds a password; put it into the key's variable")
        if parts.query:
            raise InputError("embedder.base_url: no query, please; a key belongs in its variable")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"embedder.base_url: {base_url!r} is not an http(s) address")
        self.typical_similarity = typical_similarity
        self._model, self._base_url = model, base_url
        self._key_variable = key_variable
        if not os.environ.get(key_variable) and parts.hostname not in _LOOPBACK:
            raise InputError(f"embedder=openai: set the variable {key_variable} to your key")
        self._timeout_s, self._retries = timeout_s, retries
        # Two servers may give one name to two models: the address is part of the identity.
        self.name = f"{model}-{hashlib.sha256(base_url.encode()).hexdigest()[:8]}"

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Unit vectors, shape (len(texts), d). Raises openai.OpenAIError when the server fails."""
        reply = self._client.embeddings.create(
            model=self._model, input=list(texts), encoding_format="float"
        )
        rows = sorted(reply.data, key=lambda row: row.index)
        if len(rows) != len(texts):
            raise ValueError(f"{self._model}: {len(rows)} vectors for {len(texts)} texts")
        vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        tokens = reply.usage.prompt_tokens if reply.usage else 0
        return unit_rows(vectors), Usage(calls=1, input_tokens=tokens)

    @cached_property
    def _client(self) -> OpenAI:
        from openai import OpenAI  # noqa: PLC0415 - half a second that only this embedder needs

        return OpenAI(
            api_key=os.environ.get(self._key_variable) or "none",  # a local server wants any
            base_url=self._base_url,
            timeout=self._timeout_s,
            max_retries=self._retries,
        )
