"""Answer files as other projects publish them, made from real answers while a test runs.

A style renames the columns of a row, a container arranges the rows in a file or a folder. The texts
are those of the shared folder and are never committed. Times, tokens and runs of a judge, which
those answers lack, are made up from the position of the row.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Row = dict[str, Any]
MEM0_NAMES = {1: "3", 2: "2", 3: "4", 4: "1", 5: "5"}  # the category names of Mem0's tables
OFFICIAL = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}
MEASURED = frozenset(("judge", "runs", "search", "answering", "total", "tokens"))
EVERY = 31  # of a system's rows, for a small file
IDS = [f"conv-{n}" for n in (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)]


def read_rows(path: Path, every: int = 1) -> list[Row]:
    """Return rows of a normalised file in the data set's order, with numbers made up."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = in_order([json.loads(line) for line in lines])
    for n, row in enumerate(rows):
        verdict = bool(row["judge"])
        search, answering = round(0.1 + n / 1000, 3), round(1 + n / 1000, 3)
        row |= {
            "gold": row["gold"] if row["gold"] is not None else "",
            "judge": verdict,
            "runs": [verdict, n % 5 > 0, verdict],
            "tokens": 900 + n,
            "search": search,
            "answering": answering,
            "total": round(search + answering, 3),
        }
        row.update(_in_other_forms(row))
    return rows[::every]


def _in_other_forms(row: Row) -> Row:
    """Return values of `row` as files write them, by the name of the value and of its form."""
    question, gold, answer, verdict = row["question"], row["gold"], row["answer"], row["judge"]
    number = IDS.index(row["sample_id"])
    return {
        "beside_runs": row["runs"],  # of which the file has the verdict as well
        **{f"{name}_ms": row[name] * 1000 for name in ("search", "answering", "total")},
        "total_text": f"{row['total'] * 1000:.1f}",
        "search_half": row["search"] / 2,
        "search_nested": {"search_ms": row["search"] * 1000},
        "tokens_text": str(row["tokens"]),
        "number": number,
        "number_text": str(number),
        "index_text": str(row["qa_index"]),
        "id_text": f"{row['sample_id']}_{row['qa_index']}",
        "category_mem0": MEM0_NAMES[row["category"]],
        "category_official": OFFICIAL[row["category"]],
        "judge_bit": int(verdict),
        "judge_text": str(int(verdict)),
        "judge_decimal": f"{float(verdict):.1f}",
        "judge_word": "CORRECT" if verdict else "WRONG",
        "judge_cell": "TRUE" if verdict else "FALSE",
        "judge_nested": {"correct": verdict, "reason": "as the gold says"},
        "question_capitals": " ".join(question.upper().replace("'", "’").split()) + " ",
        "question_and_gold": {"q": question, "a": gold},
        "gold_text": str(gold),
        "answer_nested": {"text": answer, "tokens": 7},
        "context": f"{gold} {question} " * 20,
        "prompt": f"Answer: {question}",
        "reasoning": f"The answer {answer!r} is fine.",
        "hit": row["qa_index"] % 2 == 0,
        "speaker": "A",
        "quarter": 0.25,
    }


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return rows in the data set's order."""
    return sorted(rows, key=lambda row: (IDS.index(row["sample_id"]), row["qa_index"]))


class Style(NamedTuple):
    """Columns of a row: the file's name, and the name of the value in a row of read_rows."""

    columns: Mapping[str, str]

    @property
    def kept(self) -> frozenset[str]:
        """The measured values that have to be read."""
        return MEASURED & {value.partition("_")[0] for value in self.columns.values()}

    def row(self, row: Row) -> Row:
        """Return `row` as this style writes it."""
        return {column: row[value] for column, value in self.columns.items()}


