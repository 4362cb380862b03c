"""Run folders with rankings that are made here, of data sets that are loaded again."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Dataset
from eval.records.rankings import manifest_fields
from tests.eval import factory

SAMPLE = {"_target_": "eval.datasets.locomo.LoCoMo", "name": "sample", "path": "data/sample"}
SYNTHETIC = {
    **{"_target_": "eval.datasets.synthetic.dataset.Synthetic", "name": "synthetic"},
    **{"conversations": 2, "sessions": 4, "turns": 8, "distractors": 0.5, "hops": 1, "updates": 1},
    **{"relative_dates": 0.0, "language": "zh", "seed": 3, "tellers": "any", "past": False},
}


def write(
    folder: Path, config: Mapping[str, Any], depth: int = 100, *, selected: bool = False
) -> Path:
    """Write a run whose rankings are random, with the evidence in the upper part; a memory is a
    turn with the next one of its conversation.
    """
    dataset = load_dataset_of(config)
    turns = {one.id: [t.id for s in one.sessions for t in s.turns] for one in dataset.conversations}
    factory.write_run(
        folder,
        [_record(dataset, index) for index in range(len(dataset.questions))],
        dataset=dataset.name,
        data=[asdict(file) for file in dataset.files],
        config={"dataset": dict(config), "strategy": {"name": "plain"}},
        **manifest_fields(depth, dataset.conversations),
    )
    random_ = random.Random(7)  # noqa: S311 - of test data
    rankings = []
    for question in dataset.questions:
        ids = list(turns[question.store or question.conversation])
        random_.shuffle(ids)
        ids.sort(key=lambda id_: id_ in question.evidence and random_.random() < 0.7, reverse=True)
        ranking = [[id_, 1 / (place + 1)] for place, id_ in enumerate(ids[:depth])]
        line = {
            "id": question.id,
            "store": question.store or question.conversation,
            "selected": selected,
        }
        rankings.append({**line, "ranking": ranking})
    write_lines(folder / "rankings.jsonl", rankings)
    memories = [
        {"store": store, "id": first, "turns": [first, second][: 1 + (place % 3 == 0)], "tokens": 9}
        for store, ids in turns.items()
        for place, (first, second) in enumerate(pairwise([*ids, ids[0]]))
    ]
    write_lines(folder / "memories.jsonl", memories)
    return folder


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _record(dataset: Dataset, index: int) -> dict[str, Any]:
    question = dataset.questions[index]
    fields = {"type": question.type, "question": question.text, "gold": question.gold}
    fields["conversation"] = question.conversation
    row = factory.record(question.id, evidence=list(question.evidence), **fields)
    return {**row, "category": question.category}
