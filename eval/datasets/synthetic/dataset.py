"""`dataset=synthetic`: conversations of adjustable difficulty, unknown to any model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from eval.datasets.pooled import Poolable, pool
from eval.datasets.synthetic.languages import LANGUAGES
from eval.datasets.synthetic.plants import Deletion, PlantSettings, planted
from eval.datasets.synthetic.world import Parameters, dialogue
from eval.datasets.types import Dataset, Question, generated_file
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
    dialogues_by_grammar: ClassVar[bool] = True

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
