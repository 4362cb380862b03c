"""Ranks of the evidence of a question in the ranking that was recorded for it."""

from __future__ import annotations

from dataclasses import dataclass

from eval.records.rankings import session_of
from eval.records.run import Run
from eval.records.schema import Record


@dataclass(frozen=True, slots=True)
class EvidenceRanks:
    """Rank, from 1, of each evidence `unit` (turn or session) of a question in its ranking.

    A rank is None where the ranking does not contain the id. `listed`: number of ids in the
    ranking. `complete`: the ranking contains the whole store. `selected`: it has no order.
    """

    unit: str
    ranks: dict[str, int | None]
    listed: int
    complete: bool
    selected: bool


def evidence_ranks(run: Run, record: Record) -> EvidenceRanks | None:
    """Return the ranks of a question's evidence turns, or of its sessions where it names no turns
    or only sessions were ranked; None without evidence or a recorded ranking.
    """
    ranked = run.rankings.get(record["id"])
    if ranked is None:
        return None
    turns = list(record["evidence"])
    sessions = record.get("evidence_sessions") or [session_of(turn) for turn in turns]
    for name, unit, wanted in (
        ("turn", ranked.turns, turns),
        ("session", ranked.sessions, sessions),
    ):
        if unit is not None and wanted:
            places = {id_: rank for rank, id_ in enumerate(unit.ids, 1)}
            ranks = {id_: places.get(id_) for id_ in wanted}
            return EvidenceRanks(name, ranks, len(unit.ids), unit.complete, ranked.selected)
    return None
