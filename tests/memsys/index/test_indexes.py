"""What ranks the memories of a store, small or large: exact where it says so, close where not."""

import bm25s
import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from memsys.core.errors import InputError
from memsys.core.terms import terms
from memsys.core.types import Vectors
from memsys.embed.base import TokenVectors, unit_rows
from memsys.index.lexical import LexicalIndex, SparseLexicalIndex
from memsys.index.rank import IndexSettings, convex, min_max, top
from memsys.index.vector import LargeVectors, Nearest, TokenIndex

SHORT = ("Pottery class", "The kiln broke", "A long walk by the sea", "Rain again", "Fresh bread")


def test_bm25_finds_by_stem_and_not_by_stopword():
    scores = LexicalIndex(["kiln", "rain", "sea", "sun"], k1=0.9, b=0.4).scores("Kilns")
    # idf ln(3.5 / 1.5), once in a text of mean length: (k1 + 1) / (1 + k1) = 1
    assert scores == pytest.approx([np.log(3.5 / 1.5), 0, 0, 0])
    index = LexicalIndex(SHORT, k1=0.9, b=0.4)
    assert list(np.nonzero(index.scores("Which potteries?"))[0]) == [0]
    for nothing in ("Who was by the again?", "", "volcano"):
        assert not index.scores(nothing).any()
    wordless = LexicalIndex(["...", "so it is"], k1=0.9, b=0.4)
    assert wordless.scores("pottery").tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([2, 6, 4], [0, 1, 0.5]), ([-3, -1], [0, 1]), ([0.7, 0.7], [0, 0]), ([5], [0])],
)
def test_min_max(scores, expected):
    assert min_max(np.array(scores, np.float64)).tolist() == expected


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(0.25, [0.75, 0.25, 0.125]), (1.0, [0, 1, 0.5]), (0.0, [1, 0, 0])],
)
def test_convex_weighs_vectors_by_alpha(alpha, expected):
    vector, lexical = np.array([0.1, 0.3, 0.2]), np.array([9.0, 0.0, 0.0])
    assert convex(vector, lexical, alpha) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 10, 60, None, 9999])
def test_top_is_the_start_of_a_full_sort_with_the_older_of_equals_first(k):
    scores = np.random.default_rng(0).integers(0, 40, size=2000).astype(np.float64)
    full = np.argsort(-scores, kind="stable")[:k]
    assert top(scores, k) == full.tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.01}, "index.alpha: 1.01"),
        ({"k1": -1}, "index.k1: -1"),
        ({"b": -0.5}, "index.b: -0.5"),
        ({"vectors": "annoy"}, r"index\.vectors: 'annoy'; use one of exact, flat, ivf, hnsw"),
        ({"lexical": "lucene"}, r"index\.lexical: 'lucene'; use one of rank_bm25, sparse"),
    ],
)
def test_settings_out_of_range_are_named(change, message):
    with pytest.raises(InputError, match=message):
        IndexSettings(**{"k1": 0.9, "b": 0.4, "alpha": 0.5, **change})
    for k1, b, alpha in ((0, 0, 0), (5, 1, 1)):  # on their bounds
        IndexSettings(k1=k1, b=b, alpha=alpha)


WORDS = "harbour lantern copper orchard violin kettle granite meadow saffron ledger".split()


