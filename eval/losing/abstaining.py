"""Abstention, right on type 5 and a false refusal elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from eval.losing.figures import Sample, percent
from eval.losing.runs import Run
from eval.losing.section import Section, Table
from eval.records import Record
from memsys.index.terms import is_cjk

_TITLE = "Abstention"


def abstaining(run: Run) -> Section:
    """Both sides of abstention, by language where the questions are in two."""
    records = run.answered
    chinese = [record for record in records if is_cjk(record["question"])]
    english = [record for record in records if not is_cjk(record["question"])]
    groups = [("all", records)]
    if chinese and english:
        groups += [("English", english), ("Chinese", chinese)]
    seed = run.manifest["seed"]
    rows = [[name, *_row(own, seed)] for name, own in groups]
    header = [
        *("questions", "n, type 5", "abstained (right)", "official phrase match"),
        *("n, types 1-4", "false refusals"),
    ]
    parts: list[str | Table] = [
        "The official phrase match (locomo_f1 of type 5) knows two English wordings only.",
        Table(header, rows),
    ]
    if all(record["category"] != 5 for record in records):
        parts.append("Whether it abstains where it should is not known: no question of type 5.")
    if all(record["category"] == 5 for record in records):
        parts.append("Whether it refuses falsely is not known: no question of types 1-4.")
    return Section(_TITLE, parts)


def _row(records: Sequence[Record], seed: int) -> list[str]:
    adversarial = [record for record in records if record["category"] == 5]
    others = [record for record in records if record["category"] != 5]
    phrases = [record["scores"].get("locomo_f1") for record in adversarial]
    return [
        str(len(adversarial)),
        _share(adversarial, [_abstained(record) for record in adversarial], seed),
        _share(adversarial, phrases, seed),
        str(len(others)),
        _share(others, [_abstained(record) for record in others], seed),
    ]


def _abstained(record: Record) -> float | None:
    return None if record["abstained"] is None else float(record["abstained"])


def _share(records: Sequence[Record], values: Sequence[float | None], seed: int) -> str:
    return percent(Sample(values, [record["conversation"] for record in records], seed).share())
