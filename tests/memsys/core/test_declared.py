"""Declared values of settings, and classes that a configuration of somebody else may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
import yaml

from memsys.core.declared import Count, Name, Range, Share, check_fields, check_values
from memsys.core.errors import InputError
from memsys.core.places import CONF
from memsys.core.trusted import check_config

if TYPE_CHECKING:
    from decimal import Decimal


class Own:
    """A class of a user, with annotations of all kinds."""

    def __init__(
        self,
        name: Name,
        strict: bool,
        share: Share | None = None,
        ways: Sequence[Literal["a", "b"]] = (),
        folder: Path = Path(),
        size: int = None,  # type: ignore[assignment] # noqa: RUF013 - as users write it
        more: Mapping[str, Any] | None = None,
        bare=3,  # type: ignore[no-untyped-def]
    ) -> None:
        pass


class Further(Own):
    def __init__(self, depth: Annotated[int, Range(2, 4)] = 2, **others: Any) -> None:
        super().__init__(**others)


class Closed(Own):
    def __init__(self, depth: Count = 2) -> None:
        super().__init__("closed", True)


class Unresolved:
    def __init__(self, price: Decimal, strict: bool) -> None:
        pass


@dataclass
class Fields:
    count: Count
    kinds: Sequence[str]


GIVEN = {"name": "own", "strict": True}


@pytest.mark.parametrize(
    ("target", "given"),
    [
        (Own, GIVEN),
        (Own, {**GIVEN, "share": 1, "ways": ["a"], "folder": "here", "size": None}),
        (Own, {**GIVEN, "more": {"x": 1}, "bare": "any", "unknown": 5}),
        (Further, {**GIVEN, "depth": 4}),
        (Closed, {"depth": 1, "strict": "left to Python, which refuses it"}),
        (Unresolved, {"strict": "not checked"}),
        (len, {"obj": 5}),
    ],
)
def test_what_is_declared_passes(target, given):
    check_values(target, given, "own")


@pytest.mark.parametrize(
    ("target", "change", "message"),
    [
        (Own, {"strict": "no"}, "own.strict: 'no'; use true or false"),
        (Own, {"strict": 1}, "own.strict: 1; use true or false"),
        (Own, {"name": "a/b"}, "own.name: 'a/b'; use a name without slashes"),
        (Own, {"name": " "}, "own.name: ' '; use a name"),
        (Own, {"name": 5}, "own.name: 5; use a name without slashes (in two pairs of quotes it is"),
        (Own, {"share": float("nan")}, "own.share: nan; use a number from 0 to 1, or null"),
        (Own, {"share": True}, "own.share: True; use a number from 0 to 1, or null"),
        (Own, {"ways": "a"}, "own.ways: 'a'; use a list, each of it one of a, b"),
        (Own, {"ways": ["c"]}, "own.ways: ['c']; use a list, each of it one of a, b"),
        (Own, {"size": "3"}, "own.size: '3'; use a whole number"),
        (Own, {"folder": None}, "own.folder: None; use settings of Path"),
        (Own, {"more": []}, "own.more: []; use settings by name, or null"),
        (Further, {"depth": 5}, "own.depth: 5; use a whole number from 2 to 4"),
        (Further, {"strict": "no"}, "own.strict: 'no'; use true or false"),
        (Closed, {"depth": 0}, "own.depth: 0; use a whole number of 1 or more"),
        (Closed, {"depth": 2**31}, "use a whole number of 1 or more, at most 2,147,483,647"),
    ],
)
def test_anything_else_is_named(target, change, message):
    with pytest.raises(InputError) as refused:
        check_values(target, {**GIVEN, **change}, "own")
    assert message in str(refused.value)


def test_what_is_required_is_missed_unless_it_comes_later_and_fields_are_checked():
    with pytest.raises(InputError, match=r"^own\.strict: missing; use true or false$"):
        check_values(Own, {"name": "own"}, "own")
    check_values(Own, {"name": "own"}, "own", later=["strict"])
    check_fields(Fields(1, ("a",)), "own")
    with pytest.raises(InputError, match=r"^own\.kinds: \[1\]; use a list, each of it a text$"):
        check_fields(Fields(1, [1]), "own")  # type: ignore[list-item]


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
