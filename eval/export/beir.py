"""The layout of BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv, and the pools of LMEB.

Sources: Thakur et al., 2021 (https://github.com/beir-cellar/beir/wiki) and, for candidates.jsonl,
Zhao et al., 2026 (https://github.com/KaLM-Embedding/LMEB): there, a question is ranked among the
documents of its conversation alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval.export.collection import Collection, UnitName
from eval.records.answer_key_views import left_out
from eval.records.jsonl import write_lines
from eval.records.run import Run
from eval.records.trec import encode

TEXTS = "corpus.jsonl and queries.jsonl"


def write(run: Run, unit: UnitName, folder: Path) -> list[str]:
    """Write the files into `folder`; returns notes. Without
    candidates.jsonl, each question is ranked among all documents.
    """
    collection = Collection(run, unit)
    records = run.records.values()
    write_lines(folder / "corpus.jsonl", _corpus(collection))
    topics = collection.topics()
    write_lines(folder / "queries.jsonl", ({"_id": id_, "text": text} for id_, text in topics))
    (folder / "qrels").mkdir()
    with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8", newline="\n") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for record in records:
            found = () if left_out(record) else collection.relevant(record)
            file.writelines(f"{encode(record['id'])}\t{document}\t1\n" for document in found)
    if not collection.pools:
        return []
    pools = (
        # LMEB's own programs read scene_id, copies of its data sets have query_id.
        {"query_id": id_, "scene_id": id_, "candidate_doc_ids": collection.pool_of(record)}
        for record in records
        for id_ in [encode(record["id"])]
    )
    write_lines(folder / "candidates.jsonl", pools)
    return ["candidates.jsonl has the conversation of each question: rank it among these documents"]


def _corpus(collection: Collection) -> Iterator[dict[str, Any]]:
    for one in collection.documents:
        metadata = {"session": one.session, "time": one.time, "speaker": ", ".join(one.speakers)}
        yield {"_id": one.id, "title": "", "text": one.text, "metadata": metadata}
