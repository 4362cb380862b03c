"""The examples of docs/extend.md, as files of a user's own folder."""

from pathlib import Path

from tests.docs.pages import PROJECT, examples

EXAMPLES = examples(PROJECT / "docs" / "extend.md")


def write_examples(folder: Path, *names: str) -> None:
    """Write the examples of these file names under `folder`, as the document has them."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(EXAMPLES[name], encoding="utf-8")
