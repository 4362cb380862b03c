"""What is known of the source of each file of answers: results/leaderboard/systems.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eval.cards.card.schema import Origin
from memsys.core.errors import InputError, first_problem
from memsys.core.places import SHIPPED
from memsys.core.yaml_text import load_yaml

FOLDER = SHIPPED / "results" / "leaderboard"
FACTS = FOLDER / "systems.yaml"
NO_FACTS = "Source, reader, judge and licence: systems.yaml has no entry of this system."
Kind = Literal["memory", "retrieval", "full context", "written to be wrong", "not stated"]


class _Strict(BaseModel):
    """Base of the parts of the file: no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SystemFacts(_Strict):
    """One file of answers; None for what is not known, and `unknown` says so in sentences.

    `sha256`: of the file that was scored. `judge_runs`: verdicts for each answer, of which the file
    has the majority.
    """

    what: str
    kind: Kind
    repository: str | None
    commit: str | None
    licence: str | None
    reader: str | None
    judge: str | None
    judge_runs: int | None = None
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    unknown: list[str]

    @property
    def origin(self) -> Origin:
        """The source, as score cards name it."""
        return Origin(repository=self.repository, commit=self.commit, licence=self.licence)


class Facts(_Strict):
    """Facts by system; `unknown` is unknown of every one."""

    unknown: list[str]
    systems: Mapping[str, SystemFacts]

    def of(self, name: str, sha256: str) -> SystemFacts:
        """Return the facts about the file of `name`, which has this hash.

        A system without an entry has facts without any content. Raises InputError where the entry
        is about another file.
        """
        found = self.systems.get(name)
        if found is None:
            nothing = dict.fromkeys(("repository", "commit", "licence", "reader", "judge"))
            return SystemFacts(
                what=name, kind="not stated", sha256=sha256, unknown=[NO_FACTS], **nothing
            )
        if found.sha256 != sha256:
            raise InputError(
                f"{name}: the file has sha256 {sha256[:12]}..., and {FACTS.name} describes "
                f"{found.sha256[:12]}...; rename the file, or correct the entry"
            )
        return found

    def unknown_of(self, facts: SystemFacts) -> list[str]:
        """Return what is not known of a system, one sentence each."""
        return [*facts.unknown, *self.unknown]


def load_facts(path: Path = FACTS) -> Facts:
    """Load and validate the file. Raises InputError naming file and field."""
    try:
        return Facts.model_validate(load_yaml(path))
    except ValidationError as error:
        raise InputError(f"{path}: {first_problem(error)}; correct it") from error
