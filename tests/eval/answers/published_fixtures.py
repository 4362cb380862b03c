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
EVERY = 31  # of a system's rows, for a small file
IDS = [f"conv-{n}" for n in (26, 30, 41, 42, 43, 44, 47, 48, 49, 50)]


def read_rows(path: Path, every: int = 1) -> list[Row]:
    """Return rows of a normalised file in the data set's order, with numbers made up."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = in_order(rows)
    for n, row in enumerate(rows):
        verdict = bool(row["judge"])
        row |= {
            "judge": verdict,
            "runs": [verdict, n % 5 > 0, verdict],
            "tokens": 900 + n,
            "search": round(0.1 + n / 1000, 3),
            "answering": round(1 + n / 1000, 3),
        }
        row["total"] = round(row["search"] + row["answering"], 3)
        row["gold"] = row["gold"] if row["gold"] is not None else ""
    return rows[::every]


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return rows in the data set's order."""
    return sorted(rows, key=lambda row: (IDS.index(row["sample_id"]), row["qa_index"]))


class Style(NamedTuple):
    """Columns of a row: the file's name and the value from a row; `kept`: what has to be read."""

    name: str
    columns: Mapping[str, Callable[[Row], Any]]
    kept: frozenset[str] = frozenset()

    def row(self, row: Row) -> Row:
        """Return `row` as this style writes it."""
        return {name: value(row) for name, value in self.columns.items()}


def _of(field: str) -> Callable[[Row], Any]:
    return lambda row: row[field]


def _ms(field: str) -> Callable[[Row], Any]:
    return lambda row: row[field] * 1000


def _named(
    question: str, answer: str, gold: str, conversation: str | None, **more: Callable[[Row], Any]
) -> dict[str, Callable[[Row], Any]]:
    """Return the four columns that every style has, and more of them."""
    place = {} if conversation is None else {conversation: _of("sample_id")}
    texts = {question: _of("question"), gold: _of("gold"), answer: _of("answer")}
    return {**place, **texts, "category": _of("category"), **more}


def _number(row: Row) -> int:
    return IDS.index(row["sample_id"])


PLAIN = Style(
    "plain",
    _named(
        "question",
        "generated_answer",
        "golden_answer",
        None,
        llm_judgments=_of("runs"),
        search_duration_ms=_ms("search"),
        response_duration_ms=_ms("answering"),
        total_duration_ms=_ms("total"),
        context_tokens=_of("tokens"),
    ),
    frozenset({"runs", "search", "answering", "total", "tokens"}),
)
MEM0 = Style(
    "Mem0",
    {
        "question": _of("question"),
        "answer": _of("gold"),
        "response": _of("answer"),
        "category": lambda row: MEM0_NAMES[row["category"]],
        "llm_score": lambda row: int(row["judge"]),
        "speaker_1_memory_time": lambda row: row["search"] / 2,
        "speaker_2_memory_time": lambda row: row["search"] / 2,
        "response_time": _of("answering"),
    },
    frozenset({"judge", "search", "answering"}),
)
OWN = Style(
    "this project's columns",
    {
        "sample_id": _of("sample_id"),
        "qa_index": _of("qa_index"),
        "question": _of("question"),
        "gold": _of("gold"),
        "answer": _of("answer"),
        "category": _of("category"),
        "judge": _of("judge"),
        "judgments": _of("runs"),
        "context_tokens": _of("tokens"),
        "search_seconds": _of("search"),
        "total_seconds": _of("total"),
    },
    frozenset({"judge", "search", "total", "tokens"}),
)
BARE = Style(
    "bare",
    {
        "query": _of("question"),
        "expected": _of("gold"),
        "predicted": _of("answer"),
        "result": lambda row: "CORRECT" if row["judge"] else "WRONG",
        "time_cost": _of("total"),
        "token_usage": _of("tokens"),
    },
    frozenset({"judge", "total", "tokens"}),
)
NUMBERED = Style(
    "conversations by number",
    _named("question", "pred", "reference", None) | {"conv": _number, "grade": _of("judge")},
    frozenset({"judge"}),
)


