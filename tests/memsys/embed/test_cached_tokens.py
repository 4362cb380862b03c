"""Token vectors are computed once and stored; damage is noticed."""

import sqlite3
from collections.abc import Sequence

import numpy as np
import pytest

from memsys.core.errors import InputError
from memsys.embed.base import TokenVectors
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from tests.memsys.build import BagOfTokens, BagOfWords

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
