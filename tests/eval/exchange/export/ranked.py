"""Run folders with rankings that are made here, of data sets that are loaded again."""

import json
import random
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from eval.datasets.reload import load_dataset_of
from eval.datasets.types import Question
from eval.records import files
from eval.records.files import write_lines
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
        map(_record, dataset.questions),
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
        store = question.store or question.conversation
        line = {"id": question.id, "store": store, "selected": selected, "ranking": ranking}
        rankings.append(line)
    write_lines(folder / "rankings.jsonl", rankings)
    memories = [
        {"store": store, "id": first, "turns": [first, second][: 1 + (place % 3 == 0)], "tokens": 9}
        for store, ids in turns.items()
        for place, (first, second) in enumerate(pairwise([*ids, ids[0]]))
    ]
    write_lines(folder / "memories.jsonl", memories)
    return folder


def by_session(folder: Path) -> None:
    """Say that the rankings of a run are of sessions."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["retrieval"]["unit"] = "session"
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def read_lines(path: Path) -> list[dict[str, Any]]:
    return list(files.read_lines(path))


def _record(question: Question) -> dict[str, Any]:
    fields = {"type": question.type, "question": question.text, "gold": question.gold}
    fields |= {"conversation": question.conversation, "category": question.category}
    return factory.record(question.id, evidence=list(question.evidence)) | fields
