from __future__ import annotations

import hashlib
import re
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from memsys.embed.minilm import VOCABULARY_SHA256, MiniLM
from memsys.errors import InputError

CONF = Path(__file__).parents[3] / "conf" / "embedder" / "minilm.yaml"


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    settings = yaml.safe_load(CONF.read_text(encoding="utf-8"))
    del settings["_target_"]
    return MiniLM(**{**settings, "threads": 1})


def test_vectors_have_384_dimensions_and_length_1(minilm: MiniLM) -> None:
    vectors, usage = minilm.embed(["kitten", "a longer text, with a comma", ""])
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert usage.calls == 0


def test_meaning_is_near_meaning(minilm: MiniLM) -> None:
    kitten, cat, stocks = minilm.embed(["kitten", "cat", "stock market"])[0]
    assert kitten @ cat > 0.7
    assert kitten @ stocks < 0.3


def test_a_vector_depends_on_its_text_alone(minilm: MiniLM) -> None:
    alone = minilm.embed(["My bowl cracked."])[0][0]
    among = minilm.embed(["A much, much longer text before it", "My bowl cracked.", "x"])[0][1]
    assert alone.tobytes() == among.tobytes()


def test_words_beyond_the_limit_do_not_count() -> None:
    settings = yaml.safe_load(CONF.read_text(encoding="utf-8"))
    short = MiniLM(settings["sha256"], 0.5, max_tokens=4, threads=1)
    vectors = short.embed(["red kiln", "red kiln and more", "red bowl"])[0]
    assert vectors[0].tobytes() == vectors[1].tobytes()
    assert vectors[0].tobytes() != vectors[2].tobytes()


def test_the_name_contains_all_that_changes_a_vector() -> None:
    names = {
        MiniLM("a" * 64, 0.5).name,
        MiniLM("b" * 64, 0.5).name,
        MiniLM("a" * 64, 0.5, 128).name,
    }
    assert len(names) == 3
    assert MiniLM("a" * 64, 0.1, threads=1).name in names  # neither of these does


def test_another_model_file_is_refused() -> None:
    with pytest.raises(InputError, match=re.escape("expected " + "0" * 64)):
        MiniLM("0" * 64, 0.5).embed(["kitten"])


def test_the_vocabulary_is_the_pinned_one() -> None:
    data = (files("memsys.embed") / "vocab.txt").read_bytes()
    assert hashlib.sha256(data).hexdigest() == VOCABULARY_SHA256
    assert len(data.decode("utf-8").splitlines()) == 30_522


def test_another_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsys.embed.minilm.VOCABULARY_SHA256", "1" * 64)
    settings = yaml.safe_load(CONF.read_text(encoding="utf-8"))
    with pytest.raises(InputError, match=r"vocab\.txt: sha256 is 07eced"):
        MiniLM(settings["sha256"], 0.5).embed(["kitten"])


@pytest.fixture(scope="module")
def by_token() -> MiniLM:
    settings = yaml.safe_load(CONF.read_text(encoding="utf-8"))
    del settings["_target_"]
    return MiniLM(**{**settings, "threads": 1, "pooling": "tokens"})


def test_pooling_by_token_leaves_name_and_mean_vectors_as_they_are(by_token: MiniLM) -> None:
    settings = yaml.safe_load(CONF.read_text(encoding="utf-8"))
    mean = MiniLM(settings["sha256"], 0.57, threads=1, pooling="mean")
    texts = ["My bowl cracked in the kiln.", ""]
    assert by_token.name == mean.name
    assert by_token.embed(texts)[0].tobytes() == mean.embed(texts)[0].tobytes()
    assert (by_token.token_length, mean.token_length) == (384, None)


def test_tokens_are_word_pieces_with_unit_vectors(by_token: MiniLM) -> None:
    bowl, marks, spaced = by_token.embed_tokens(["Kiln, bowl!", "?!", "kiln bowl"])
    assert bowl.ids.tolist() == spaced.ids.tolist()  # no mark, no [CLS], no [SEP]
    assert (bowl.ids.dtype, bowl.vectors.dtype) == (np.int32, np.float16)
    assert bowl.vectors.shape == (len(bowl.ids), 384)
    lengths = np.linalg.norm(bowl.vectors.astype(np.float32), axis=1)
    assert lengths == pytest.approx(np.ones(len(bowl.ids)), abs=1e-3)
    assert marks.ids.shape == (0,)
    assert marks.vectors.shape == (0, 384)


def test_a_token_s_vector_depends_on_its_text(by_token: MiniLM) -> None:
    river, money, water = by_token.embed_tokens(["river bank", "money bank", "river shore"])
    assert river.ids[1] == money.ids[1]
    assert river.vectors[1] @ money.vectors[1] < 0.95
    assert river.vectors[1] @ water.vectors[1] > money.vectors[1] @ water.vectors[1]


def test_an_unknown_pooling_is_named() -> None:
    with pytest.raises(InputError, match=r"^embedder\.pooling: 'max' is none of mean, tokens"):
        MiniLM("a" * 64, 0.5, pooling="max")  # type: ignore[arg-type]


def test_the_mean_and_the_tokens_of_a_query_take_one_pass(
    by_token: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, runs = by_token._model, []
    counting = SimpleNamespace(run=lambda *given: runs.append(given) or model.run(*given))
    monkeypatch.setattr("memsys.embed.minilm._session", lambda *_: counting)
    by_token.embed(["Where is the kiln?"])
    tokens = by_token.embed_tokens(["Where is the kiln?"])[0]
    assert len(runs) == 1
    other, again = by_token.embed_tokens(["Where is the bowl?", "Where is the kiln?"])
    assert len(runs) == 3
    assert again.vectors.tobytes() == tokens.vectors.tobytes() != other.vectors.tobytes()
