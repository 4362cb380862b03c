"""Tables of words and patterns, stored as YAML beside the code that uses them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

_NAME = re.compile(r"<([A-Z_]+)>")


def load_table(path: Path, **parts: str) -> dict[str, Any]:
    """Return the mapping in the YAML file at `path`.

    In every text, `<NAME>` is replaced by the entry NAME above it, or by that of `parts`.
    """
    table: dict[str, Any] = {}

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return _NAME.sub(lambda m: table[m[1]] if m[1] in table else parts[m[1]], value)
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return value

    for key, value in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        table[key] = filled(value)
    return table
