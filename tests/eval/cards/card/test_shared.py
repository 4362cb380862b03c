"""Cards of the published answers to LoCoMo: each verifies, and none with another's answers."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.cards.card import __main__ as command
from eval.cards.card.schema import MOST
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Dataset
from eval.imports.rescore.imports import read_import, write_import
from tests.eval.cards.card.conftest import made_card
from tests.shared import made_once

LOCOMO = shared_folder() / "locomo"
SYSTEMS = sorted(path.name.removesuffix(".jsonl.gz") for path in LOCOMO.glob("answers/*.jsonl.gz"))
FEW = ("automem_e2e", "mem0_cloud_mirix")  # all five types, no judge; and types 1 to 4, judged

pytestmark = pytest.mark.skipif(
    not SYSTEMS, reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/"
)
Published = Callable[[str], Path]


def file_of(system: str) -> Path:
    return LOCOMO / "answers" / f"{system}.jsonl.gz"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return LoCoMo(name="locomo").load()


def make_card(answers: Path, system: str, dataset: Dataset, folder: Path) -> None:
    """Import answers into run/ in `folder`, and write card.json beside it."""
    write_import(read_import(answers, None, system, dataset), folder / "run", {})
    made_card(folder / "run", folder / "card.json")


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
    rows = gzip.decompress(file_of(system).read_bytes()).splitlines(keepends=True)
    matching = read_import(file_of(system), None, system, dataset).matching
    assert (len(matching.answers), matching.unmatched, matching.ambiguous) == (len(rows), [], 0)
    fifth = tmp_path / "answers.jsonl.gz"
    fifth.write_bytes(gzip.compress(b"".join(rows[::5])))
    make_card(fifth, system, dataset, tmp_path)
    path = tmp_path / "card.json"
    assert path.stat().st_size < MOST / 2
    assert command.main(["--verify", str(path), "--answers", str(fifth), "--complete"]) == 0


def test_cards_verify_with_their_own_answers_alone(published, said):
    answers = [file_of(system) for system in FEW]
    verify = ("--verify", *(published(system) / "card.json" for system in FEW), "--answers")
    out = said(command.main, *verify, *answers, "--complete")
    assert ["220 of 220" in out, "232 of 232" in out] == [True, True], out
    out = said(command.main, *verify, *reversed(answers), code=1)
    assert out.count("answers: not those of the card") == len(FEW)


def test_a_card_may_lack_the_corrected_answers(published, tmp_path, request, said):
    run, path = published(FEW[0]) / "run", tmp_path / "card.json"
    patch = request.getfixturevalue("monkeypatch")
    request.getfixturevalue("no_corrections")
    assert {score.key for score in made_card(run, path).scores} == {"original", "excluded"}
    patch.undo()
    verify = ["--verify", str(path), "--answers", str(file_of(FEW[0]))]
    assert "note: the card has no scores under the key corrected" in said(command.main, *verify)
    kept = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith('{"key":"excluded","protocol":"mem0"')
    ]
    path.write_text("\n".join(kept), encoding="utf-8")
    assert "excluded mem0 overall f1: left out of the card" in said(command.main, *verify, code=1)
