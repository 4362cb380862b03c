"""Published layouts are read with every row matched, and scored as the normalised file is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest

from eval.answers.files import AnswerRow
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.rescore.imports import Import, read_import, record
from memsys.errors import InputError
from tests.eval.answers.published_fixtures import (
    CONTAINERS,
    EVERY,
    NAMES,
    UNLISTED,
    VERDICTS,
    Container,
    Row,
    Style,
    _json,
    array,
    official,
    read_rows,
)

ANSWERS = shared_folder() / "locomo" / "answers"

pytestmark = pytest.mark.skipif(
    not ANSWERS.is_dir(),
    reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/",
)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return LoCoMo(name="locomo").load()


@pytest.fixture(scope="module")
def few() -> list[Row]:
    """Fifty rows, of all conversations and types 1 to 4."""
    return read_rows(ANSWERS / "mirix_run1.jsonl.gz", EVERY)


@pytest.fixture(scope="module")
def all_types() -> list[Row]:
    return read_rows(ANSWERS / "automem_e2e.jsonl.gz", EVERY)


def _id(case: Container | Style) -> str:
    return case.name


@pytest.mark.parametrize("case", CONTAINERS, ids=_id)
def test_container(case: Container, few: list[Row], dataset: Dataset, tmp_path: Path) -> None:
    _check(case.write(tmp_path, few, case.style), few, case.style.kept, dataset)


@pytest.mark.parametrize("style", [*NAMES, *VERDICTS], ids=_id)
def test_names(style: Style, few: list[Row], dataset: Dataset, tmp_path: Path) -> None:
    _check(_json(array)(tmp_path, few, style), few, style.kept, dataset)


@pytest.mark.parametrize("case", UNLISTED, ids=_id)
def test_unlisted(case: Container, few: list[Row], dataset: Dataset, tmp_path: Path) -> None:
    _check(case.write(tmp_path, few, case.style), few, case.style.kept, dataset)


@pytest.mark.parametrize("case", CONTAINERS, ids=_id)
def test_all_types(case: Container, all_types: list[Row], dataset: Dataset, tmp_path: Path) -> None:
    _check(case.write(tmp_path, all_types, case.style), all_types, case.style.kept, dataset)


@pytest.mark.parametrize("case", CONTAINERS, ids=_id)
def test_whole_file(case: Container, dataset: Dataset, tmp_path: Path) -> None:
    rows = read_rows(ANSWERS / "memobase_0503.jsonl.gz")
    _check(case.write(tmp_path, rows, case.style), rows, case.style.kept, dataset, scores=False)


def test_two_models_beside_each_other_are_not_guessed(
    few: list[Row], dataset: Dataset, tmp_path: Path
) -> None:
    def both(rows: Sequence[Row], style: Style) -> list[Row]:
        found: list[Row] = official(rows, style)
        for one, two in zip(found, official(rows, style, "other"), strict=True):
            one["qa"] = [a | b for a, b in zip(one["qa"], two["qa"], strict=True)]
        return found

    path = _json(both)(tmp_path, few, Style("both", {}))
    with pytest.raises(InputError, match="several columns may be the answer: gpt-4o_prediction"):
        read_import(path, None, "both", dataset)


def _check(
    path: Path, rows: list[Row], kept: frozenset[str], dataset: Dataset, *, scores: bool = True
) -> None:
    """Compare what is read from `path` with `rows`."""
    found = read_import(path, None, "out", dataset)
    assert found.matching.unmatched == []
    assert len(found.matching.answers) == len(rows)
    wanted = {f"{row['sample_id']}/{row['qa_index']}": row for row in rows}
    twins = _twins(found, dataset)
    for id_, row in wanted.items():
        if id_ in twins:  # the data set asks twice, and nothing in the file says which is meant
            continue
        read = found.matching.answers[id_]
        assert read.answer == row["answer"]
        _check_kept(read, row, kept)
        if scores:
            question = next(one for one in dataset.questions if one.id == id_)
            expected = AnswerRow("", None, None, None, row["answer"])
            got = record(question, read)["scores"] | {"judge": None}
            assert got == record(question, expected)["scores"]


def _twins(found: Import, dataset: Dataset) -> set[str]:
    """Return the ids of questions that the file cannot tell from another one."""
    if not found.matching.ambiguous:
        return set()
    by_words: dict[str, list[str]] = {}
    for question in dataset.questions:
        by_words.setdefault(question.text.strip().lower(), []).append(question.id)
    return {id_ for ids in by_words.values() if len(ids) > 1 for id_ in ids}


def _check_kept(read: AnswerRow, row: Row, kept: frozenset[str]) -> None:
    """Compare the verdict, tokens and times; those that the file lacks must be None."""
    if not kept & {"judge", "runs"}:
        assert read.judge is None
    if "judge" in kept:
        assert read.judge == float(row["judge"])
    if "runs" in kept:
        assert read.judge == pytest.approx(fmean(row["runs"]))
        assert list(read.verdicts.values()) == [tuple(row["runs"])]
    assert read.context_tokens == (row["tokens"] if "tokens" in kept else None)
    for name, value in (
        ("search", read.search_seconds),
        ("answering", read.answer_seconds),
        ("total", read.total_seconds),
    ):
        assert value == (pytest.approx(row[name], abs=1e-6) if name in kept else None)
