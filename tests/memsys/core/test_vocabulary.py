from __future__ import annotations

from base64 import b64encode

from memsys.core.vocabulary import NEVER, Ranks

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
    monkeypatch.setattr("memsys.core.vocabulary._REMEMBERED", 3)
    found = ranks()
    for token in TOKENS * 2:
        assert found[token] == TOKENS.index(token)
        assert len(found) <= 3
