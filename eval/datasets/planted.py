"""`dataset=planted`: facts of known truth, planted into the conversations of another data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eval.datasets.named import config_of
from eval.datasets.pooled import check_pool, pool
from eval.datasets.reload import load_dataset_of
from eval.datasets.synthetic.dataset import generated_file
from eval.datasets.synthetic.plants import (
    Deletion,
    FactsOfAKind,
    PlantSettings,
    holds_plants,
    planted,
)
from eval.datasets.types import Dataset
from memsys.core.declared import CountFrom0, Name


class Planted:
    """The data set `of`, with turns that state facts of known truth, and questions about them.

    of: as for the --dataset of a command: a name, or a path. conversations: only these of it. each,
    kinds, deletion, base_questions, seed: see PlantSettings. pooled: put all conversations into one
    store; owner_filter: search only the asking conversation's memories in it.

    Conversations that cannot hold plants are left out, each with a line in `repairs`.
    """

    def __init__(
        self,
        *,
        name: Name,
        of: str,
        conversations: Sequence[str] | None = None,
        each: FactsOfAKind = 3,
        kinds: Sequence[str] | None = None,
        deletion: Deletion = "done",
        base_questions: bool = False,
        seed: CountFrom0 = 0,
        pooled: bool = False,
        owner_filter: bool = False,
    ) -> None:
        # Checked by load(), not here: Hydra would bury the message of an InputError in its own.
        self.name, self._of, self._conversations = name, of, conversations
        self._settings = PlantSettings(
            kinds=kinds, each=each, deletion=deletion, base_questions=base_questions, seed=seed
        )
        self._pooled, self._owner_filter = pooled, owner_filter

    @property
    def asks_by_grammar(self) -> bool:
        """Whether all questions are planted ones, which reader=chain knows."""
        return not self._settings.base_questions

    def load(self) -> Dataset:
        """Read the data set and plant the facts.

        Raises InputError for invalid settings, as the data set does, and if no conversation can
        hold plants.
        """
        self._settings.check()
        check_pool(self._pooled, self._owner_filter)
        config = config_of(str(self._of), setting="dataset.of")
        if self._conversations is not None:
            config["conversations"] = self._conversations
        base = load_dataset_of(config)
        dataset = planted(_holding(base), self._settings)
        files = (*base.files, generated_file(dataset))
        dataset = replace(dataset, name=self.name, files=files)
        return pool(dataset) if self._pooled else dataset


def _holding(dataset: Dataset) -> Dataset:
    """Return `dataset` without the conversations that cannot hold plants, unless none can."""
    held = {one.id: one for one in dataset.conversations if holds_plants(one)}
    if not held:
        return dataset
    lines = [
        f"{one.id}: left out, as planted facts need two speakers and sessions of two times"
        for one in dataset.conversations
        if one.id not in held
    ]
    return replace(
        dataset,
        conversations=tuple(held.values()),
        questions=tuple(one for one in dataset.questions if one.conversation in held),
        repairs=(*dataset.repairs, *lines),
    )
