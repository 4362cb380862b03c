"""Layouts in which other projects publish answers are read with every row matched.

A style renames the columns of a row. Where the rows are in a file is of test_containers.py.
"""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from eval.answers.files import read_answers
from eval.answers.match import match

Row = dict[str, Any]
Style = Mapping[str, str]  # the value of `rows` by column of the file
MEASURES = ("judge", "runs", "search", "answering", "total", "tokens")
NAMES = ("first", "second")

PLAIN = {
    "question": "question",
    "golden_answer": "gold",
    "generated_answer": "answer",
    "category": "category",
    "llm_judgments": "runs",
    "search_duration_ms": "search_ms",
    "response_duration_ms": "answering_ms",
    "total_duration_ms": "total_ms",
    "context_tokens": "tokens",
}
MEM0 = {
    "question": "question",
    "answer": "gold",
    "response": "answer",
    "category": "category_mem0",
    "llm_score": "judge_bit",
    "speaker_1_memory_time": "search_half",
    "speaker_2_memory_time": "search_half",
    "response_time": "answering",
}
OFFICIAL = {
    "question": "question",
    "answer": "gold",
    "category": "category",
    "evidence": "evidence",
    "gpt-4o_prediction": "answer",
    "gpt-4o_f1": "quarter",
}
CAPITALS = {
    "Question": "question_capitals",
    "Correct Answer": "gold",
    "Model Answer": "answer",
    "Judge Score": "judge_text",
}
NESTED = {
    "qa": "question_and_gold",
    "output": "answer_nested",
    "eval": "judge_nested",
    "timing": "search_nested",
}
CROWDED = {
    "id": "id_text",
    "speaker": "speaker",
    "query": "question",
    "retrieved_context": "context",
    "answer_prompt": "prompt",
    "answer": "gold",
    "final_response": "answer",
    "judge_reasoning": "reasoning",
    "judge_verdict": "judge_word",
    "retrieval_hit": "hit",
    "f1": "quarter",
}
TABLE = {
    "": "qa_index",
    "Conversation ID": "sample_id",
    "Question": "question",
    "Expected Answer": "gold",
    "Generated Answer": "answer",
    "Correct?": "judge_cell",
    "Latency (s)": "total",
}


@pytest.fixture
def rows(rows: list[Row]) -> list[Row]:
    """The rows with answers, verdicts that go with them, numbers, and all in other forms too."""
    for n, row in enumerate(rows):
        verdict = n % 3 > 0
        row["answer"] = f"{row['gold'] if verdict else 'nobody knows'}, answer {n}"
        seconds = {"search": 0.1 + n / 1000, "answering": 1 + n / 1000, "total": 2 + n / 1000}
        row.update(seconds, judge=verdict, runs=[verdict, n % 5 > 0, verdict])
        row |= {f"{name}_ms": value * 1000 for name, value in seconds.items()}
        row |= {
            "gold": str(row["gold"]),
            "tokens": 900 + n,
            "search_half": row["search"] / 2,
            "search_nested": {"search_ms": row["search_ms"]},
            "number": NAMES.index(row["sample_id"]),
            "id_text": f"{row['sample_id']}_{row['qa_index']}",
            "category_mem0": {1: "3", 2: "2", 3: "4", 4: "1", 5: "5"}[row["category"]],
            "judge_bit": int(verdict),
            "judge_text": str(int(verdict)),
            "judge_word": "CORRECT" if verdict else "WRONG",
            "judge_cell": "TRUE" if verdict else "FALSE",
            "judge_nested": {"correct": verdict, "reason": "as the gold says"},
            "question_capitals": row["question"].upper().replace("'", "’") + " ",
            "question_and_gold": {"q": row["question"], "a": row["gold"]},
            "answer_nested": {"text": row["answer"], "tokens": 7},
            "context": f"{row['gold']} {row['question']} " * 20,
            "prompt": f"Answer: {row['question']}",
            "reasoning": f"The answer {row['answer']!r} is fine.",
            "hit": n % 2 == 0,
            "speaker": "A",
            "quarter": 0.25,
            "evidence": ["D1:3"],
        }
    return rows


def of(rows: Sequence[Row], style: Style) -> list[Row]:
    return [{column: row[value] for column, value in style.items()} for row in rows]


def groups(rows: Sequence[Row], style: Style, by: str = "sample_id") -> dict[str, list[Row]]:
    """Rows of a style by the text of a value, in order."""
    keys = dict.fromkeys(str(row[by]) for row in rows)
    return {key: of([row for row in rows if str(row[by]) == key], style) for key in keys}


def beside_summaries(rows: Sequence[Row], style: Style) -> Any:
    means = {"overall": "0.5", "temporal": "0.4"}.items()
    summary = [{"question": name, "answer": mean, "count": len(rows)} for name, mean in means]
    return {"summary": summary, "failures": of(rows[:3], style), "rows": of(rows, style)}


def official(rows: Sequence[Row], style: Style) -> Any:
    return [{"sample_id": name, "qa": part} for name, part in groups(rows, style).items()]


CASES: dict[str, tuple[Style, Callable[[Sequence[Row], Style], Any] | None]] = {  # None: CSV
    "official": (OFFICIAL, official),
    "Mem0": (MEM0, lambda rows, style: groups(rows, style, "number")),
    "summaries beside the rows": (PLAIN, beside_summaries),
    "questions in capitals with other quotes": (CAPITALS, of),
    "question and gold in an object": (NESTED, of),
    "judge's reasons, contexts and prompts beside": (CROWDED, of),
    "a table with an index column": (TABLE, None),
}


def write(folder: Path, rows: Sequence[Row], name: str) -> Path:
    """Write the rows and return the file to read."""
    style, make = CASES[name]
    path = folder / "out"
    if make is not None:
        path.write_text(json.dumps(make(rows, style)), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(style))
        table.writeheader()
        table.writerows(of(rows, style))
    return path


@pytest.mark.parametrize("name", CASES)
def test_a_published_layout_is_read(name, rows, dataset, tmp_path):
    found = match(read_answers(write(tmp_path, rows, name), dataset).rows, dataset)
    assert (len(found.answers), found.unmatched) == (len(rows), [])
    kept = {value.partition("_")[0] for value in CASES[name][0].values()} & set(MEASURES)
    for row in rows:
        if row["question"] in ("Who swims?", "What did Bo win?"):  # asked twice
            continue
        read = found.answers[f"{row['sample_id']}/{row['qa_index']}"]
        assert read.answer == row["answer"]
        if "runs" in kept:
            assert read.judge == pytest.approx(fmean(row["runs"]))
            assert list(read.verdicts.values()) == [tuple(row["runs"])]
        else:
            assert read.judge == (float(row["judge"]) if "judge" in kept else None)
        measured = {
            "tokens": read.context_tokens,
            "search": read.search_seconds,
            "answering": read.answer_seconds,
            "total": read.total_seconds,
        }
        for value, number in measured.items():
            assert number == (pytest.approx(row[value], abs=1e-6) if value in kept else None)