def groups(rows: Sequence[Row], key: Callable[[Row], Any]) -> dict[str, list[Row]]:
    """Return rows by the text of `key`, in order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(key(row)), []).append(row)
    return found


class Container(NamedTuple):
    """`write` puts rows of a style into a folder and returns the file or folder to read."""

    name: str
    style: Style
    write: Callable[[Path, Sequence[Row], Style], Path]


def json_of(make: Callable[[Sequence[Row], Style], Any], name: str = "out.json") -> Any:
    def write(folder: Path, rows: Sequence[Row], style: Style) -> Path:
        data = json.dumps(make(rows, style), ensure_ascii=False).encode()
        path = folder / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


def array(rows: Sequence[Row], style: Style) -> list[Row]:
    """A JSON array of rows."""
    return [style.row(row) for row in rows]


def _by(key: Callable[[Row], Any]) -> Callable[[Sequence[Row], Style], Any]:
    return lambda rows, style: {
        name: array(part, style) for name, part in groups(rows, key).items()
    }


def _conversations(rows: Sequence[Row], style: Style) -> Any:
    return {
        "config": {"model": "m", "top_k": 10},
        "conversations": [
            {
                "conversation_id": name,
                "total_tokens": 5_000,
                "duration": 12.5,
                "accuracy": 0.5,
                "results": array(part, style),
            }
            for name, part in groups(rows, _of("sample_id")).items()
        ],
    }


def _items(rows: Sequence[Row], style: Style) -> Any:
    return {
        "item_results": [
            {
                "item_id": name,
                "metrics": {"accuracy": 0.5, "detailed_results": array(part, style)},
                "sessions": [{"session": n, "memories": 3} for n in range(5)],
            }
            for name, part in groups(rows, _of("sample_id")).items()
        ]
    }


def official(rows: Sequence[Row], style: Style, model: str = "gpt-4o") -> Any:
    """The official LoCoMo output: the data set's questions with `<model>_prediction` beside."""
    del style
    return [
        {
            "sample_id": name,
            "qa": [
                {
                    "question": row["question"],
                    "answer": row["gold"],
                    "evidence": ["D1:3"],
                    "category": row["category"],
                    f"{model}_prediction": row["answer"],
                    f"{model}_f1": 0.5,
                }
                for row in part
            ],
        }
        for name, part in groups(rows, _of("sample_id")).items()
    ]


def _lines(name: str) -> Any:
    def write(folder: Path, rows: Sequence[Row], style: Style) -> Path:
        text = "".join(json.dumps(style.row(row)) + "\n" for row in rows).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return folder / name

    return write


def _csv(name: str) -> Any:
    def write(folder: Path, rows: Sequence[Row], style: Style) -> Path:
        text = io.StringIO()
        table = csv.DictWriter(text, list(style.columns))
        table.writeheader()
        table.writerows(style.row(row) for row in rows)
        data = text.getvalue().encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return folder / name

    return write


def _folder(rows_folder: Path, rows: Sequence[Row], style: Style) -> Path:
    made = rows_folder / "answers"
    made.mkdir()
    for name, part in groups(rows, _of("sample_id")).items():
        json_of(_wrapped, f"sample_{IDS.index(name)}.json")(made, part, style)
    return made


def _wrapped(rows: Sequence[Row], style: Style) -> Any:
    return {"accuracy": 0.5, "results": array(rows, style), "errors": []}


def _beside(rows: Sequence[Row], style: Style) -> Any:
    return {
        "metadata": {"dataset": "locomo", "date": "2025-01-01"},
        "by_category": [{"category": n, "accuracy": 0.5, "count": 9} for n in range(1, 5)],
        "individual_results": array(rows, style),
    }