PLAIN = Style(
    {
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
)
MEM0 = Style(
    {
        "question": "question",
        "answer": "gold",
        "response": "answer",
        "category": "category_mem0",
        "llm_score": "judge_bit",
        "speaker_1_memory_time": "search_half",
        "speaker_2_memory_time": "search_half",
        "response_time": "answering",
    }
)
OWN = Style(
    {
        **{name: name for name in ("sample_id", "qa_index", "question", "gold", "answer")},
        "category": "category",
        "judge": "judge",
        "judgments": "beside_runs",
        "context_tokens": "tokens",
        "search_seconds": "search",
        "total_seconds": "total",
    }
)
BARE = Style(
    {
        "query": "question",
        "expected": "gold",
        "predicted": "answer",
        "result": "judge_word",
        "time_cost": "total",
        "token_usage": "tokens",
    }
)
NUMBERED = Style(
    {
        "question": "question",
        "reference": "gold",
        "pred": "answer",
        "category": "category",
        "conv": "number",
        "grade": "judge",
    }
)
Make = Callable[[Sequence[Row], Style], Any]


class Container(NamedTuple):
    """`write` puts rows of a style into a folder and returns the file or folder to read."""

    name: str
    style: Style
    write: Callable[[Path, Sequence[Row], Style], Path]


def groups(rows: Sequence[Row], value: str) -> dict[str, list[Row]]:
    """Return rows by the text of a value, in order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row[value]), []).append(row)
    return found


def array(rows: Sequence[Row], style: Style) -> list[Row]:
    """A JSON array of rows."""
    return [style.row(row) for row in rows]


def _by(value: str) -> Make:
    return lambda rows, style: {
        name: array(part, style) for name, part in groups(rows, value).items()
    }


def _conversations(rows: Sequence[Row], style: Style) -> Any:
    means = {"total_tokens": 5_000, "duration": 12.5, "accuracy": 0.5}
    found = [
        {"conversation_id": name, **means, "results": array(part, style)}
        for name, part in groups(rows, "sample_id").items()
    ]
    return {"config": {"model": "m", "top_k": 10}, "conversations": found}


def _items(rows: Sequence[Row], style: Style) -> Any:
    sessions = [{"session": n, "memories": 3} for n in range(5)]
    found = [
        {
            "item_id": name,
            "metrics": {"accuracy": 0.5, "detailed_results": array(part, style)},
            "sessions": sessions,
        }
        for name, part in groups(rows, "sample_id").items()
    ]
    return {"item_results": found}


def official(rows: Sequence[Row], style: Style, model: str = "gpt-4o") -> Any:
    """The official LoCoMo output: the data set's questions with `<model>_prediction` beside."""
    del style
    columns = {"question": "question", "answer": "gold", "category": "category"}
    written = Style({**columns, f"{model}_prediction": "answer"})
    more = {"evidence": ["D1:3"], f"{model}_f1": 0.5}
    return [
        {"sample_id": name, "qa": [row | more for row in array(part, written)]}
        for name, part in groups(rows, "sample_id").items()
    ]


def _wrapped(rows: Sequence[Row], style: Style) -> Any:
    return {"accuracy": 0.5, "results": array(rows, style), "errors": []}


def _beside(rows: Sequence[Row], style: Style) -> Any:
    return {
        "metadata": {"dataset": "locomo", "date": "2025-01-01"},
        "by_category": [{"category": n, "accuracy": 0.5, "count": 9} for n in range(1, 5)],
        "individual_results": array(rows, style),
    }


def _summaries(rows: Sequence[Row], style: Style) -> Any:
    summary = {"overall": "0.5", "temporal": "0.4"}
    return {
        "summary": [
            {"question": name, "answer": mean, "count": len(rows)} for name, mean in summary.items()
        ],
        "failures": array(rows[:3], style),
        "rows": array(rows, style),
    }


def _lines(rows: Sequence[Row], style: Style) -> str:
    return "".join(json.dumps(row) + "\n" for row in array(rows, style))


def _csv(rows: Sequence[Row], style: Style) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, list(style.columns))
    table.writeheader()
    table.writerows(array(rows, style))
    return text.getvalue()


def file_of(make: Make, name: str = "out.json") -> Any:
    """Return a writer of what `make` returns: a text as it is, anything else as JSON."""

    def write(folder: Path, rows: Sequence[Row], style: Style) -> Path:
        made = make(rows, style)
        text = made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)
        data = text.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return folder / name

    return write


def _folder(rows_folder: Path, rows: Sequence[Row], style: Style) -> Path:
    made = rows_folder / "answers"
    made.mkdir()
    for name, part in groups(rows, "sample_id").items():
        file_of(_wrapped, f"sample_{IDS.index(name)}.json")(made, part, style)
    return made


CONTAINERS = [
    Container("array", PLAIN, file_of(array)),
    Container("array of this project's columns", OWN, file_of(array)),
    Container("individual_results", BARE, file_of(_beside)),
    Container("conversations[].results", PLAIN, file_of(_conversations)),
    Container("item_results[].metrics.detailed_results", PLAIN, file_of(_items)),
    Container("official", Style({}), file_of(official)),
    Container("Mem0", MEM0, file_of(_by("number"))),
    Container("by category of Mem0", BARE, file_of(_by("category_mem0"))),
    Container("by name of category", PLAIN, file_of(_by("category_official"))),
    Container("JSON lines, gzip", PLAIN, file_of(_lines, "out.jsonl.gz")),
    Container("CSV, conversations by number", NUMBERED, file_of(_csv, "out.csv")),
    Container("folder of results", BARE, _folder),
]
CAPITALS = {
    "Question": "question_capitals",
    "Correct Answer": "gold",
    "Model Answer": "answer",
    "Judge Score": "judge_text",
}
TEXTS = {
    "conversation_idx": "number_text",
    "question_idx": "index_text",
    "question": "question",
    "ground_truth": "gold_text",
    "prediction": "answer",
    "llm_judge_score": "judge_decimal",
    "latency_ms": "total_text",
    "context_token_count": "tokens_text",
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
UNLISTED = [
    Container("summaries beside the rows", PLAIN, file_of(_summaries)),
    Container("questions in capitals with other quotes", Style(CAPITALS), file_of(array)),
    Container("numbers as texts", Style(TEXTS), file_of(array)),
    Container("question and gold in an object", Style(NESTED), file_of(array)),
    Container("judge's reasons, contexts and prompts beside", Style(CROWDED), file_of(array)),
    Container("a table with an index column", Style(TABLE), file_of(_csv, "out.csv")),
]
