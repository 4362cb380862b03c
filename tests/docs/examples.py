"""Files that the pages have the reader write: blocks after `<!-- example: NAME -->`."""

from __future__ import annotations

import re
from pathlib import Path

_EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def write_examples(page: Path, folder: Path) -> None:
    """Write the examples of `page` under `folder`."""
    for name, text in _EXAMPLE.findall(page.read_text(encoding="utf-8")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
