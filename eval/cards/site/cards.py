"""Score cards from files and folders, each with a safe and unique name for its page, and what that
page shows: facts, scores and the command to verify.
"""

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from eval.cards.card.schema import (
    ANSWERS,
    MOST,
    RANKINGS,
    Card,
    Code,
    Role,
    Score,
    Setting,
    load_card,
)
from eval.cards.scores import F1
from eval.datasets.files import load_sources
from eval.datasets.types import TYPES
from eval.metrics.protocols import PROTOCOLS
from eval.metrics.registry import columns, titles
from eval.metrics.stats.interval import Interval
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT, interval, number
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError
from memsys.core.files import read_bytes, shown

Fact = tuple[str, str, str]  # name, text, address of a link or ""
_KEYLESS = ("extractive", "chain")  # readers of this project that ask no language model
# Settings of a data set that do not change which questions are asked.
_NEUTRAL = {"path", "key", "key_file", "evidence", "captions", "pooled", "owner_filter", "name"}
_NAME = 60  # characters of a page's name
_LARGE = 100  # a mean, as of tokens, from which on it is shown without decimals
_ORIGIN = "origin: "
_PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)  # file names that a shell takes as they are


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
        scores = self.card.scores
        return in_order(
            score for score in scores if score.protocol == protocol and score.measure == F1
        )


def in_order(scores: Iterable[Score]) -> list[str]:
    """Return the question types of scores, LoCoMo's in their official order before others."""
    types = dict.fromkeys(score.type for score in scores if score.type != OVERALL)
    official = [name for name in TYPES.values() if name in types]
    return official + [name for name in types if name not in official]


def read_entries(paths: Sequence[Path]) -> list[Entry]:
    """Return the cards in `paths`, files or folders of JSON files, by name of system.

    A card that is found twice is returned once. Raises InputError naming a file that is no card, or
    a folder without any.
    """
    files = {read_bytes(file, MOST): file for path in paths for file in _files(path)}
    entries = []
    for content, file in files.items():
        card = load_card(file)
        entries.append(Entry(card, content, _page(card.system, content)))
    return sorted(entries, key=lambda entry: (entry.system.casefold(), entry.page))


def _files(path: Path) -> list[Path]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise InputError(f"{shown(path)}: no score card (*.json) in this folder; name another")
    return files


def _page(system: str, content: bytes) -> str:
    """Return a name of ASCII letters, digits and dashes; equal only for equal files."""
    words = re.sub("[^a-z0-9]+", "-", system.lower())[:_NAME].strip("-") or "system"
    return f"{words}-{hashlib.sha256(content).hexdigest()[:12]}"


def protocols_of(entries: Sequence[Entry]) -> list[str]:
    """Return the known protocols under which any of the cards has an F1."""
    used = {
        score.protocol for entry in entries for score in entry.card.scores if score.measure == F1
    }
    return [name for name in PROTOCOLS if name in used]


def facts(entry: Entry) -> list[Fact]:
    """Return what is known of the system; a part that is not known is left out."""
    pairs = [(name, text) for name, text in _facts(entry) if text]
    return [(name, shown(text), link(text) * name.startswith(_ORIGIN)) for name, text in pairs]


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    card = entry.card
    yield "kind", card.kind
    for role, name in card.models.items():
        yield shown(role), name or ""
    yield "data set", entry.dataset
    if card.reading:
        yield "answers read from", " + ".join(card.reading.columns.get("answer", []))
    yield "rows", ", ".join(f"{n:,} {shown(name)}" for name, n in card.rows.items())
    if card.origin:
        for name, value in card.origin:
            yield f"{_ORIGIN}{name}", value or ""
    for name, code in (("scored by", card.code), ("run by", card.run_code)):
        yield name, "" if code is None else _code(code)
    yield "configuration", f"sha256 {card.config_sha256}" if card.config_sha256 else ""
    yield "card made", card.made_at


def _code(code: Code) -> str:
    parts = [f"memsys {code.version}"] if code.version else []
    parts += [f"commit {code.commit}"] if code.commit else []
    return ", ".join(parts + ["with changes"] * bool(code.dirty))


