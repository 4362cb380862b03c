"""Decomposition: a ranking for each conjunct of the question, interleaved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Literal

from memsys.core.conjuncts import Conjunction, conjunction_of
from memsys.core.declared import Count, check_values
from memsys.core.types import Candidate, Query
from memsys.index.rank import Start
from memsys.strategies.store import Parts
from memsys.strategies.strategy import Strategy


class Decompose(Strategy):
    """One ranking per conjunct of the question ("both Ann and Ben"), interleaved without repeats.

    A question without conjuncts is ranked by the start ranking. So is one whose conjuncts are a
    unit in the memories ("Salt and Pepper"). Score of an interleaved memory: 1 / its rank.
    """

    def __init__(
        self,
        parts: Parts,
        k: Count | None,
        budget: Count | None,
        start: Start,
        conjuncts: Literal["names", "all"],
        whole: bool,
    ) -> None:
        """`conjuncts`: names (each begins with a capital or is Chinese) or all. `whole`: the
        ranking of the whole question takes part, as the first. Raises InputError on an unknown
        value.
        """
        check_values(Decompose, locals(), "strategy")
        super().__init__(parts, k, budget)
        self._start, self._names, self._whole = start, conjuncts == "names", whole

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        """Rank by turns; the trace has the question of each conjunct."""
        found = conjunction_of(query.text)
        if found is None or (self._names and not found.are_names) or self._is_unit(found):
            return self.best(self.store.ranking(query.text, self._start)), {}
        texts = [query.text, *found.questions] if self._whole else found.questions
        rankings = [self.best(self.store.ranking(text, self._start)) for text in texts]
        turns = (one for place in zip_longest(*rankings) for one in place if one)
        unique = {one.memory.id: one for one in turns}
        ranked = [replace(one, score=1 / n) for n, one in enumerate(unique.values(), 1)]
        return ranked[: self.reach], {"conjuncts": list(found.questions)}

    def _is_unit(self, found: Conjunction) -> bool:
        """Return whether the conjuncts occur together as written in at least half of the memories
        that have the rarest of them.
        """
        patterns = [_as_words(text) for text in (found.whole, *found.conjuncts)]
        contents = [memory.content for memory in self.store.memories]
        together, *each = (sum(map(bool, map(one.search, contents))) for one in patterns)
        return 2 * together >= max(min(each), 1)


def _as_words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(text)}(?![^\W_])", re.IGNORECASE)
