"""Cards of the published answers to LoCoMo: each verifies, and none with another's answers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.cards.card import __main__ as command
from eval.cards.card.schema import MOST, load_card
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.imports.rescore.imports import read_import, write_import
from tests.shared import made_once

LOCOMO = shared_folder() / "locomo"
SYSTEMS = sorted(path.name.removesuffix(".jsonl.gz") for path in LOCOMO.glob("answers/*.jsonl.gz"))
FEW = ("automem_e2e", "mem0_cloud_mirix")  # all five types, no judge; and types 1 to 4, judged

pytestmark = pytest.mark.skipif(
    not SYSTEMS, reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/"
)
Capture = pytest.CaptureFixture[str]
Published = Callable[[str], Path]


def file_of(system: str, kind: str = "answers") -> Path:
    return LOCOMO / kind / f"{system}.jsonl.gz"


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return LoCoMo(name="locomo").load()


def make_card(answers: Path, system: str, dataset: Dataset, folder: Path) -> None:
    """Import answers into run/ in `folder`, and write card.json beside it."""
    write_import(read_import(answers, None, system, dataset), folder / "run", {})
    assert command.main([str(folder / "run"), "--out", str(folder / "card.json")]) == 0


@pytest.fixture
def published(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Published:
    """The folder of a system's card.json and run/, made once a session."""
    return lambda system: made_once(
        tmp_path_factory,
        f"published-{system}",
        lambda folder: make_card(file_of(system), system, dataset, folder),
    )


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_each_system_is_read_whole_and_a_card_of_a_fifth_is_equal_and_small(
    system, dataset, tmp_path
):
    """tests/eval/metrics/test_parity.py compares the score of every answer."""
    rows = read(file_of(system))
    matching = read_import(file_of(system), None, system, dataset).matching
    assert (len(matching.answers), matching.unmatched, matching.ambiguous) == (len(rows), [], 0)
    fifth = tmp_path / "answers.jsonl.gz"
    fifth.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows[::5]).encode()))
    make_card(fifth, system, dataset, tmp_path)
    path = tmp_path / "card.json"
    assert path.stat().st_size < MOST / 2
    assert command.main(["--verify", str(path), "--answers", str(fifth), "--complete"]) == 0


def test_cards_verify_with_their_own_answers_alone(published, capsys):
    paths = [published(system) / "card.json" for system in FEW]
    capsys.readouterr()
    verify = ["--verify", *map(str, paths), "--answers"]
    assert command.main([*verify, *(str(file_of(system)) for system in FEW), "--complete"]) == 0
    out = capsys.readouterr().out
    assert ["220 of 220" in out, "232 of 232" in out] == [True, True], out
    exchanged = [str(file_of(system)) for system in reversed(FEW)]
    assert command.main([*verify, *exchanged]) == 1
    assert capsys.readouterr().out.count("answers: not those of the card") == len(FEW)


def test_a_card_may_lack_the_corrected_answers(published, tmp_path, request, capsys, said):
    run, path = published(FEW[0]) / "run", tmp_path / "card.json"
    patch = request.getfixturevalue("monkeypatch")
    request.getfixturevalue("no_corrections")
    assert command.main([str(run), "--out", str(path)]) == 0
    assert {score.key for score in load_card(path).scores} == {"original", "excluded"}
    patch.undo()
    capsys.readouterr()
    verify = ["--verify", str(path), "--answers", str(file_of(FEW[0]))]
    assert "note: the card has no scores under the key corrected" in said(command.main, *verify)
    kept = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith('{"key":"excluded","protocol":"mem0"')
    ]
    path.write_text("\n".join(kept), encoding="utf-8")
    assert "excluded mem0 overall f1: left out of the card" in said(command.main, *verify, code=1)
