"""A small data set with the traps of the real one, and files of answers to it."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.answers.files import AnswerFile, read_answers
from eval.answers.layout import Layout, parse_columns
from eval.answers.match import AnswerRow, Matching, match
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.imports.rescore.account import Account, account
from eval.imports.rescore.imports import record
from eval.records.files import json_line
from tests.eval.commands import conversation

Rows = list[dict[str, Any]]


def _qa(question: str, answer: str | int | None, category: int, **more: Any) -> dict[str, Any]:
    gold = {} if answer is None else {"answer": answer}
    return {"question": question, "category": category, "evidence": ["D1:1"], **gold, **more}


def _sample(name: str, qa: Rows) -> dict[str, Any]:
    talk = conversation([["I planted a fig tree."]], "Ada")
    return {"sample_id": name, "conversation": talk, "qa": qa}


SAMPLES = [
    _sample(
        "first",
        [
            _qa("What did Ada plant?", "a fig tree", 1),
            _qa("When did Ada plant it?", 2023, 2),
            _qa("What's Ada's “best” tree?", "fig", 3),
            _qa("What did Bo lose?", "a plum tree", 4),
            _qa("What did Bo win?", "a prize", 4),  # asked twice, once of type 5
            _qa("What did Bo win?", None, 5, adversarial_answer="a prize"),
        ],
    ),
    _sample(
        "second",
        [
            _qa("What did Cy bake?", "rye bread", 1),
            _qa("What is the dog called?", "Rex", 4),
            _qa("Who swims?", "Cy", 4),  # asked twice, and nothing tells which
            _qa("Who swims?", "Cy", 4),
            _qa("Which cake is left?", "plum", 4),  # asked twice, with two answers
            _qa("Which cake is left?", "cherry", 4),
        ],
    ),
]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = tmp_path_factory.mktemp("data") / "talks.json"
    path.write_text(json.dumps(SAMPLES), encoding="utf-8")
    return LoCoMo(name="talks", path=str(path)).load()


def right_answers() -> Rows:
    """One right answer to every question, as JSON lines have it, with the index."""
    return [
        {
            "sample_id": sample["sample_id"],
            "qa_index": index,
            "question": qa["question"],
            "gold": qa.get("answer", ""),
            "category": qa["category"],
            "answer": str(qa.get("answer", "not mentioned")),
        }
        for sample in SAMPLES
        for index, qa in enumerate(sample["qa"])
    ]


@pytest.fixture
def rows() -> Rows:
    return right_answers()


@pytest.fixture
def by_words(rows: Rows) -> Rows:
    """The same without the index."""
    return [{k: v for k, v in row.items() if k != "qa_index"} for row in rows]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write bytes, a text or JSON; a name that ends in .gz is gzipped."""

    def call(value: Any, name: str = "answers.json", indent: int | None = 1) -> Path:
        text = value if isinstance(value, str) else None
        if text is None and not isinstance(value, bytes):
            text = json.dumps(value, indent=indent)
        data = value if text is None else text.encode()
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return call


@pytest.fixture
def lines(write: Callable[..., Path]) -> Callable[[Rows], Path]:
    """Write rows as JSON lines."""
    return lambda rows: write("".join(map(json_line, rows)), "answers.jsonl")


def mem0_layout(rows: Rows, keys: dict[str, str]) -> dict[str, Rows]:
    """Rows in Mem0's layout; `keys`: sample id -> key."""
    value: dict[str, Rows] = {}
    for row in rows:
        said = {"answer": row["gold"], "response": row["answer"], "category": str(row["category"])}
        item = {"question": row["question"], **said}
        value.setdefault(keys[row["sample_id"]], []).append(item)
    return value


@pytest.fixture
def answered(rows: Rows) -> Rows:
    """The rows with an answer of their own, a few words of which are the gold answer's, and with a
    verdict that is right for those.
    """
    for number, row in enumerate(rows):
        row["judge"] = number % 3 > 0
        gold = str(row["gold"]) if row["judge"] else "nobody knows"
        row["answer"] = f"{gold}, answer {number}"
    return rows


def named(rows: Rows, **names: str | None) -> Rows:
    """The rows with other names of columns; None leaves one out, and so does the index."""
    return [
        {names.get(k, k): v for k, v in row.items() if names.get(k, k) and k != "qa_index"}
        for row in rows
    ]  # type: ignore[misc]


def matched(path: Path, dataset: Dataset, layout: Layout | None = None) -> dict[str, AnswerRow]:
    return match(read_answers(path, dataset, layout).rows, dataset).answers


def naming(column: str) -> Layout:
    """A layout which names one column, as FIELD=COLUMN."""
    return Layout(columns=parse_columns([column]))


def account_of(file: AnswerFile, matching: Matching, dataset: Dataset) -> Account:
    records = [record(question, matching.answers[question.id]) for question in dataset.questions]
    return account(file, matching, dataset, records)