def link(text: str, schemes: Sequence[str] = ("http", "https")) -> str:
    """Return `text` if it is an address that a page may link to, else an empty string."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    safe = text.isprintable() and " " not in text and "@" not in parts.netloc
    return text if safe and parts.scheme in schemes and parts.hostname else ""


def score_text(score: Score) -> str:
    """Return the mean with its interval, if one is determined: `0.292 [0.254, 0.329]`."""
    digits = 3 if abs(score.mean) < _LARGE else 0
    if score.low is None or score.high is None:
        return number(score.mean, digits)
    return interval(Interval(score.mean, score.low, score.high), digits)


def score_tables(scores: Sequence[Score]) -> list[tuple[str, Table]]:
    """Return titles and tables with a row for each question type: for each answer key a table of
    each measure under the protocols, then one of all measures that no protocol defines. A cell has
    its n where that differs from the row's.
    """
    keys = list(dict.fromkeys(score.key for score in scores))
    tables: dict[str, dict[str, dict[str, Score]]] = {}  # score by type, by column and title
    for score in sorted(scores, key=lambda score: (keys.index(score.key), score.protocol is None)):
        measure, column = _title(score.measure), shown(score.protocol or "")
        if score.protocol is None:
            measure, column = "Other measures", f"{measure}{' (reported)' * score.reported}"
        columns = tables.setdefault(f"{measure}, {shown(score.key)} answer key", {})
        columns.setdefault(column, {})[score.type] = score
    return [(title, _table(columns)) for title, columns in tables.items()]


def _table(columns: Mapping[str, Mapping[str, Score]]) -> Table:
    scores = [score for of_types in columns.values() for score in of_types.values()]
    types = in_order(scores) + [OVERALL] * any(score.type == OVERALL for score in scores)
    rows = []
    for type_ in types:
        row = [of_types.get(type_) for of_types in columns.values()]
        n = min(score.n for score in row if score)
        rows.append([shown(type_), f"{n:,}", *(_cell(score, n) for score in row)])
    return Table(["question type", "n", *columns], rows)


def _title(measure: str) -> str:
    return ({"f1": "F1"} | titles(columns())).get(measure, shown(measure))


def _cell(score: Score | None, n: int) -> str:
    if score is None:
        return ABSENT
    return score_text(score) + (f" n={score.n:,}" if score.n != n else "")


def command_to_verify(entry: Entry) -> str:
    """Return the commands that download the data, if they are published, and the answers, if the
    card has an https link to them, and that recompute every number of the card. The answers of a
    run that are not published are those in the folder RUN, which its command writes again.
    """
    answers, rankings = _file_name(entry, ANSWERS), _file_name(entry, RANKINGS)
    data, url = entry.published, answers_link(entry)
    words = ["python", "-m", "eval", "card", "--verify", f"{entry.page}.json"]
    if repeated(entry):
        words += ["--answers", "RUN"]
    else:
        words += ["--answers", answers] * bool(entry.card.of_role(ANSWERS))
        words += ["--rankings", rankings] * bool(entry.card.of_role(RANKINGS))
    lines = [words + ["--dataset", data] * bool(data)]
    if url:
        lines.insert(0, ["curl", "-fL", "-o", answers, url])
    if data:
        lines.insert(0, ["python", "-m", "eval", "fetch", data])
    return "\n".join(map(shlex.join, lines))


def repeated(entry: Entry) -> bool:
    """Return whether the answers are those of a run that has to be repeated to verify the card."""
    return entry.card.kind == "run" and not answers_link(entry)


def answers_link(entry: Entry) -> str:
    """Return the https address of the answers, or an empty string."""
    return link(entry.card.origin.url or "", ["https"]) if entry.card.origin else ""


def _file_name(entry: Entry, role: Role) -> str:
    """Return the name of the card's file with that role, if a shell takes it as it is."""
    name = next((file.name for file in entry.card.of_role(role)), "")
    return name if _PLAIN.fullmatch(name) else role
