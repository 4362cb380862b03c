"""Classes that a configuration of somebody else may name: those of the group of each setting."""

from __future__ import annotations

import pytest
import yaml

from memsys.core.errors import InputError
from memsys.core.places import CONF
from memsys.core.trusted import check_config


def target(group: str, option: str) -> str:
    return str(yaml.safe_load((CONF / group / f"{option}.yaml").read_text())["_target_"])


@pytest.mark.parametrize(
    ("setting", "group", "option"),
    [
        ("vector_store", "vector_store", "faiss"),
        ("relation_store", "relation_store", "networkx"),
        ("store", "relation_store", "networkx"),
    ],
)
def test_a_store_within_a_strategy_is_one_of_its_own_group(setting, group, option):
    strategy = {"_target_": target("strategy", "mem0_graph")}
    store = {"_target_": target(group, option)}
    check_config({**strategy, "graph": {setting: store}}, "strategy", "")
    with pytest.raises(InputError, match=f"only classes of the options in conf/{group}"):
        check_config({**strategy, setting: strategy}, "strategy", "")
    with pytest.raises(InputError, match="only classes of the options in conf/strategy"):
        check_config({**strategy, "other": store}, "strategy", "")
