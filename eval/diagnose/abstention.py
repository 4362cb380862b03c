"""Abstention, right on type 5 and a false refusal elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from eval.datasets.types import ADVERSARIAL
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.intervals import Sample, percent
from eval.rendering.section import Section, Table
from memsys.text.terms import is_cjk

_HEADER = (
    *("questions", "n, type 5", "abstained (right)", "official phrase match"),
    *("n, types 1-4", "false refusals"),
)


def abstaining(run: Run) -> Section:
    """Both sides of abstention, by language where the questions are in two."""
    records = run.counted
    chinese = [record for record in records if is_cjk(record["question"])]
    english = [record for record in records if not is_cjk(record["question"])]
    groups = [("all", records)]
    if chinese and english:
        groups += [("English", english), ("Chinese", chinese)]
    parts: list[str | Table] = [
        "Abstained: the answer refuses in English or Chinese. The official phrase match (locomo_f1 "
        "of type 5) knows two English wordings.",
        Table(_HEADER, [[name, *_row(own, run.seed)] for name, own in groups]),
    ]
    if all(record["category"] != ADVERSARIAL for record in records):
        parts.append("Whether it abstains where it should is not known: no question of type 5.")
    if all(record["category"] == ADVERSARIAL for record in records):
        parts.append("Whether it refuses falsely is not known: no question of types 1-4.")
    return Section("Abstention", parts)


def _row(records: Sequence[Record], seed: int) -> list[str]:
    adversarial = [record for record in records if record["category"] == ADVERSARIAL]
    others = [record for record in records if record["category"] != ADVERSARIAL]
    phrases = [record["scores"].get("locomo_f1") for record in adversarial]
    return [
        str(len(adversarial)),
        _abstained(adversarial, seed),
        percent(Sample.of(adversarial, phrases, seed).share()),
        str(len(others)),
        _abstained(others, seed),
    ]


def _abstained(records: Sequence[Record], seed: int) -> str:
    return percent(
        Sample.of(records, [float(bool(one["abstained"])) for one in records], seed).share()
    )
