"""Every row of the published answers scores as the peers' own code scored it."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eval.datasets.files import shared_folder
from eval.metrics.published import bleu1, locomo_f1, mem0_f1

LOCOMO = shared_folder() / "locomo"
ADVERSARIAL = 5
SYSTEMS = sorted(path.name for path in (LOCOMO / "reference").glob("*.jsonl.gz"))

pytestmark = pytest.mark.skipif(
    not SYSTEMS, reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/"
)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize("system", SYSTEMS)
def test_scores_equal_the_originals(system):
    rows = zip(
        _rows(LOCOMO / "answers" / system), _rows(LOCOMO / "reference" / system), strict=True
    )
    for row, reference in rows:
        place = (row["sample_id"], row["qa_index"])
        assert place == (reference["sample_id"], reference["qa_index"])
        answer, gold, category = row["answer"] or "", row["gold"], row["category"]
        if category != ADVERSARIAL:  # which has the official score alone, as in the peers' tables
            gold = str(gold)  # some are numbers, which the peers' code turned into text as well
        scores = {"locomo_f1": locomo_f1(answer, gold, category)}
        if category != ADVERSARIAL:
            scores |= {"mem0_f1": mem0_f1(answer, gold), "bleu1": bleu1(answer, gold)}
        names = ("locomo_f1", "mem0_f1", "bleu1")
        expected = {name: reference[name] for name in names if reference[name] is not None}
        assert scores == pytest.approx(expected, abs=1e-9, rel=0), place


def test_all_rows_are_there():
    assert len(SYSTEMS) == 17
    assert sum(1 for name in SYSTEMS for _ in _rows(LOCOMO / "reference" / name)) == 26_626
