"""Parts that know the talk of `dataset=synthetic` and would make nothing of any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.datasets.synthetic.dataset import Synthetic
from memsys.errors import InputError


def check_choices(choices: Mapping[str, str], dataset: object, llm: Mapping[Any, Any]) -> None:
    """Refuse what would run to its end and score 0: `choices` by group, `dataset` as configured,
    `llm` the settings of that group.

    Raises InputError where `llm=grammar` or `reader=chain` meets other conversations than those of
    `dataset=synthetic`, where `llm=grammar` is to answer or to judge, and where its
    `llm.extra.misses` is no share.
    """
    made = isinstance(dataset, Synthetic)
    if choices.get("reader") == "chain" and not made:
        raise InputError(
            "reader=chain: knows the questions of dataset=synthetic and no others; add "
            "dataset=synthetic, or use reader=extractive"
        )
    if choices.get("llm") != "grammar":
        return
    if not made:
        raise InputError(
            "llm=grammar: writes memories of dataset=synthetic and of no other conversation; add "
            "dataset=synthetic reader=chain, or use llm=openai"
        )
    if choices.get("reader") == "llm":
        raise InputError(
            "reader=llm: llm=grammar writes memories and answers no question; use reader=chain"
        )
    judging = choices.get("llm@judge_llm", "none")
    if choices.get("judge") in ("llm", "panel") and judging in ("none", "grammar"):
        raise InputError(
            f"judge={choices['judge']}: llm=grammar writes memories and judges nothing; use "
            "judge=none, or another judge by llm@judge_llm=openai"
        )
    misses = llm["extra"].get("misses", 0)
    if isinstance(misses, bool) or not isinstance(misses, int | float) or not 0 <= misses <= 1:
        raise InputError(f"llm.extra.misses: {misses!r}; use a share of 0 to 1")
