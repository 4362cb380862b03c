"""A score card of each row of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.cards.card.files import save_card
from eval.cards.card.make import card_of
from eval.cards.leaderboard.facts import Facts
from eval.cards.leaderboard.systems import Published

FOLDER = "cards"


def write_cards(
    systems: Sequence[Published], runs: Mapping[str, Path], facts: Facts, out: Path
) -> None:
    """Write a card of each published system and of each of the `runs` of strategies into the
    folder `cards` in `out`, by name. The run folders of the systems must still be there.
    """
    cards = {
        system.name: card_of(
            system.folder,
            origin=system.facts.origin,
            unknown=facts.unknown_of(system.facts),
            models=_models({"reader": system.facts.reader, "judge": system.facts.judge}),
        )
        for system in systems
    }
    cards |= {name: card_of(folder) for name, folder in runs.items()}
    for name, card in cards.items():  # all are made of the same state of the code
        save_card(card, out / FOLDER / f"{name}.json")


def _models(named: Mapping[str, str | None]) -> dict[str, str]:
    return {role: name for role, name in named.items() if name is not None}
