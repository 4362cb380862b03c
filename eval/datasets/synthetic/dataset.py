"""`dataset=synthetic`: conversations of adjustable difficulty, unknown to any model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, ClassVar

from eval.datasets.pooled import Poolable, pool
from eval.datasets.synthetic.languages import LANGUAGES
from eval.datasets.synthetic.parameters import Parameters
from eval.datasets.synthetic.plants import Deletion, PlantSettings, planted
from eval.datasets.synthetic.world import dialogue
from eval.datasets.types import Dataset, Question, SourceFile
from memsys.core.declared import Name, Range
from memsys.core.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Synthetic(Parameters, Poolable):
    """Conversations generated from a seed.

    Chat turns state the facts of a small world of people, firms, towns and dishes; answers and
    evidence follow from it. `plants`: planted facts of each of `kinds` in a conversation; see
    PlantSettings, also for `deletion` and `base_questions`. `pooled`, `owner_filter`: as of LoCoMo.
    """

    name: Name
    plants: Annotated[int, Range(0, 50)] = 0
    kinds: Sequence[str] | None = None
    deletion: Deletion = "done"
    base_questions: bool = True
    asks_by_grammar: ClassVar[bool] = True

    def load(self) -> Dataset:
        """Return the same data for the same parameters, on every machine.

        Raises InputError for invalid parameters.
        """
        self.check()
        self.check_pool()
        if self.plants == 0 and (self.kinds is not None or not self.base_questions):
            raise InputError(
                "dataset.plants: 0; dataset.kinds and dataset.base_questions are of planted facts: "
                "use 1 or more"
            )
        generated = [dialogue(self, number) for number in range(self.conversations)]
        conversations = tuple(conversation for conversation, _ in generated)
        questions: tuple[Question, ...] = tuple(q for _, asked in generated for q in asked)
        dataset = Dataset(self.name, conversations, questions, ())
        if self.plants:
            plants = PlantSettings(
                kinds=self.kinds,
                each=self.plants,
                deletion=self.deletion,
                base_questions=self.base_questions,
                seed=self.seed,
            )
            dataset = planted(dataset, plants, LANGUAGES[self.language])
        dataset = replace(dataset, files=(generated_file(dataset),))
        return pool(dataset) if self.pooled else dataset


def generated_file(dataset: Dataset) -> SourceFile:
    """Return the conversations and questions of `dataset`, which no file has, as one."""
    rows = [*map(asdict, dataset.conversations), *map(asdict, dataset.questions)]
    sessions = [session for row in rows for session in row.get("sessions", ())]
    for one in (*rows, *sessions):
        for name in ("cue", "plant", "forgets"):  # absent where unused: hashes do not change
            if not one.get(name):
                one.pop(name, None)
    text = json.dumps(rows, default=str, ensure_ascii=False, sort_keys=True).encode()
    return SourceFile("made from the seed", len(text), hashlib.sha256(text).hexdigest())


def check_compatibility(
    choices: Mapping[str, str], dataset: object, llm: Mapping[Any, Any]
) -> None:
    """Reject parts that know the synthetic grammar only, and would score 0 on other questions.

    `choices`: option by group; `dataset` as configured; `llm`: settings of that group. Raises
    InputError if `llm=grammar` or `reader=chain` is combined with another data set, if
    `llm=grammar` has to answer or judge, or if its `llm.extra.misses` is not a share.
    """
    synthetic = isinstance(dataset, Synthetic)
    if choices.get("reader") == "chain" and not getattr(dataset, "asks_by_grammar", False):
        raise InputError(
            "reader=chain: knows only the questions of dataset=synthetic and planted ones; add "
            "dataset=synthetic, or use reader=extractive"
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
