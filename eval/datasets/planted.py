"""`dataset=planted`: facts of known truth, planted into the conversations of another data set."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eval.datasets.pooled import Poolable, pool
from eval.datasets.reload import config_of, load_dataset_of
from eval.datasets.synthetic.plants import PlantSettings, planted
from eval.datasets.types import Dataset, generated_file
from memsys.core.declared import Name


@dataclass(frozen=True, kw_only=True)
class Planted(PlantSettings, Poolable):
    """The data set `of`, with turns that state facts of known truth, and questions about them.

    of: as for the --dataset of a command: a name, or a path. conversations: only these of it. each,
    kinds, deletion, base_questions, seed: see PlantSettings. pooled: put all conversations into one
    store; owner_filter: search only the asking conversation's memories in it.

    Conversations that cannot hold plants are left out, each with a line in `repairs`.
    """

    name: Name
    of: str
    conversations: Sequence[str] | None = None

    @property
    def asks_by_grammar(self) -> bool:
        """Whether all questions are planted ones, which reader=chain knows."""
        return not self.base_questions

    def load(self) -> Dataset:
        """Read the data set and plant the facts.

        Raises InputError for invalid settings, as the data set does, and if no conversation can
        hold plants.
        """
        self.check_pool()
        config = config_of(str(self.of), setting="dataset.of")
        if self.conversations is not None:
            config["conversations"] = self.conversations
        dataset = planted(load_dataset_of(config), self)
        files = (*dataset.files, generated_file(dataset))
        dataset = replace(dataset, name=self.name, files=files)
        return pool(dataset) if self.pooled else dataset
