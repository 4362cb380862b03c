"""The pages of the site and its list of cards for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from eval.cards.scores import F1
from eval.cards.site.board import Board
from eval.cards.site.cards import Entry, protocols_of
from eval.cards.site.system import answers_link, command_to_verify, facts, repeated, score_tables
from eval.datasets.answer_key import KEYS
from eval.metrics.protocols import PROTOCOLS
from eval.rendering.page import policy, render, static
from memsys.core.files import shown

_PACKAGE = "eval.cards.site"
_SCRIPT = static(_PACKAGE, "site.js")
_STYLE = static(_PACKAGE, "site.css")
_TEXT = 2_000  # characters of a sentence or a command
INDEX = "index.html"


def board_name(key: str, protocol: str) -> str:
    """Return the file name of the table under `key` and `protocol`."""
    return f"{key}-{protocol}.html"


def board_page(board: Board, names: dict[tuple[str, str], str]) -> str:
    """Return the page of a table; `names`: the file of each key and protocol that has a table."""
    protocols = [(one, names.get((board.key, one), ""), one == board.protocol) for one in PROTOCOLS]
    keys = [(one, names.get((one, board.protocol), ""), one == board.key) for one in KEYS]
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
        files=[one.model_copy(update={"name": shown(one.name)}) for one in entry.card.files],
        verify=command_to_verify(entry),
        repeated=repeated(entry),
        linked=bool(answers_link(entry)),
        command=shown(entry.card.command, _TEXT),
        dataset=json.dumps(dict(entry.card.dataset), indent=1),
    )


def index_json(entries: Sequence[Entry]) -> str:
    """Return the list of cards as JSON: names, files, hashes, and F1 over all types."""
    return json.dumps({"version": 1, "cards": [_listed(one) for one in entries]}, indent=1) + "\n"


def _listed(entry: Entry) -> dict[str, Any]:
    scores = [
        {
            "key": one.key,
            "protocol": one.protocol,
            "f1": one.mean,
            "interval": None if one.low is None else [one.low, one.high],
            "n": one.n,
        }
        for key in KEYS
        for protocol in protocols_of([entry])
        if (one := entry.score(key, protocol, measure=F1)) is not None
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
