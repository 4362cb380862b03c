"""`python -m eval site CARDS [CARDS ...] --out FOLDER`: a static site of score cards."""

import argparse
import json
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from markupsafe import Markup

from eval.cards.scores import F1
from eval.cards.site.board import Board, board
from eval.cards.site.cards import (
    Entry,
    answers_link,
    command_to_verify,
    facts,
    protocols_of,
    read_entries,
    repeated,
    score_tables,
)
from eval.cli import check_replaceable, code_of, parser
from eval.datasets.answer_key import KEYS
from eval.metrics.protocols import PROTOCOLS
from eval.rendering.page import policy, render, static
from memsys.core.errors import InputError
from memsys.core.files import shown

_CARDS = "cards"
_PAGE = re.compile(r"[a-z0-9-]+-[0-9a-f]{12}\.(html|json)")  # of eval.cards.site.cards


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the site; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    command = parser(
        "site",
        "Write a static site of score cards: tables of comparable systems by protocol and answer "
        "key, and a page for each card with the command that verifies it.",
    )
    add = command.add_argument
    add("cards", nargs="+", type=Path, metavar="CARDS", help="score card, or folder of them")
    add("--out", type=Path, required=True, metavar="FOLDER", help="the site is written there")
    first = "of the first page (default: %(default)s)"
    add("--protocol", choices=list(PROTOCOLS), default="mem0", help=f"protocol {first}")
    add("--key", choices=KEYS, default="original", help=f"answer key {first}")
    return code_of(lambda: _write(command.parse_args(arguments)))


def _write(options: argparse.Namespace) -> None:
    entries = read_entries(options.cards)
    count = build(entries, options.out, options.key, options.protocol)
    print(f"{len(entries)} cards; {count} files written to {options.out}: open index.html there")


def build(entries: Sequence[Entry], out: Path, key: str, protocol: str) -> int:
    """Write the site to the folder `out` and return its number of files.

    index.html is the table under `key` and `protocol`. Equal cards give equal bytes. Raises
    InputError if there is no score under them, or if `out` is a folder of something else.
    """
    if all(entry.score(key, protocol) is None for entry in entries):
        raise InputError(f"--key {key} --protocol {protocol}: no card has an F1 there")
    check_replaceable(out, replaceable=(out / "index.json").is_file())
    names = {
        (a, b): f"{a}-{b}.html"
        for a, b in product(KEYS, protocols_of(entries))
        if any(entry.score(a, b) for entry in entries)
    }
    names[key, protocol] = INDEX
    files = {
        name: board_page(board(entries, *place), names).encode() for place, name in names.items()
    }
    index = {"version": 1, "cards": [_index_entry(entry) for entry in entries]}
    files["index.json"] = f"{json.dumps(index, indent=1)}\n".encode()
    for entry in entries:
        files[f"{_CARDS}/{entry.page}.html"] = system_page(entry).encode()
        files[f"{_CARDS}/{entry.page}.json"] = entry.content
    (out / _CARDS).mkdir(parents=True, exist_ok=True)
    for old in (out / _CARDS).iterdir():
        if _PAGE.fullmatch(old.name) and f"{_CARDS}/{old.name}" not in files:
            old.unlink()
    for name, content in files.items():
        (out / name).write_bytes(content)
    return len(files)


_PACKAGE = "eval.cards.site"
_SCRIPT = static(_PACKAGE, "site.js")
_STYLE = static(_PACKAGE, "site.css")
_TEXT = 2_000  # characters of a sentence or a command
INDEX = "index.html"


def board_page(board: Board, names: dict[tuple[str, str], str]) -> str:
    """Return the page of a table; `names`: the file of each key and protocol that has a table."""
    protocols = [
        (name, names.get((board.key, name), ""), name == board.protocol) for name in PROTOCOLS
    ]
    keys = [(key, names.get((key, board.protocol), ""), key == board.key) for key in KEYS]
    return render(
        "board.html.j2",
        _STYLE,
        _PACKAGE,
        title=f"Score cards: {board.protocol} protocol, {board.key} answer key",
        policy=policy(_SCRIPT),
        script=Markup(_SCRIPT),  # noqa: S704 - the static file
        board=board,
        protocols=protocols,
        keys=keys,
        source=PROTOCOLS[board.protocol].source,
    )


def system_page(entry: Entry) -> str:
    """Return the page of a card."""
    return render(
        "system.html.j2",
        _STYLE,
        _PACKAGE,
        title=entry.system,
        policy=policy(),
        entry=entry,
        facts=facts(entry),
        unknown=[shown(sentence, _TEXT) for sentence in entry.card.unknown],
        scores=score_tables(entry.card.scores),
        files=[file.model_copy(update={"name": shown(file.name)}) for file in entry.card.files],
        verify=command_to_verify(entry),
        repeated=repeated(entry),
        linked=bool(answers_link(entry)),
        command=shown(entry.card.command, _TEXT),
        dataset=json.dumps(dict(entry.card.dataset), indent=1),
    )


def _index_entry(entry: Entry) -> dict[str, Any]:
    scores = [
        {
            "key": score.key,
            "protocol": score.protocol,
            "f1": score.mean,
            "interval": None if score.low is None else [score.low, score.high],
            "n": score.n,
        }
        for key in KEYS
        for protocol in protocols_of([entry])
        if (score := entry.score(key, protocol, measure=F1)) is not None
    ]
    return {
        "system": entry.card.system,
        "kind": entry.card.kind,
        "models": dict(entry.card.models),
        "page": f"cards/{entry.page}.html",
        "card": f"cards/{entry.page}.json",
        "sha256": entry.sha256,
        "dataset": entry.dataset,
        "data": entry.hashes("data"),
        "answers": entry.card.origin.url if entry.card.origin else None,
        "rows": dict(entry.card.rows),
        "scores": scores,
    }
