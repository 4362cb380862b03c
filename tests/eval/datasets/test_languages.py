"""The language of every conversation of the data sets is detected."""

from __future__ import annotations

import json

import pytest

from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.longmemeval import LongMemEval
from eval.datasets.types import Dataset
from memsys.core.language import language_of
from tests.eval.datasets.synthetic.test_worlds import made

_LONGMEMEVAL = shared_folder() / "longmemeval" / "oracle_sample97.json"
_PLUS = shared_folder() / "locomo_plus" / "locomo_plus.json"


def languages(dataset: Dataset) -> dict[str, str]:
    return {
        conversation.id: language_of([t.text for s in conversation.sessions for t in s.turns])
        for conversation in dataset.conversations
    }


def test_of_the_sample():
    found = languages(LoCoMo(name="sample", path="data/sample").load())
    assert found == {"harbour": "en", "observatory": "en", "teahouse": "zh"}


@pytest.mark.parametrize("code", ["en", "zh"])
def test_of_generated_worlds(code):
    assert set(languages(made(language=code)).values()) == {code}


def test_of_locomo(locomo):
    assert list(languages(locomo).values()) == ["en"] * 10


@pytest.mark.skipif(not _LONGMEMEVAL.is_file(), reason="the instances are not here")
def test_of_histories_with_code_and_tables():
    found = languages(LongMemEval(name="longmemeval", path=str(_LONGMEMEVAL)).load())
    assert set(found.values()) == {"en"}


@pytest.mark.skipif(not _PLUS.is_file(), reason="LoCoMo-Plus is not here: set MEMSYS_SHARED")
def test_of_single_cues():
    cues = [entry["cue_dialogue"] for entry in json.loads(_PLUS.read_text(encoding="utf-8"))]
    assert {language_of([cue]) for cue in cues} == {"en"}
