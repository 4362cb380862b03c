"""Files of score cards: read whole and validated, or refused."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from eval.cards.card.schema import MOST, Card
from eval.records.files import replacing
from memsys.core.errors import InputError, first_problem
from memsys.core.files import decode, read_bytes, shown
from memsys.core.json_text import parse_json


def load_card(path: Path) -> Card:
    """Return the score card in the file at `path`.

    Raises InputError naming the field if the file is no valid card of this version: unknown fields,
    numbers that are none, absolute paths and more than MOST bytes are refused.
    """
    data = read_bytes(path, MOST)
    try:
        value = parse_json(decode(data, path), unique=True)
    except ValueError as error:
        raise InputError(f"{shown(path)}: not JSON ({error}); name a score card") from error
    if not isinstance(value, dict) or not {"version", "system", "scores"} <= value.keys():
        raise InputError(f"{shown(path)}: no score card; make one by python -m eval card RUN")
    if value["version"] != 1 or isinstance(value["version"], bool):
        raise InputError(
            f"{shown(path)}: version {value['version']!r:.20} of score cards, and this program "
            "reads version 1; use the version of memsys that made it"
        )
    try:
        return Card.model_validate_json(data, strict=True)
    except ValidationError as error:
        raise InputError(
            f"{shown(path)}: {first_problem(error)}; docs/score-cards.md lists the fields"
        ) from error


def save_card(card: Card, path: Path) -> None:
    """Write `card` as JSON, one line a score. Raises InputError beyond MOST bytes."""
    data = as_json(card).encode()
    if len(data) > MOST:
        raise InputError(
            f"{shown(path)}: the card would have {len(data):,} bytes, and {MOST:,} are allowed; "
            "shorten --unknown, or choose fewer question types by dataset.types"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(data)


def as_json(card: Card) -> str:
    """Return the text of a card's file: one line a field, and a file, a score and a sentence."""
    fields = card.model_dump(mode="json", exclude_defaults=True)
    parts = []
    for name, value in ({"version": card.version} | fields).items():
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        if isinstance(value, list):
            rows = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in value]
            text = "[\n" + ",\n".join(rows) + "\n]"
        parts.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