CONTAINERS = [
    Container("array", PLAIN, json_of(array)),
    Container("array of this project's columns", OWN, json_of(array)),
    Container("individual_results", BARE, json_of(_beside)),
    Container("conversations[].results", PLAIN, json_of(_conversations)),
    Container("item_results[].metrics.detailed_results", PLAIN, json_of(_items)),
    Container("official", Style("official", {}), json_of(official)),
    Container("Mem0", MEM0, json_of(_by(_number))),
    Container("by category of Mem0", BARE, json_of(_by(lambda row: MEM0_NAMES[row["category"]]))),
    Container("by name of category", PLAIN, json_of(_by(lambda row: OFFICIAL[row["category"]]))),
    Container("JSON lines, gzip", PLAIN, _lines("out.jsonl.gz")),
    Container("CSV, conversations by number", NUMBERED, _csv("out.csv")),
    Container("folder of results", BARE, _folder),
]


def _summaries(rows: Sequence[Row], style: Style) -> Any:
    return {
        "summary": [
            {"question": "overall", "answer": "0.5", "count": len(rows)},
            {"question": "temporal", "answer": "0.4", "count": len(rows)},
        ],
        "failures": array(rows[:3], style),
        "rows": array(rows, style),
    }


def _swapped_case(row: Row) -> str:
    return " ".join(str(row["question"]).upper().replace("'", "’").split()) + " "


def _qa(row: Row) -> Row:
    return {"q": row["question"], "a": row["gold"]}


UNLISTED = [
    Container("summaries beside the rows", PLAIN, json_of(_summaries)),
    Container(
        "questions in capitals with other quotes",
        Style(
            "capitals",
            {
                "Question": _swapped_case,
                "Correct Answer": _of("gold"),
                "Model Answer": _of("answer"),
                "Judge Score": lambda row: str(int(row["judge"])),
            },
            frozenset({"judge"}),
        ),
        json_of(array),
    ),
    Container(
        "numbers as texts",
        Style(
            "numbers as texts",
            {
                "conversation_idx": lambda row: str(_number(row)),
                "question_idx": lambda row: str(row["qa_index"]),
                "question": _of("question"),
                "ground_truth": lambda row: str(row["gold"]),
                "prediction": _of("answer"),
                "llm_judge_score": lambda row: f"{float(row['judge']):.1f}",
                "latency_ms": lambda row: f"{row['total'] * 1000:.1f}",
                "context_token_count": lambda row: str(row["tokens"]),
            },
            frozenset({"judge", "total", "tokens"}),
        ),
        json_of(array),
    ),
    Container(
        "question and gold in an object",
        Style(
            "nested",
            {
                "qa": _qa,
                "output": lambda row: {"text": row["answer"], "tokens": 7},
                "eval": lambda row: {"correct": row["judge"], "reason": "as the gold says"},
                "timing": lambda row: {"search_ms": row["search"] * 1000},
            },
            frozenset({"judge", "search"}),
        ),
        json_of(array),
    ),
    Container(
        "judge's reasons, contexts and prompts beside",
        Style(
            "crowded",
            {
                "id": lambda row: f"{row['sample_id']}_{row['qa_index']}",
                "speaker": lambda row: "A",
                "query": _of("question"),
                "retrieved_context": lambda row: f"{row['gold']} {row['question']} " * 20,
                "answer_prompt": lambda row: f"Answer: {row['question']}",
                "answer": _of("gold"),
                "final_response": _of("answer"),
                "judge_reasoning": lambda row: f"The answer {row['answer']!r} is fine.",
                "judge_verdict": lambda row: "CORRECT" if row["judge"] else "WRONG",
                "retrieval_hit": lambda row: row["qa_index"] % 2 == 0,
                "f1": lambda row: 0.25,
            },
            frozenset({"judge"}),
        ),
        json_of(array),
    ),
    Container(
        "a table with an index column",
        Style(
            "table",
            {
                "": _of("qa_index"),
                "Conversation ID": _of("sample_id"),
                "Question": _of("question"),
                "Expected Answer": _of("gold"),
                "Generated Answer": _of("answer"),
                "Correct?": lambda row: "TRUE" if row["judge"] else "FALSE",
                "Latency (s)": _of("total"),
            },
            frozenset({"judge", "total"}),
        ),
        _csv("out.csv"),
    ),
]
