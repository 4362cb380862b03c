"""Protocols: which F1, which question types and which treatment of failures a published score has.

The same records are scored under each protocol, without new answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memsys.errors import InputError


@dataclass(frozen=True, slots=True)
class Protocol:
    """One way to score LoCoMo.

    `f1`: key of a record's scores. `categories`: the official types in its overall mean.
    `recall_without_evidence`: recall of a question without evidence (None: excluded).
    `errors`: a failed question counts as 0, like an empty answer, or is excluded.
    """

    name: str
    f1: str
    categories: frozenset[int]
    recall_without_evidence: float | None
    errors: Literal["zero", "excluded"]
    source: str


_ANSWERED = frozenset({1, 2, 3, 4})
_PROTOCOLS = (
    Protocol(
        "locomo",
        "locomo_f1",
        _ANSWERED | {5},
        1.0,
        "zero",
        "snap-research/locomo, task_eval/evaluation.py: bag of Porter stems, rules by type, "
        "phrase match for type 5",
    ),
    Protocol(
        "mem0",
        "mem0_f1",
        _ANSWERED,
        None,
        "zero",
        "mem0ai/mem0, evaluation/metrics/utils.py: sets of words; type 5 left out",
    ),
    Protocol(
        "memos",
        "memos_f1",
        _ANSWERED,
        None,
        "zero",
        "MemTensor/MemOS, evaluation: sets of Treebank tokens; type 5 left out",
    ),
    Protocol(
        "strict",
        "strict_f1",
        _ANSWERED,
        None,
        "excluded",
        "memsys: Unicode, numbers and dates normalised, Chinese by character, alternatives; "
        "abstention apart",
    ),
)
PROTOCOLS = {protocol.name: protocol for protocol in _PROTOCOLS}


def protocol_names(scoring: object) -> list[str]:
    """Return the names in the setting `scoring`. Raises InputError on another form of it."""
    wanted = scoring.get("protocols") if isinstance(scoring, Mapping) else None
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        given = wanted if isinstance(scoring, Mapping) else scoring
        names = ",".join(PROTOCOLS) if given == "all" else given
        raise InputError(f"scoring={given}: write scoring.protocols=[{names}]")
    return [protocol.name for protocol in protocols(wanted)]


def protocols(names: Iterable[str]) -> list[Protocol]:
    """Return the protocols of `names`, in order. Raises InputError on an unknown or no name."""
    wanted = list(names)
    unknown = [name for name in wanted if name not in PROTOCOLS]
    if unknown or not wanted:
        raise InputError(
            f"scoring.protocols: {', '.join(unknown) or 'empty'}; use {', '.join(PROTOCOLS)}"
        )
    return [PROTOCOLS[name] for name in wanted]
