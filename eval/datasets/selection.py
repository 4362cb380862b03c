"""The filters that data sets share: which conversations, and which of their questions; and splits
of the conversations.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from eval.datasets.types import TABLES, Dataset, Question, SourceFile
from memsys.core.declared import Count, Name, check_fields
from memsys.core.errors import InputError
from memsys.core.types import Conversation

SplitName = Literal["dev", "held_out"]
Splits = Mapping[SplitName, Sequence[str]]
LOCOMO: Splits = TABLES["splits"]["locomo"]
REALTALK: Splits = TABLES["splits"]["realtalk"]


class Part(NamedTuple):
    """One conversation of a data set with its questions, and a line per repair of either."""

    conversation: Conversation
    questions: Sequence[Question]
    repairs: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Filters:
    """A data set's name in tables and its filters.

    conversations: only these, by id. types: only these question types, by name. limit: at most this
    many questions of each conversation, applied after `types`.
    """

    # Checked by load(): Hydra would bury the message of an InputError in its own.
    name: Name
    conversations: Sequence[str] | None = None
    types: Sequence[str] | None = None
    limit: Count | None = None

    def check(self, types: Iterable[str] | None = None) -> None:
        """Raise InputError unless every setting is valid, and the filter names `types` of the data;
        None: these are not read yet.
        """
        check_fields(self, "dataset")
        if types is not None:
            check_names("types", self.types, types)

    def wanted(self, ids: Collection[str]) -> list[str]:
        """Return those of the conversations `ids` that the filter admits, in order; InputError if
        it names another.
        """
        check_names("conversations", self.conversations, ids)
        wanted = None if self.conversations is None else set(self.conversations)
        return [id_ for id_ in ids if wanted is None or id_ in wanted]

    def select(self, questions: Iterable[Question]) -> list[Question]:
        """Return those of a conversation's `questions` that the filters admit, in order."""
        of_types = [q for q in questions if self.types is None or q.type in self.types]
        return of_types[: self.limit]

    def collect(
        self,
        parts: Iterable[Part],
        files: Sequence[SourceFile],
        types: Mapping[int, str],
        *,
        keep_all: bool = False,
    ) -> Dataset:
        """Return the data set of `parts` with the questions that the filters admit; conversations
        without one are omitted unless `keep_all`. Raises InputError if no question is left.
        """
        selected = (part._replace(questions=self.select(part.questions)) for part in parts)
        kept = [part for part in selected if part.questions or keep_all]
        questions = tuple(question for part in kept for question in part.questions)
        if not questions:
            names = ", ".join(file.name for file in files[:3]) + (" ..." if files[3:] else "")
            raise InputError(
                f"{names}: no question is left; widen dataset.conversations and "
                "dataset.types, or add questions to the data"
            )
        return Dataset(
            self.name,
            tuple(part.conversation for part in kept),
            questions,
            tuple(files),
            tuple(line for part in kept for line in part.repairs),
            types=types,
        )


def check_names(option: str, given: Any, valid: Iterable[str]) -> None:
    """Raise InputError unless `given` is None or a list of `valid` names, one at least."""
    if given is None:
        return
    names = dict.fromkeys(valid)
    if isinstance(given, str) or not given:  # a str is a sequence of letters
        raise InputError(
            f"dataset.{option}: {given!r:.60}; use a list, such as [{next(iter(names))}], or null"
        )
    unknown = [name for name in given if not isinstance(name, str) or name not in names]
    if unknown:
        shown = ", ".join(list(names)[:10]) + (" ..." if len(names) > 10 else "")
        raise InputError(f"dataset.{option}: {unknown[0]!r:.60} is not one of {shown}")


def in_split(
    name: SplitName | None, conversations: Sequence[str], splits: Splits, whole: str
) -> Sequence[str]:
    """Return those of the data's `conversations` that are in the split `name`, one of `splits`;
    None: all.

    Raises InputError if the data lacks a conversation of the split; `whole` says what it splits.
    """
    if name is None:
        return conversations
    present = set(conversations)
    if absent := [id_ for id_ in splits[name] if id_ not in present]:
        raise InputError(
            f"dataset.split={name}: the data has no {absent[0]}; splits are of {whole}, or "
            "dataset.split=null"
        )
    return [id_ for id_ in conversations if id_ in splits[name]]
