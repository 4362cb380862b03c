"""Our Treebank rules against NLTK's own at the release they reproduce."""

from importlib.metadata import version

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.metrics.sentences import sentences
from eval.metrics.tokens import word_tokens

pytestmark = pytest.mark.skipif(
    version("nltk") != "3.9.1", reason="NLTK splits words otherwise from 3.10 on"
)

PIECES = [*".,;:?!'\"`()[]{}<>-*@#$%&“”‘’«»… \n", "...", "''", "``", "--", "'s ", "n't ", "'ll "]
WORDS = "cannot gonna wanna more'n d'ye 'tis 'twas u.s. mr. j. 3.5 10:30 1,000 she x _ 中文 é ok."


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, *PIECES, *WORDS.split()]), max_size=14).map("".join))
def test_words_of_each_sentence_are_nltks(text: str) -> None:
    from nltk.tokenize.destructive import NLTKWordTokenizer  # noqa: PLC0415 - slow to import

    nltk_words = NLTKWordTokenizer()
    expected = [word for part in sentences(text.lower()) for word in nltk_words.tokenize(part)]
    assert list(word_tokens(text)) == expected
