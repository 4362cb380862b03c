"""MaxSim against figures computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from memsys.embed.base import TokenVectors
from memsys.index.tokens import TokenIndex

X, Y, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)


def tokens(*pairs: tuple[int, tuple[float, float]]) -> TokenVectors:
    """The tokens of a text, as (id, vector)."""
    vectors = np.array([vector for _, vector in pairs], np.float16).reshape(-1, 2)
    return TokenVectors(np.array([id_ for id_, _ in pairs], np.int32), vectors)


# Token 1 is in three memories, 2 in one, 3 in one; one memory has none.
INDEX = TokenIndex(
    [tokens((1, X), (2, Y)), tokens((1, X), (1, X)), tokens(), tokens((1, X), (3, BETWEEN))]
)


def test_each_query_token_counts_its_nearest_token():
    scores = INDEX.max_sim(tokens((1, X), (2, Y)), idf=0)
    assert scores == pytest.approx([1.0, 0.5, 0.0, (1 + 0.8) / 2], abs=1e-3)
    asked = tokens((1, X), (3, BETWEEN))
    assert INDEX.max_sim(asked, [3, 2, 0]) == pytest.approx(INDEX.max_sim(asked)[[3, 2, 0]])
    assert INDEX.max_sim(tokens()).tolist() == [0.0] * 4
    assert TokenIndex([tokens(), tokens()]).max_sim(tokens((1, X))).tolist() == [0.0, 0.0]
    assert INDEX.bytes == 6 * 2 * 2  # in half precision


def test_a_rare_token_weighs_more():
    common, rare = np.log(1 + (4 - 3 + 0.5) / 3.5), np.log(1 + (4 - 1 + 0.5) / 1.5)
    scores = INDEX.max_sim(tokens((1, X), (2, Y)))
    assert scores[1] == pytest.approx(common / (common + rare), abs=1e-3)
    squared = INDEX.max_sim(tokens((1, X), (2, Y)), idf=2)
    assert squared[1] == pytest.approx(common**2 / (common**2 + rare**2), abs=1e-3)
    unknown = np.log(1 + 4.5 / 0.5)  # the rarest
    scores = INDEX.max_sim(tokens((99, Y), (1, X)))
    assert scores[1] == pytest.approx(common / (common + unknown), abs=1e-3)
