"""The house: folders of eval, one direction of imports, no cycle of packages."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from eval.cli import commands

ROOT = Path(__file__).parents[1]
TOPS = ("memsys", "baselines", "eval")


def package(path: Path) -> str:
    """The package of a file, two levels deep; a module at the top is one of its own."""
    return "/".join(path.relative_to(ROOT).with_suffix("").parts[:2])


@cache
def nodes(path: Path) -> list[ast.AST]:
    """The imports of a file and its strings of one word."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and len(node.value.split()) == 1:
                found.append(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
    return found


def imported(path: Path) -> set[str]:
    """Names of the modules that a file may import, dots for slashes."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_no_package_imports_itself_through_others():
    files = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    of: dict[str, str] = {}
    for path in files:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        of[name.removesuffix(".__init__")] = package(path)
    graph: dict[str, set[str]] = {package(path): set() for path in files}  # what each one imports
    for path in files:
        own = package(path)
        graph[own] |= {of[name] for name in imported(path) if name in of} - {own}
    assert len(graph) > 20
    assert "memsys/core" in graph["memsys/strategies"]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("top", TOPS)
def test_no_class_of_a_higher_layer_is_named_by_a_string(top):
    above = TOPS[TOPS.index(top) + 1 :]
    for path in (ROOT / top).rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Constant):
                named = node.value.strip().startswith(tuple(f"{one}." for one in above))
                assert not named, f"{path}:{node.lineno}: {node.value}"


def test_eval_has_four_files_and_a_listed_command_a_folder():
    listed = commands()
    folders = {path.parent.name for path in (ROOT / "eval").rglob("__main__.py")} - {"eval"}
    assert set(listed) == folders | {"options", "schema", "serve"}
    assert all(len(line) > 20 for line in listed.values())
    files = {path.name for path in (ROOT / "eval").iterdir() if path.is_file()}
    assert files == {"__init__.py", "__main__.py", "cli.py", "api.py"}


def test_nothing_deletes_stored_answers():
    for name in ("Makefile", ".ci/run"):
        removed = [line for line in (ROOT / name).read_text().splitlines() if "rm -rf" in line]
        assert removed
        assert not any(".cache" in line for line in removed)
