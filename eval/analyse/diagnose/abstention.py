"""Abstention: correct on type 5, a false refusal on types 1 to 4."""

from __future__ import annotations

from collections.abc import Sequence

from eval.datasets.types import ADVERSARIAL
from eval.records.run import Run
from eval.records.schema import Record
from eval.rendering.blocks import Section, Table
from eval.rendering.numbers import percent
from eval.summary.sample import Sample
from memsys.core.terms import is_cjk

_HEADER = (
    *("questions", "n, type 5", "abstained (correct)", "official phrase match"),
    *("n, types 1-4", "false refusals"),
)


def abstention(run: Run) -> Section:
    """Return the section on both kinds of abstention, by language if there are two."""
    records = run.counted
    chinese = [record for record in records if is_cjk(record["question"])]
    english = [record for record in records if not is_cjk(record["question"])]
    groups = [("all", records)]
    if chinese and english:
        groups += [("English", english), ("Chinese", chinese)]
    parts: list[str | Table] = [
        "Abstained: the answer is a refusal in English or Chinese. The official phrase match "
        "(locomo_f1 of type 5) recognises two English wordings.",
        Table(_HEADER, [[name, *_row(chosen, run.seed)] for name, chosen in groups]),
    ]
    if all(record["category"] != ADVERSARIAL for record in records):
        parts.append("Correct abstention is unknown: there is no question of type 5.")
    if all(record["category"] == ADVERSARIAL for record in records):
        parts.append("False refusals are unknown: there is no question of types 1-4.")
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
    values = [float(bool(record["abstained"])) for record in records]
    return percent(Sample.of(records, values, seed).share())
