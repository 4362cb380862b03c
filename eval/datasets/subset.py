"""Cutting a data set down to the questions of a subset."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from eval.datasets.subset_file import read_subset
from eval.datasets.types import Question, SourceFile, SubsetUsed
from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class OpenSubset:
    """A subset that belongs to the data: its ids by conversation."""

    used: SubsetUsed
    ids: dict[str, set[str]]

    def kept(self, conversation: str, asked: Sequence[Question]) -> list[Question]:
        """Those of a conversation's questions that are in the subset, in order.

        Raises InputError if one of the subset's is not there.
        """
        wanted = self.ids.get(conversation, set())
        kept = [question for question in asked if question.id in wanted]
        self._missing(wanted - {question.id for question in kept})
        return kept

    def check(self, conversations: Collection[str]) -> None:
        """Raises InputError if the subset has questions of none of these conversations."""
        for name in self.ids.keys() - set(conversations):
            self._missing(self.ids[name])

    def _missing(self, ids: Collection[str]) -> None:
        if ids:
            raise InputError(
                f"dataset.subset: {self.used.file.name} has {min(ids)}, which is no question of "
                "the data; make it anew by python -m eval.studies.lite, or set dataset.subset=null"
            )


def open_subset(
    name: str, files: Sequence[SourceFile], conversations: Collection[str]
) -> OpenSubset:
    """The subset `name` for the data of `files` with these `conversations`.

    Raises InputError where it cannot be read, was made for other data (by sha256: ids there mean
    other questions), or names a conversation that is not there.
    """
    subset, file = read_subset(name)
    theirs = {one.sha256 for one in subset.data} - {one.sha256 for one in files}
    if theirs:
        raise InputError(
            f"dataset.subset={name}: made for another {subset.data[0].name} (sha256 "
            f"{min(theirs)[:12]}...); get that one by python -m eval.fetch locomo, or set "
            "dataset.subset=null"
        )
    ids: dict[str, set[str]] = defaultdict(set)
    for question in subset.questions:
        ids[question.id.rpartition("/")[0]].add(question.id)
    used = SubsetUsed(subset.name, file, len(subset.questions), subset.of)
    found = OpenSubset(used, dict(ids))
    found.check(conversations)
    return found
