"""Small folders in the layouts of BEIR and LMEB, written for tests."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCUMENTS: tuple[Mapping[str, Any], ...] = (
    {"_id": "d1", "title": "Bees", "text": "Honey bees dance to point at flowers."},
    {"_id": "d2", "title": "", "text": "A lighthouse warns ships off the rocks."},
    {"_id": "d 3", "title": "Tides", "text": "The moon pulls the sea twice a day."},
    {"_id": "d4", "text": "Clay pots crack in a kiln that cools too fast."},
    {"_id": "d5", "title": "Empty", "text": ""},
)
QUERIES: tuple[Mapping[str, Any], ...] = (
    {"_id": "q1", "text": "How do bees show where the flowers are?"},
    {"_id": "q2", "text": "What moves the sea?"},
    {"_id": "q3", "text": "Who paints the lighthouse?"},
)
QRELS = (("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d 3", 1))


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def table(rows: Iterable[Sequence[Any]], header: bool = True) -> str:
    first = [("query-id", "corpus-id", "score")] if header else []
    return "".join("\t".join(map(str, row)) + "\n" for row in [*first, *rows])


def write(path: Path, text: str) -> None:
    """Write a file, gzipped if its name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def beir(
    folder: Path,
    documents: Iterable[Mapping[str, Any]] = DOCUMENTS,
    queries: Iterable[Mapping[str, Any]] = QUERIES,
    qrels: Iterable[Sequence[Any]] = QRELS,
) -> Path:
    """Write a folder in BEIR's layout and return it."""
    write(folder / "corpus.jsonl", lines(documents))
    write(folder / "queries.jsonl", lines(queries))
    write(folder / "qrels" / "test.tsv", table(qrels))
    return folder


def lmeb(folder: Path) -> Path:
    """Write a folder in LMEB's layout, with two scenes and two types, and return it."""
    scenes = {"s_1": ["t1", "t2"], "s_2": ["t3"]}
    texts = {"t1": "I sold the boat.", "t2": "I baked rye bread.", "t3": "The boat leaks."}
    documents = ({"id": id_, "title": "", "text": text} for id_, text in texts.items())
    write(folder / "corpus.jsonl", lines(documents))
    pools = [{"scene_id": one, "candidate_doc_ids": ids} for one, ids in scenes.items()]
    write(folder / "candidates.jsonl", lines(pools))
    for type_, query, text, document in (
        ("single_hop", "s_1_q_0", "Who sold a boat?", "t1"),
        ("adversarial", "s_2_q_0", "Which boat leaks?", "t3"),
    ):
        write(folder / type_ / "queries.jsonl", lines([{"id": query, "text": text}]))
        write(folder / type_ / "qrels.tsv", table([(query, document, 1)], header=False))
    return folder
