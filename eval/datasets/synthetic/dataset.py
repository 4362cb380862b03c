"""`dataset=synthetic`: as hard as it is set, and known to nobody."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from eval.datasets.synthetic.dials import Dials
from eval.datasets.synthetic.talk import talk
from eval.datasets.types import Dataset, Question, SourceFile


class Synthetic:
    """Conversations made from a seed. A small world of people, firms, towns and dishes is told in
    chat turns; answers and evidence follow from it.
    """

    def __init__(self, *, name: str, **dials: Any) -> None:
        # Checked by load(), not here: Hydra would bury the message of an InputError in its own.
        self.name = name
        self._dials = dials

    def load(self) -> Dataset:
        """The same bytes for the same dials, on every machine. Raises InputError: see Dials."""
        dials = Dials(**self._dials)
        made = [talk(dials, number) for number in range(dials.conversations)]
        conversations = tuple(conversation for conversation, _ in made)
        questions: tuple[Question, ...] = tuple(q for _, asked in made for q in asked)
        rows = [*map(asdict, conversations), *map(asdict, questions)]
        text = json.dumps(rows, default=str, ensure_ascii=False, sort_keys=True).encode()
        source = SourceFile("made from the seed", len(text), hashlib.sha256(text).hexdigest())
        return Dataset(self.name, conversations, questions, (source,))
