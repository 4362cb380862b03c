"""A memory folder whose embedder does not know the users' language says so once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memsys.build import BagOfWords
from tests.memsys.service.made import memory

CHINESE = "我上周开始在柳树工作室上陶艺课,老师说我做的第{}个碗很好看。"
ENGLISH = "I started pottery lessons at the Willow studio, and bowl number {} is fine."


class EnglishOnly(BagOfWords):
    languages = frozenset({"en"})


@pytest.mark.parametrize(
    ("embedder", "text", "warned"),
    [
        (EnglishOnly(), CHINESE, 1),
        (EnglishOnly(), ENGLISH, 0),
        (BagOfWords(), CHINESE, 0),
    ],
)
def test_it_warns_once_if_the_language_is_not_known(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    embedder: BagOfWords,
    text: str,
    warned: int,
) -> None:
    with memory(tmp_path, embedder=embedder) as store:
        for number in range(60):
            store.add(text.format(number), user_id="mara")
            if number == 10:
                assert caplog.messages == []  # too few to say
    assert len([one for one in caplog.messages if "vectors mean little" in one]) == warned
