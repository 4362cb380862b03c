"""Sentences and words as NLTK 3.9.1 finds them, on whatever NLTK is installed."""

import pytest

from eval.metrics.tokens import sentences, word_tokens


@pytest.mark.parametrize(
    "text",
    [
        "mr. smith left. | he stayed.",  # abbreviation
        "the ex-sen. spoke.",  # abbreviation after a hyphen
        "it was 5 p.m. then it rained.",  # in lower case an abbreviation ends no sentence
        "j. smith left.",  # initial
        "she chose b. | 5 did not.",  # no letter to judge by
        "she chose b. smith, not him.",  # collocation
        "it cost 12. then it rose.",  # a number before a lowercase word is an ordinal
        "it cost 12. | administrators knew.",  # ... but for the model's few openers
    ],
)
def test_sentences(text):
    assert sentences(text.replace(" | ", " ")) == text.split(" | ")


def test_oddities_are_kept():
    assert sentences("wait. . . he came.") == ["wait.", ".", ".", "he came."]
    # A capital without a small form follows an initial.
    assert sentences("j. 𝐀 left.") == ["j. 𝐀 left."]
    assert sentences("j. 5 left.") == ["j.", "5 left."]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_blank_text_has_no_sentence_and_no_word(blank):
    assert sentences(blank) == []
    assert word_tokens(blank) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Blue Car", "blue car"),
        ("It's Ann's, isn't it?", "it 's ann 's , is n't it ?"),
        ("I'll say we've gone", "i 'll say we 've gone"),
        ("can't cannot gonna wanna gotta", "ca n't can not gon na wan na got ta"),
        ("wanna go, 'tis late", "wan na go , 't is late"),
        ("$5, 1,000 at 10:30; 50%", "$ 5 , 1,000 at 10:30 ; 50 %"),
        ("He left. She stayed.", "he left . she stayed ."),
        ("the U.S. economy", "the u.s. economy"),
        ("in the U.S.", "in the u.s ."),  # an abbreviation at the end loses its full stop
        ("Go (now) -- or [later]...", "go ( now ) -- or [ later ] ..."),
        ('He said "go" twice', "he said `` go '' twice"),
        ('"Go." He went.', "`` go . '' he went ."),
        ("“Go”, ‘he’ said…", "“ go ” , ‘ he ’ said…"),
        ("the dogs' bowls", "the dogs ' bowls"),
        ("rock 'n' roll 'x", "rock 'n ' roll ' x"),
        ("a*b #1 &c. @me", "a * b # 1 & c. @ me"),
        ("blue-green and/or", "blue-green and/or"),
        ("北京 is big。", "北京 is big。"),
        # An inner full stop parts from its word only between sentences.
        ("May 7. Then June.", "may 7. then june ."),
        ("It was May. Then June.", "it was may . then june ."),
    ],
)
def test_words(text, expected):
    assert word_tokens(text) == tuple(expected.split())
