"""The language of every conversation of the data sets is detected."""

from __future__ import annotations

from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from memsys.core.language import language_of
from tests.eval.datasets.synthetic.test_worlds import made


def languages(dataset: Dataset) -> list[str]:
    return [
        language_of([turn.text for session in conversation.sessions for turn in session.turns])
        for conversation in dataset.conversations
    ]


def test_of_the_sample_of_generated_worlds_and_of_locomo(locomo):
    assert languages(LoCoMo(name="sample", path="data/sample").load()) == ["en", "en", "zh"]
    for code in ("en", "zh"):
        assert set(languages(made(language=code))) == {code}
    assert languages(locomo) == ["en"] * 10
