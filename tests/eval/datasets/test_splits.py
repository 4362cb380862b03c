"""LoCoMo's conversations for choosing parameters, and those for reporting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from eval.datasets import selection as splits
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from memsys.core.errors import InputError
from tests.eval.datasets.conftest import LOCOMO

Load = Callable[..., Dataset]
DEV, HELD_OUT = splits.LOCOMO["dev"], splits.LOCOMO["held_out"]


@pytest.fixture
def ten(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """A sample for each of LoCoMo's conversations, and another one."""
    return [{**sample, "sample_id": name} for name in (*HELD_OUT, "conv-1", *DEV)]


def names(dataset: Dataset) -> set[str]:
    return {one.id for one in dataset.conversations}


def test_the_splits_share_no_conversation():
    assert len(DEV) == len(HELD_OUT) == 5
    assert len({*DEV, *HELD_OUT}) == 10
    assert not {*splits.REALTALK["dev"]} & {*splits.REALTALK["held_out"]}


def test_the_splits_are_the_whole_of_locomo(locomo):
    assert {*DEV, *HELD_OUT} == names(locomo)
    dev = LoCoMo(name="locomo", path=str(LOCOMO), split="dev").load()
    asked = [one for one in locomo.questions if one.conversation in DEV]
    assert list(dev.questions) == asked
    assert 0 < len(asked) < len(locomo.questions)


def test_a_split_filters_the_conversations(ten, load):
    assert names(load(ten)) == {*DEV, *HELD_OUT, "conv-1"}
    dev = load(ten, split="dev")
    assert names(dev) == set(DEV)
    assert {one.conversation for one in dev.questions} == set(DEV)
    assert names(load(ten, split="held_out")) == set(HELD_OUT)
    assert names(load(ten, split="dev", conversations=["conv-43"])) == {"conv-43"}
    (pooled,) = load(ten, split="dev", pooled=True).conversations
    assert {session.owner for session in pooled.sessions} == set(DEV)


def test_what_is_not_of_the_split_is_refused(ten, load):
    with pytest.raises(InputError, match=r"dataset\.conversations: 'conv-44' is not one of conv-2"):
        load(ten, split="dev", conversations=["conv-26", "conv-44"])
    with pytest.raises(InputError, match=r"^dataset\.split: 'train'; use one of dev, held_out"):
        load(ten, split="train")
    with pytest.raises(InputError, match=r"split=dev: the data has no conv-43; splits are of LoC"):
        load(ten[:-1], split="dev")
