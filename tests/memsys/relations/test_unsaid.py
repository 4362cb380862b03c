"""Names of deleted texts are found in every script, by whole words."""

from __future__ import annotations

import pytest

from memsys.relations.unsaid import Unsaid


@pytest.mark.parametrize(
    ("name", "deleted", "remaining", "unsaid"),
    [
        ("Paris", "Ann: I live in Paris.", "Ann: I like tea.", True),
        ("Paris", "Ann: I live in Paris.", "Ann: PARIS is loud.", False),
        ("art", "Ann: I party.", "", False),
        ("北京", "Ann: 我住在北京", "Ann: 我喜欢茶", True),
        ("北京", "Ann: 我住在北京", "Ann: 北京很吵", False),
        ("Paris", "Ann: 我住在Paris吗", "", True),
        ("東京タワー", "Ann: 東京タワーが好き", "", True),
        ("서울", "Ann: 서울에 살아요", "", True),
        ("!!", "a", "b", False),
        ("", "a  b", "", False),
    ],
)
def test_a_name_is_unsaid_if_only_a_deleted_text_has_it(
    name: str, deleted: str, remaining: str, unsaid: bool
) -> None:
    assert (name in Unsaid([deleted, "x"], [remaining, "y"])) is unsaid
