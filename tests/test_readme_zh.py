"""The Chinese README says the same as the English one: headings, commands, figures, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def prose(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def headings(text: str) -> list[str]:
    return re.findall(r"^(#+) ", prose(text), re.MULTILINE)


def code(text: str) -> list[str]:
    return re.findall(r"```.*?```", text, re.DOTALL)


def figures(section: str) -> list[str]:
    """Numbers with a point, which are measured and must agree; in order of size."""
    return sorted(re.findall(r"\d*\.\d+", prose(section)))


def sections(text: str) -> list[str]:
    return re.split(r"^## .*$", text, flags=re.MULTILINE)


def targets(text: str) -> set[str]:
    return {link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("README")}


def test_the_headings_stand_in_the_same_order() -> None:
    assert len(headings(ENGLISH)) > 8
    assert headings(CHINESE) == headings(ENGLISH)
    assert not re.search(r"^## [\x00-\x7f]+$", prose(CHINESE), re.MULTILINE)


def test_every_command_and_example_is_the_same() -> None:
    assert len(code(ENGLISH)) > 8
    assert code(CHINESE) == code(ENGLISH)


@pytest.mark.parametrize("number", range(len(sections(ENGLISH))))
def test_every_section_has_the_same_figures(number: int) -> None:
    assert figures(sections(CHINESE)[number]) == figures(sections(ENGLISH)[number])


def test_the_links_lead_to_the_same_pages() -> None:
    assert targets(CHINESE) == targets(ENGLISH)
    for target in targets(ENGLISH):
        assert (ROOT / target).exists(), target
