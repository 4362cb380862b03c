"""The Chinese README says the same as the English one: headings, commands, figures, links."""

from __future__ import annotations

import re

import pytest

from .pages import PROJECT

ENGLISH = (PROJECT / "README.md").read_text(encoding="utf-8")
CHINESE = (PROJECT / "README.zh-CN.md").read_text(encoding="utf-8")
HAN = re.compile(r"[\u4e00-\u9fff]")
MOST_CHARACTERS = 1800  # 900 English words take about as many Chinese characters
COMMENT = re.compile(r'(?:^|  )# (.*)$|"""(.*?)"""', re.MULTILINE)


def prose(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def headings(text: str) -> list[str]:
    return re.findall(r"^(#+) ", prose(text), re.MULTILINE)


def code(text: str) -> list[str]:
    return re.findall(r"```.*?```", text, re.DOTALL)


def comments(text: str) -> list[str]:
    return ["".join(found) for block in code(text) for found in COMMENT.findall(block)]


def commands(text: str) -> list[str]:
    """Code blocks without comments and the spaces before them."""
    return [re.sub(r" +$", "", COMMENT.sub("", one), flags=re.MULTILINE) for one in code(text)]


def figures(section: str) -> list[str]:
    """Numbers with a point, which are measured and must agree; in order of size."""
    return sorted(re.findall(r"\d*\.\d+", prose(section)))


def sections(text: str) -> list[str]:
    return re.split(r"^## .*$", text, flags=re.MULTILINE)


def targets(section: str) -> set[str]:
    links = re.findall(r"\]\(([^)]+)\)", section)
    return {link for link in links if not link.startswith("README")}


def test_headings_and_commands_are_the_same():
    for of in (headings, commands):
        assert len(of(ENGLISH)) > 8
        assert of(CHINESE) == of(ENGLISH)


def test_headings_comments_and_heads_of_tables_are_chinese():
    assert not re.search(r"^## [\x00-\x7f]+$", prose(CHINESE), re.MULTILINE)
    found = comments(CHINESE)
    assert len(found) == len(comments(ENGLISH)) > 8
    assert [one for one in found if " " in one and not HAN.search(one)] == []
    heads = re.findall(r"^\|(.*)\|\n\|---", CHINESE, re.MULTILINE)
    assert heads
    cells = [cell.strip() for head in heads for cell in head.split("|")]
    assert [cell for cell in cells if not HAN.search(cell) and cell != "F1"] == []


def test_it_is_as_short_as_the_english_one():
    """Counts Chinese characters outside of code blocks and tables."""
    text = re.sub(r"^\|.*$", "", prose(CHINESE), flags=re.MULTILINE)
    assert 600 < len(HAN.findall(text)) <= MOST_CHARACTERS


@pytest.mark.parametrize("number", range(len(sections(ENGLISH))))
def test_every_section_has_the_same_figures_and_links(number):
    chinese, english = sections(CHINESE)[number], sections(ENGLISH)[number]
    assert figures(chinese) == figures(english)
    assert targets(chinese) == targets(english)
