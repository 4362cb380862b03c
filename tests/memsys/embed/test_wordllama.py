from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from memsys.embed import wordllama
from memsys.embed.wordllama import WordLlamaEmbedder
from memsys.errors import InputError

installed = pytest.mark.skipif(
    find_spec("wordllama") is None, reason="extra `wordllama` is not installed"
)


@installed
def test_unit_vectors_of_the_chosen_size_that_mean_something() -> None:
    embedder = WordLlamaEmbedder(typical_similarity=0.5)
    vectors, usage = embedder.embed(["kitten", "cat", "stock market"])
    assert vectors.shape == (3, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert embedder.embed(["cat"])[0][0].tobytes() == vectors[1].tobytes()
    assert usage.calls == 0


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordllama, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install -e '\.\[wordllama\]'"):
        WordLlamaEmbedder(0.5).embed(["cat"])
