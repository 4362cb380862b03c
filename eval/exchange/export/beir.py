"""The layout of BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv, and the pools of LMEB.

Sources: Thakur et al., 2021 (https://github.com/beir-cellar/beir/wiki) and, for candidates.jsonl,
Zhao et al., 2026 (https://github.com/KaLM-Embedding/LMEB): there, a question is ranked among the
documents of its conversation alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from eval.exchange.export.collection import Collection, UnitName
from eval.records.answer_key_views import left_out
from eval.records.jsonl import write_lines
from eval.records.run import Run

TEXTS = "corpus.jsonl and queries.jsonl"
_NO_FIELD = re.compile(r"^\s+|\s+$|[\x00-\x1f\x7f-\x9f\ufeff]")


def as_field(id_: str) -> str:
    """Return an id as a field between tabs: itself, unless it has control characters, or blanks at
    an end; these are percent-encoded (UTF-8).
    """
    return _NO_FIELD.sub(lambda found: quote(found.group(), safe=""), id_)


def write(run: Run, unit: UnitName, folder: Path) -> list[str]:
    """Write the files into `folder`; returns notes. Without
    candidates.jsonl, each question is ranked among all documents.
    """
    collection = Collection(run, unit, as_field)
    records = run.records.values()
    corpus = (
        {"_id": one.id, "title": "", "text": one.text, "metadata": one.fields()}
        for one in collection.documents.values()
    )
    write_lines(folder / "corpus.jsonl", corpus)
    queries = (
        {"_id": id_, "text": text, "metadata": {"type": record["type"]}}
        for record, (id_, text) in zip(records, collection.topics(), strict=True)
    )
    write_lines(folder / "queries.jsonl", queries)
    (folder / "qrels").mkdir()
    with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8", newline="\n") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        for record in records:
            found = () if left_out(record) else collection.relevant(record)
            file.writelines(f"{as_field(record['id'])}\t{document}\t1\n" for document in found)
    if collection.pools is None:
        return []
    lines = (
        # LMEB's own programs read scene_id, some copies of its data sets have query_id.
        {
            **dict.fromkeys(("query_id", "scene_id"), as_field(record["id"])),
            "candidate_doc_ids": collection.pools[record["conversation"]],
        }
        for record in records
    )
    write_lines(folder / "candidates.jsonl", lines)
    return ["candidates.jsonl has the documents that each question is ranked among"]