def vectors(n: int, dimensions: int = 24, seed: int = 0) -> Vectors:
    """Around fifty centres, as texts gather around topics."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(50, dimensions))
    rows = centres[random.integers(50, size=n)] + random.normal(size=(n, dimensions)) * 0.5
    return unit_rows(rows.astype(np.float32))


def filled(kind: str, rows: Vectors) -> LargeVectors:
    index = LargeVectors(kind, rows.shape[1], len(rows), 0.25)  # type: ignore[arg-type]
    for part in np.array_split(rows, 3):
        index.add(part)
    return index


@pytest.mark.parametrize(("kind", "least"), [("flat", 1.0), ("ivf", 0.9), ("hnsw", 0.9)])
def test_the_nearest_are_found(kind, least):
    rows = vectors(1000)
    index, queries = filled(kind, rows), vectors(20, seed=1)
    shares = []
    for query in queries:
        exact = top((rows @ query).astype(np.float64), 10)
        found = index.nearest(query, 10)
        shares.append(len({row for row, _ in found} & set(exact)) / 10)
        assert [cosine for _, cosine in found] == sorted((c for _, c in found), reverse=True)
        assert [c for _, c in found] == pytest.approx([float(rows[r] @ query) for r, _ in found])
    assert np.mean(shares) >= least
    assert len(index) == 1000


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_a_saved_index_is_the_same_index(kind, tmp_path):
    rows = vectors(500)
    index = filled(kind, rows)
    index.save(tmp_path / "index")
    assert index.bytes == (tmp_path / "index").stat().st_size > rows.nbytes
    again = LargeVectors.open(tmp_path / "index")
    assert again.nearest(rows[3], 10) == index.nearest(rows[3], 10)
    assert again.cosine(499, rows[3]) == index.cosine(499, rows[3])
    again.add(rows[:7])
    assert len(again) == 507


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_any_row_has_its_exact_cosine_and_only_an_exact_index_scores_all(kind):
    rows = vectors(300)
    index = filled(kind, rows)
    ranking, cosines, some = Nearest(index, rows[5], 20), rows @ rows[5], [0, 5, 299]
    assert [ranking.of(row) for row in some] == pytest.approx(cosines[some].tolist(), abs=1e-6)
    assert ranking.best(1)[0][0] == 5
    if kind == "flat":
        assert index.similarities(rows[5]) == pytest.approx(cosines, abs=1e-6)
    else:
        with pytest.raises(InputError, match=r"index\.vectors: ivf and hnsw do not score every"):
            index.similarities(rows[5])
    # Asking for more than there is gives what there is.
    assert {row for row, _ in filled(kind, rows[:3]).nearest(rows[0], 10)} == {0, 1, 2}


@pytest.mark.parametrize("kind", ["flat", "ivf", "hnsw"])
def test_a_ranking_searches_once_for_all_that_is_read_to_its_depth(kind, monkeypatch):
    rows = vectors(300)
    index = filled(kind, rows)
    searches, search = [], LargeVectors.nearest
    monkeypatch.setattr(
        LargeVectors, "nearest", lambda self, *asked: searches.append(asked) or search(self, *asked)
    )
    ranking = Nearest(index, rows[5], 20)
    assert ranking.best(3) == ranking.best(20)[:3]
    assert [k for _, k in searches] == [20]
    assert ranking.best(None)[:20] == ranking.best(20) or kind == "hnsw"
    assert [k for _, k in searches] == [20, 300]


def uneven_texts() -> list[str]:
    """Some without a word, some with one twice; WORDS[0] in more than half."""
    random = np.random.default_rng(0)
    return [" ".join([*random.choice(WORDS, i % 7), WORDS[0] * (i % 3 > 0)]) for i in range(300)]


def test_scores_are_those_of_rank_bm25_to_the_bit():
    texts = uneven_texts()
    library = BM25Okapi([list(terms(text)) for text in texts], k1=0.9, b=0.4)
    index = LexicalIndex(texts, 0.9, 0.4)
    for query in (WORDS[0], f"{WORDS[3]} {WORDS[3]} unknown", " ".join(WORDS)):
        theirs = np.maximum(library.get_scores(list(terms(query))), 0.0)
        assert index.scores(query).tolist() == theirs.tolist()
        assert theirs.any()


@pytest.mark.parametrize(("method", "smoothed"), [("robertson", False), ("lucene", True)])
def test_sparse_scores_are_those_of_the_library(method, smoothed):
    texts = uneven_texts()
    ids = [[WORDS.index(word) for word in text.split()] for text in texts]
    library = bm25s.BM25(k1=0.9, b=0.4, method=method)
    library.index((ids, {word: i for i, word in enumerate(WORDS)}), show_progress=False)
    index = SparseLexicalIndex(texts, 0.9, 0.4, smoothed=smoothed)
    assert index.scores(WORDS[0]).any() == smoothed
    for query in (WORDS[3:4], WORDS[:3], WORDS[:1:-1]):
        theirs = library.get_scores(query)
        assert index.scores(" ".join(query)) == pytest.approx(theirs, rel=1e-6)
        assert theirs.any()
    assert not index.scores("volcano of the").any()
    assert not SparseLexicalIndex(["of the"], 0.9, 0.4).scores("copper").any()


def test_shares_are_scores_over_the_most_that_a_text_could_have():
    index = SparseLexicalIndex(uneven_texts(), 0.9, 0.4, smoothed=True)
    query = dict.fromkeys(WORDS[:3], 1.0)
    most = sum(index.rarity(word) for word in query)
    assert index.shares(query) == pytest.approx(index.scores(" ".join(query)) / most, rel=1e-6)
    one, two = (index.shares(dict.fromkeys(WORDS[:2], weight)) for weight in (1.0, 2.0))
    assert one == pytest.approx(two)
    # A word of no text takes its part of the question's weight, as the rarest.
    assert index.rarity("volcano") > max(index.rarity(word) for word in query)
    fewer = index.shares({**query, "volcano": 1.0})
    assert fewer == pytest.approx(index.shares(query) * most / (most + index.rarity("volcano")))


def test_shares_never_exceed_1():
    index = SparseLexicalIndex(["copper kiln", "kiln", "copper"], 0.0, 0.4, smoothed=True)
    random = np.random.default_rng(0)
    for first, second in random.random((300, 2)).tolist():
        shares = index.shares({"copper": first, "kiln": second})
        assert shares[0] == pytest.approx(1)
        assert shares.max() <= 1
    assert not index.shares({}).any()
    assert not index.shares({"copper": 0.0}).any()


X, Y, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)


def tokens(*pairs: tuple[int, tuple[float, float]]) -> TokenVectors:
    """The tokens of a text, as (id, vector)."""
    vectors = np.array([vector for _, vector in pairs], np.float16).reshape(-1, 2)
    return TokenVectors(np.array([id_ for id_, _ in pairs], np.int32), vectors)


# Token 1 is in three memories, 2 in one, 3 in one; one memory has none.
INDEX = TokenIndex(
    [tokens((1, X), (2, Y)), tokens((1, X), (1, X)), tokens(), tokens((1, X), (3, BETWEEN))]
)
ALL = range(4)


def test_each_query_token_counts_its_nearest_token():
    scores = INDEX.max_sim(tokens((1, X), (2, Y)), ALL, idf=0)
    assert scores == pytest.approx([1.0, 0.5, 0.0, (1 + 0.8) / 2], abs=1e-3)
    asked = tokens((1, X), (3, BETWEEN))
    assert INDEX.max_sim(asked, [3, 2, 0]) == pytest.approx(INDEX.max_sim(asked, ALL)[[3, 2, 0]])
    assert INDEX.max_sim(tokens(), ALL).tolist() == [0.0] * 4
    assert TokenIndex([tokens(), tokens()]).max_sim(tokens((1, X)), [0, 1]).tolist() == [0.0, 0.0]
    assert INDEX.bytes == 6 * 2 * 2  # in half precision


def test_a_rare_token_weighs_more():
    common, rare = np.log(1 + (4 - 3 + 0.5) / 3.5), np.log(1 + (4 - 1 + 0.5) / 1.5)
    scores = INDEX.max_sim(tokens((1, X), (2, Y)), ALL)
    assert scores[1] == pytest.approx(common / (common + rare), abs=1e-3)
    squared = INDEX.max_sim(tokens((1, X), (2, Y)), ALL, idf=2)
    assert squared[1] == pytest.approx(common**2 / (common**2 + rare**2), abs=1e-3)
    unknown = np.log(1 + 4.5 / 0.5)  # the rarest
    scores = INDEX.max_sim(tokens((99, Y), (1, X)), ALL)
    assert scores[1] == pytest.approx(common / (common + unknown), abs=1e-3)
