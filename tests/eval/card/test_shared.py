"""Cards of the published answers to LoCoMo: each verifies, and none with another's answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.card import __main__ as command
from eval.card.files import load_card
from eval.card.schema import MOST
from eval.datasets.files import shared_folder
from eval.rescore import __main__ as rescore

ANSWERS = shared_folder() / "locomo" / "answers"
SYSTEMS = sorted(path.name.removesuffix(".jsonl.gz") for path in ANSWERS.glob("*.jsonl.gz"))
FEW = ("automem_e2e", "mem0_cloud_mirix")  # all five types, no judge; and types 1 to 4, judged

locomo = pytest.mark.skipif(
    not SYSTEMS, reason="LoCoMo answers are not here: set MEMSYS_SHARED to the folder with locomo/"
)
pytestmark = locomo


def card_of(system: str, folder: Path) -> Path:
    path, run = folder / f"{system}.json", folder / system
    assert rescore.main([str(file_of(system)), "--out", str(run)]) == 0
    assert command.main([str(run), "--out", str(path)]) == 0
    return path


def file_of(system: str) -> Path:
    return ANSWERS / f"{system}.jsonl.gz"


def test_cards_of_published_answers_are_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [card_of(system, tmp_path) for system in FEW]
    capsys.readouterr()
    verify = ["--verify", *map(str, paths), "--answers"]
    assert command.main([*verify, *(str(file_of(system)) for system in FEW), "--complete"]) == 0
    out = capsys.readouterr().out
    assert ["220 of 220" in out, "232 of 232" in out] == [True, True], out
    exchanged = [str(file_of(system)) for system in reversed(FEW)]
    assert command.main([*verify, *exchanged]) == 1
    assert capsys.readouterr().out.count("answers: not those of the card") == len(FEW)
    cards = [load_card(path) for path in paths]
    # The corrected answers are fixed by the list of errors, in whatever file they are.
    assert [[file.name for file in card.of_role("key")] for card in cards] == [["locomo.json"]] * 2
    assert [card.rows["matched"] for card in cards] == [1986, 1540]
    assert [{s.measure for s in card.scores if s.reported} for card in cards] == [set(), {"judge"}]


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_card_of_each_system_is_equal_and_small(system: str, tmp_path: Path) -> None:
    path = card_of(system, tmp_path)
    assert path.stat().st_size < MOST / 2
    assert command.main(["--verify", str(path), "--answers", str(file_of(system))]) == 0
