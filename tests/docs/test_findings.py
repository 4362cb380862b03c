"""Findings: each figure of a claim is in a table that its row names."""

from __future__ import annotations

import re

from .pages import PROJECT

TABLES = PROJECT / "results" / "tables"
PAGE = (PROJECT / "docs" / "findings.md").read_text(encoding="utf-8")
_LINK = re.compile(r"results/tables/([\w-]+)\.md")


def figures(text: str) -> set[str]:
    """The numbers of two decimals or more in `text`, without signs, to three decimals."""
    return {f"{float(one):.3f}" for one in re.findall(r"(?<![\w.])\d*\.\d{2,}(?!\d)", text)}


def claims() -> list[tuple[str, set[str], tuple[str, ...]]]:
    """Each row that names a table: its claim, its figures, and the tables ("the same": also those
    of the row before)."""
    found: list[tuple[str, set[str], tuple[str, ...]]] = []
    for line in PAGE.splitlines():
        *cells, source = line.strip("| ").split(" | ") if line.startswith("| ") else [""]
        names = tuple(_LINK.findall(source))
        if "the same" in source:
            names += found[-1][2]
        if names and cells:
            found.append((cells[0], figures(" ".join(cells)), names))
    return found


def test_the_figures_of_a_claim_are_in_its_tables():
    assert len(claims()) > 30
    for claim, shown, names in claims():
        files = [TABLES / f"{name}{suffix}" for name in names for suffix in (".md", ".csv")]
        stored = " ".join(path.read_text(encoding="utf-8") for path in files if path.is_file())
        assert shown <= figures(stored), claim
