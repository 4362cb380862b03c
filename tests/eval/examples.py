"""The examples of docs/extend.md, as files of a user's own folder."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "extend.md"
_TEXT = DOCUMENT.read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```", _TEXT, re.DOTALL))


def write_examples(folder: Path, *names: str) -> None:
    """Write the examples of these file names under `folder`, as the document has them."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(EXAMPLES[name], encoding="utf-8")
