"""`dataset=synthetic`: conversations of adjustable difficulty, unknown to any model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from eval.datasets.synthetic.parameters import Parameters
from eval.datasets.synthetic.world import dialogue
from eval.datasets.types import Dataset, Question, SourceFile
from memsys.errors import InputError


class Synthetic:
    """Conversations generated from a seed.

    Chat turns state the facts of a small world of people, firms, towns and dishes; answers and
    evidence follow from it.
    """

    def __init__(self, *, name: str, **parameters: Any) -> None:
        # Checked by load(), not here: Hydra would bury the message of an InputError in its own.
        self.name = name
        self._parameters = parameters

    def load(self) -> Dataset:
        """Return the same data for the same parameters, on every machine.

        Raises InputError for invalid parameters.
        """
        parameters = Parameters(**self._parameters)
        generated = [dialogue(parameters, number) for number in range(parameters.conversations)]
        conversations = tuple(conversation for conversation, _ in generated)
        questions: tuple[Question, ...] = tuple(q for _, asked in generated for q in asked)
        rows = [*map(asdict, conversations), *map(asdict, questions)]
        for row in rows:
            row.pop("cue", None)  # generated questions have gold answers instead
        text = json.dumps(rows, default=str, ensure_ascii=False, sort_keys=True).encode()
        source = SourceFile("made from the seed", len(text), hashlib.sha256(text).hexdigest())
        return Dataset(self.name, conversations, questions, (source,))


def check_compatibility(
    choices: Mapping[str, str], dataset: object, llm: Mapping[Any, Any]
) -> None:
    """Reject parts that know the synthetic grammar only, and would score 0 on other data.

    `choices`: option by group; `dataset` as configured; `llm`: settings of that group. Raises
    InputError if `llm=grammar` or `reader=chain` is combined with another data set, if
    `llm=grammar` has to answer or judge, or if its `llm.extra.misses` is not a share.
    """
    synthetic = isinstance(dataset, Synthetic)
    if choices.get("reader") == "chain" and not synthetic:
        raise InputError(
            "reader=chain: knows only the questions of dataset=synthetic; add dataset=synthetic, "
            "or use reader=extractive"
        )
    if choices.get("llm") != "grammar":
        return
    if not synthetic:
        raise InputError(
            "llm=grammar: writes memories only of dataset=synthetic; add dataset=synthetic "
            "reader=chain, or use llm=openai"
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
