"""Ranks of the evidence of a question in the ranking that was recorded for it."""

from __future__ import annotations

from dataclasses import dataclass

from eval.metrics.retrieval.registry import UNITS, Unit
from eval.records.run import Run
from eval.records.schema import Record
from eval.summary.retrieval import evidence_of


@dataclass(frozen=True, slots=True)
class EvidenceRanks:
    """Rank, from 1, of each evidence `unit` (turn or session) of a question in its ranking.

    A rank is None where the ranking does not contain the id. `listed`: number of ids in the
    ranking. `complete`: the ranking contains the whole store. `selected`: it has no order.
    """

    unit: Unit
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
    for unit in UNITS:
        ranking = ranked.turns if unit == "turn" else ranked.sessions
        wanted = evidence_of(record, unit)
        if ranking is not None and wanted:
            ids = ranking.ids
            ranks = {id_: ids.index(id_) + 1 if id_ in ids else None for id_ in wanted}
            return EvidenceRanks(unit, ranks, len(ranking.ids), ranking.complete, ranked.selected)
    return None
