"""The pages of the site: all of docs is in the navigation, no link or anchor is dead."""

import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from docs import python_api, reference
from docs.site_hooks import generated, on_files, pages, rewritten

from .pages import PAGES, PROJECT

DOCS = PROJECT / "docs"
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose tags are for mkdocs."""


def _text(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    return node.value if isinstance(node, yaml.ScalarNode) else None


_Loader.add_multi_constructor("!ENV", _text)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _text)


def anchors(path: Path) -> set[str]:
    """The anchors of a page: its headings as GitHub and mkdocs.yml name them."""
    prose = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    found: Counter[str] = Counter()
    names = set(re.findall(r'<a id="([^"]+)">', prose))
    for heading in _HEADING.findall(prose):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|<[^>]*>", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        names.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return names


def in_nav(node: Any) -> list[str]:
    """The pages below a node of the navigation."""
    if isinstance(node, str):
        return [node]
    below = node.values() if isinstance(node, dict) else node
    return [page for one in below for page in in_nav(one)]


def test_every_page_is_in_the_navigation_once():
    text = (PROJECT / "mkdocs.yml").read_text(encoding="utf-8")
    found = in_nav(yaml.load(text, Loader=_Loader)["nav"])  # noqa: S506 - a safe loader
    of_docs = {path.name for path in DOCS.glob("*.md")}
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    overview = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = {*re.findall(r"\((?:\.\./)?([\w-]+\.md)", overview)}
    assert of_docs <= linked | {*re.findall(r"\(docs/([\w-]+\.md)", readme)}
    elsewhere = {*generated(), *(page for page in pages().values() if "/" not in page)}
    assert sorted(found) == sorted(of_docs | elsewhere)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    if path.stem == "how-a-run-works":
        named = re.findall(r"`(\w+/[\w/]+\.(?:py|yaml))`", text)
        assert len(named) > 30
        assert [name for name in named if not (PROJECT / name).is_file()] == []
    prose = _CODE.sub("", text)
    for target in _LINK.findall(prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = (path.parent / name).resolve() if name else path
        assert found.exists(), target
        assert found.is_relative_to(PROJECT), target
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), target


def test_pages_link_to_pages_of_the_site():
    text = "[a](../data/README.md#x) [b](strategies.md) `[c](../README.md)` [d](../eval/cli.py)"
    assert rewritten(text, "docs/models.md", "https://x.org/y") == (
        "[a](data.md#x) [b](strategies.md) `[c](../README.md)` "
        "[d](https://x.org/y/blob/main/eval/cli.py)"
    )
    assert rewritten("[d](../eval/cli.py)", "docs/models.md", None) == "d"
    there = rewritten("[m](../docs/models.md) [s](sources.yaml)", "data/README.md", None)
    assert there == "[m](models.md) s"
    table = rewritten("[m](../../docs/models.md)", "results/tables/budget.md", None)
    assert table == "[m](../../models.md)"
    cards = rewritten("[c](results/leaderboard/cards)", "CONTRIBUTING.md", "https://x.org/y")
    assert cards == '<a href="leaderboard/index.html">c</a>'


def test_the_python_interface_has_names_that_can_be_imported():
    assert len(python_api.SECTIONS) > 10
    for section in python_api.SECTIONS:
        for name in section.names.split(", "):
            value = getattr(import_module(section.module), name)
            assert getattr(import_module(section.place or section.module), name) is value
            assert value.__doc__, name
    assert "::: eval.api\n    options:\n      members: [run, load," in python_api.page()


def test_the_build_generates_the_options(monkeypatch):
    """With a stand-in for mkdocs, which is no dependency of the tests."""
    added: dict[str, str] = {}

    class File:
        @staticmethod
        def generated(_: object, page: str, content: str = "", abs_src_path: str = "") -> str:
            added[page] = content or Path(abs_src_path).read_text(encoding="utf-8")
            return page

    monkeypatch.setitem(sys.modules, "mkdocs.structure.files", SimpleNamespace(File=File))
    assert on_files([], None) == list(added)
    assert set(re.findall(r"^### (\w+=\w+)$", added["options.md"], re.M)) == {
        f"{path.parent.name}={path.stem}"
        for path in (PROJECT / "conf").glob("*/*.yaml")
        if path.parent.name not in ("experiment", "debug")
    }
    for target in _LINK.findall(_CODE.sub("", "".join(generated().values()))):
        assert (DOCS / target.partition("#")[0]).exists(), target


def test_options_are_read_with_defaults_and_comments(tmp_path):
    (tmp_path / "strategy").mkdir()
    (tmp_path / "config.yaml").write_text("defaults: [{strategy: mine}]\nk: 3  # places\n")
    (tmp_path / "strategy" / "mine.yaml").write_text(
        "# Of my own\ndefaults: [other, _self_]\n_target_: my.Strategy\n"
        "# above\n# it\nname: ''\nnested:  # all\n  edges:  # which\n    - a|b\n    - c\n"
        "  none: null  # nothing\npair: {a: 1, b: {}}  # both\n"
    )
    page = reference.page(tmp_path)
    assert "| `k` | `3` | places |" in page
    assert "Default: `strategy=mine`" in page
    assert "Of my own. Has the settings of [strategy=other](#strategyother), and these." in page
    assert "Class: `my.Strategy`." in page
    other = tmp_path / "strategy" / "other.yaml"
    other.write_text("name: other\n")  # explained by mine
    assert "| `strategy.name` | `other` | above it |" in reference.page(tmp_path)
    other.write_text("unexplained: 1\n")
    with pytest.raises(ValueError, match=r"no single comment says .*: strategy\.unexplained"):
        reference.page(tmp_path)
    for row in (
        "| `strategy.name` | `''` | above it |",
        "| `strategy.nested.edges` | `[a\\|b,c]` | which |",
        "| `strategy.nested.none` | `null` | nothing |",
        "| `strategy.pair.a` | `1` | both |",
        "| `strategy.pair.b` | `{}` | both |",
    ):
        assert row in page
