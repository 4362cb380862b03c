"""Cards of small runs and imports, and the command that verifies them."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.cards.card import __main__ as command
from eval.cards.card import make as loading
from eval.cards.card.schema import Card, load_card
from eval.datasets.types import Dataset
from eval.imports.rescore import __main__ as rescore
from eval.records.files import read_lines, write_lines
from memsys.core.errors import InputError
from tests.eval.commands import Run, Said

Options = tuple[str, ...]


@pytest.fixture(scope="session")
def data(small: Options) -> Path:
    return Path(small[0].removeprefix("dataset.path="))


@pytest.fixture
def verified(said: Said, data: Path, errors: Path) -> Said:
    """What `python -m eval card --verify` says on the small data set."""
    where = ("--dataset", data, "--key-file", errors)
    return lambda *arguments, code=0: said(command.main, "--verify", *arguments, *where, code=code)


def rows_of(run: Run) -> list[dict[str, Any]]:
    """Rows of an answers' file with the answers of a run, every second of them judged correct."""
    return [
        {
            "sample_id": record["conversation"],
            "qa_index": int(record["id"].rpartition("/")[2]),
            "question": record["question"],
            "answer": record["answer"],
            "judge": place % 2,
            "context_tokens": 10 + place,
        }
        for place, record in enumerate(run.records)
    ]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    write_lines(path, rows)
    return path


def made_card(folder: Path, out: Path, *options: str) -> Card:
    """The card of a run folder, written to `out`."""
    assert command.main([str(folder), "--out", str(out), *options]) == 0
    return load_card(out)


def import_card(answers: Path, data: Path, *options: str) -> Path:
    """Import answers into run/ beside their file and return its card, card.json there."""
    run, card = str(answers.parent / "run"), answers.parent / "card.json"
    assert rescore.main([str(answers), "--dataset", str(data), "--out", run, *options]) == 0
    listed = options[options.index("--key-file") :][:2] if "--key-file" in options else ()
    made_card(Path(run), card, "--dataset", str(data), *listed)
    return card


def ranked_ids(run: Run) -> dict[str, list[str]]:
    """Ranked memories by question id, as a file of rankings has them."""
    rows = read_lines(run.folder / "rankings.jsonl")
    return {row["id"]: [id_ for id_, _ in row["ranking"]] for row in rows}


@pytest.fixture(scope="session")
def published(
    keyed: dict[str, Run], data: Path, errors: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of another system's card.json, its answers.jsonl and its run folder."""
    folder = tmp_path_factory.mktemp("published")
    answers = write_rows(folder / "answers.jsonl", rows_of(keyed["original"]))
    import_card(answers, data, "--key", "original", "--key-file", str(errors))
    return folder


@pytest.fixture
def no_corrections(monkeypatch: pytest.MonkeyPatch) -> None:
    """The corrected answers are not on this machine."""
    load = loading._load

    def refuse(config: str) -> Dataset:
        if json.loads(config).get("key") == "corrected":
            raise InputError("dataset.key=corrected: the corrected answers are not here")
        return load(config)

    monkeypatch.setattr(loading, "_load", refuse)
