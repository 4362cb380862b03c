"""What the page of one system shows of its card: facts, scores, files and the command to verify."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from eval.cards.card.schema import ANSWERS, RANKINGS, Code, Role, Score
from eval.cards.site.board import score_text
from eval.cards.site.cards import Entry, in_order
from eval.metrics.registry import columns, titles
from eval.rendering.blocks import Table
from eval.rendering.numbers import ABSENT
from eval.summary.summarise import OVERALL
from memsys.core.files import shown

Fact = tuple[str, str, str]  # name, text, address of a link or ""
_ORIGIN = "origin: "
_PLAIN = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)  # file names that a shell takes as they are


def facts(entry: Entry) -> list[Fact]:
    """Return what is known of the system; a part that is not known is left out."""
    known = [(name, text) for name, text in _facts(entry) if text]
    return [(name, shown(text), link(text) * name.startswith(_ORIGIN)) for name, text in known]


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


def score_tables(scores: Sequence[Score]) -> list[tuple[str, Table]]:
    """Return titles and tables with a row for each question type: for each answer key a table of
    each measure under the protocols, then one of all measures that no protocol defines. A cell has
    its n where that differs from the row's.
    """
    tables = []
    for key in dict.fromkeys(one.key for one in scores):
        of_key = [one for one in scores if one.key == key]
        for measure in dict.fromkeys(one.measure for one in of_key if one.protocol is not None):
            found = [one for one in of_key if one.protocol is not None and one.measure == measure]
            tables.append((f"{_title(measure)}, {shown(key)} answer key", _table(found, _protocol)))
        if found := [one for one in of_key if one.protocol is None]:
            tables.append((f"Other measures, {shown(key)} answer key", _table(found, _measure)))
    return tables


def _table(scores: Sequence[Score], column: Callable[[Score], str]) -> Table:
    header = list(dict.fromkeys(map(column, scores)))
    types = in_order(dict.fromkeys(one.type for one in scores if one.type != OVERALL))
    cells = {(one.type, column(one)): one for one in scores}
    rows = []
    for type_ in (*types, *{one.type for one in scores if one.type == OVERALL}):
        found = [cells.get((type_, name)) for name in header]
        n = min(one.n for one in found if one)
        rows.append([shown(type_), f"{n:,}", *(_cell(one, n) for one in found)])
    return Table(["question type", "n", *header], rows)


def _protocol(score: Score) -> str:
    return shown(str(score.protocol))


def _measure(score: Score) -> str:
    return f"{_title(score.measure)}{' (reported)' * score.reported}"


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
    name = next((one.name for one in entry.card.of_role(role)), "")
    return name if _PLAIN.fullmatch(name) else role
