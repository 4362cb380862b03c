from __future__ import annotations

import pytest

from memsys.embed.minilm import WordPiece

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
        ("playing", ["play", "##ing"]),
        ("unaffable", ["unaff", "##able"]),  # the longest first piece, not `un`
        ("able", ["able"]),  # a first piece has no ##
        ("playable able", ["play", "##able", "able"]),
        ("playfully", ["[UNK]"]),  # one unknown rest makes the word unknown, once
        ("zzz play", ["[UNK]", "play"]),
        ("PLAY", ["play"]),
        ("Café", ["cafe"]),
        ("Cafe\u0301", ["cafe"]),  # the accent as a sign of its own
        ("play!!", ["play", "!", "!"]),
        ("don't", ["don", "'", "t"]),
        ("$a", ["$", "a"]),  # a symbol, but punctuation to BERT
        ("茶馆", ["茶", "馆"]),
        ("a茶a", ["a", "茶", "a"]),  # not ##a
        ("un\tplay\nun", ["un", "play", "un"]),
        ("pl\u200bay", ["play"]),  # a format sign vanishes
        ("pl\ufffd\x00ay", ["play"]),
        ("straße", ["stra", "##ße"]),
        ("   ", []),
        ("", []),
    ],
)
def test_pieces(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_a_word_of_more_than_100_signs_is_unknown() -> None:
    assert pieces("a" * 100) == ["a"] + ["##a"] * 99
    assert pieces("a" * 101) == ["[UNK]"]


def test_the_limit_counts_both_marks() -> None:
    assert pieces("play play play", limit=5) == ["play"] * 3
    assert pieces("play play play play", limit=5) == ["play"] * 3
    assert pieces("un playing", limit=4) == ["un", "play"]  # cut within a word
    assert pieces("play", limit=2) == []
