"""Protocols: which F1, which question types and which treatment of failures a published score has.

The same records are scored under each protocol, without new answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from memsys.core.errors import InputError
from memsys.core.yaml_text import load_table


class Protocol(BaseModel, frozen=True):
    """One way to score LoCoMo; the fields are described in protocols.yaml."""

    name: str
    f1: str
    categories: frozenset[int]
    recall_without_evidence: float | None
    errors: Literal["zero", "excluded"]
    source: str


PROTOCOLS = {
    name: Protocol(name=name, **row)
    for name, row in load_table(Path(__file__).parent / "protocols.yaml").items()
}


def protocol_names(scoring: object) -> list[str]:
    """Return the names in the setting `scoring`. Raises InputError on another form of it."""
    wanted = scoring.get("protocols") if isinstance(scoring, Mapping) else None
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        given = wanted if isinstance(scoring, Mapping) else scoring
        names = ",".join(PROTOCOLS) if given == "all" else given
        raise InputError(f"scoring={given}: write scoring.protocols=[{names}]")
    return [protocol.name for protocol in protocols(wanted)]


def protocols(names: Iterable[str]) -> list[Protocol]:
    """Return the protocols of `names`, in order. Raises InputError on an unknown name, or without a
    name.
    """
    wanted = list(names)
    unknown = [name for name in wanted if name not in PROTOCOLS]
    if unknown or not wanted:
        raise InputError(
            f"scoring.protocols: {', '.join(unknown) or 'empty'}; use {', '.join(PROTOCOLS)}"
        )
    return [PROTOCOLS[name] for name in wanted]
