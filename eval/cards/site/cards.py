"""Score cards from files and folders, each with a safe and unique name for its page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.cards.card.schema import MOST, Card, Role, Score, Setting, load_card
from eval.cards.scores import F1
from eval.datasets.files import load_sources
from eval.datasets.types import TYPES
from eval.metrics.protocols import PROTOCOLS
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.files import read_bytes, shown

_KEYLESS = ("extractive", "chain")  # readers of this project that ask no language model
# Settings of a data set that do not change which questions are asked.
_NEUTRAL = {"path", "key", "key_file", "evidence", "captions", "pooled", "owner_filter", "name"}
_NAME = 60  # characters of a page's name


@dataclass(frozen=True, slots=True)
class Entry:
    """A card, the bytes of its file and the name of its page."""

    card: Card
    content: bytes
    page: str

    @property
    def sha256(self) -> str:
        """Hash of the card's file."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def system(self) -> str:
        """Name of the system; characters that cannot be printed are escaped."""
        return shown(self.card.system)

    @property
    def reader(self) -> str | None:
        """Name of the reader: of the model, where a language model reads for this project."""
        reader = self.card.models.get("reader")
        return self.card.models.get("llm") or reader if reader == "llm" else reader

    @property
    def keyless(self) -> bool:
        """Whether a reader without a language model answered, as far as the card says."""
        return self.card.kind == "run" and self.card.models.get("reader") in _KEYLESS

    @property
    def dataset(self) -> str:
        """Name of the data set: of a published one that is used whole, its public name."""
        config = self.card.dataset
        if self.published and not self._settings.keys() - {"_target_"}:
            return self.published
        return shown(str(config.get("name") or str(config.get("_target_")).rpartition(".")[2]))

    @property
    def published(self) -> str:
        """Name by which memsys fetch gets the data; "" if it gets no such file."""
        hashes = self.hashes("data")
        for name, source in load_sources().items():
            if sorted(file.sha256 or "" for file in source.files()) == hashes:
                return name
        return ""

    @property
    def data(self) -> str:
        """Identity of the questions: the hashes of the data and the settings that select them."""
        return repr((self.hashes("data"), sorted(self._settings.items())))

    @property
    def _settings(self) -> dict[str, Setting]:
        """Settings that select the questions."""
        config = self.card.dataset.items()
        return {name: value for name, value in config if name not in _NEUTRAL and value is not None}

    def hashes(self, role: Role) -> list[str]:
        """Return the hashes of the files with that role, sorted."""
        return sorted(file.sha256 for file in self.card.of_role(role))

    def score(
        self, key: str, protocol: str | None, type_: str = OVERALL, measure: str = F1
    ) -> Score | None:
        """Return a score; one without a protocol where the protocol does not define the measure."""
        scores = {score.identity: score for score in self.card.scores}
        return scores.get((key, protocol, type_, measure)) or scores.get(
            (key, None, type_, measure)
        )

    def types(self, protocol: str) -> list[str]:
        """Return the question types with an F1 under `protocol`, in the official order."""
        names = {
            one.type: None
            for one in self.card.scores
            if one.protocol == protocol and one.measure == F1 and one.type != OVERALL
        }
        return in_order(names)


def in_order(types: dict[str, None]) -> list[str]:
    """Return question types, LoCoMo's in their official order before others."""
    official = [name for name in TYPES.values() if name in types]
    return official + [name for name in types if name not in official]


def read_entries(paths: Sequence[Path]) -> list[Entry]:
    """Return the cards in `paths`, files or folders of JSON files, by name of system.

    A card that is found twice is returned once. Raises InputError naming a file that is no card, or
    a folder without any.
    """
    found: dict[bytes, Entry] = {}
    for file in (file for path in paths for file in _files(path)):
        content = read_bytes(file, MOST)
        if content not in found:
            card = load_card(file)
            found[content] = Entry(card, content, _page(card.system, content))
    return sorted(found.values(), key=lambda one: (one.system.casefold(), one.page))


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    files = sorted(path.glob("*.json"))
    if not files:
        raise InputError(f"{shown(path)}: no score card (*.json) in this folder; name another")
    yield from files


def _page(system: str, content: bytes) -> str:
    """Return a name of ASCII letters, digits and dashes; equal only for equal files."""
    words = re.sub("[^a-z0-9]+", "-", system.lower())[:_NAME].strip("-") or "system"
    return f"{words}-{hashlib.sha256(content).hexdigest()[:12]}"


def protocols_of(entries: Sequence[Entry]) -> list[str]:
    """Return the known protocols under which any of the cards has an F1."""
    used = {one.protocol for entry in entries for one in entry.card.scores if one.measure == F1}
    return [name for name in PROTOCOLS if name in used]
