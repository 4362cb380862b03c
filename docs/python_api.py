"""The page of the Python interface on the site: signatures and docstrings of what users import."""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memsys.core.files import read_text

_PROJECT = Path(__file__).parents[1]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WIDTH = 88  # characters of a signature on one line
_INTRODUCTION = """# Python interface

What do I import to start and read runs in Python, or to write a part of my own?

How the parts fit together:
[adding a part](extend.md), [memory in programs](memory-api.md), [records](records.md).

A file `eval.py` or a package `eval/` of your own in the working folder hides the package `eval`:
`from eval import api` then fails with `cannot import name 'api'`. Give it another name.
"""


class Section(NamedTuple):
    """A part of the page: its title, the module, and the classes and functions to show, in order.

    `say`: what the names are for. `as_`: where users import them from, if not from the module.
    """

    title: str
    module: str
    names: tuple[str, ...]
    say: str
    as_: str = ""


SECTIONS = (
    Section(
        "Runs and tables",
        "eval.api",
        (
            *("run", "load", "load_runs", "load_all", "LoadedRun", "compare"),
            *("frames", "tables", "means", "scores", "texts", "table"),
        ),
        "Start runs, and read them as data frames and charts.",
    ),
    Section(
        "Charts",
        "eval.rendering.plots",
        ("plot", "dots", "curves", "shares", "front", "on_front"),
        "Draw data frames, with one colour and marker for each strategy.",
        "eval.api",
    ),
    Section(
        "Rankings",
        "eval.analyse.retrieval.score",
        ("retrieval", "score_rankings"),
        "Measures of the rankings of runs, and of rankings of your own.",
        "eval.api",
    ),
    Section(
        "Memory in a program",
        "memsys.service.memory",
        ("Memory",),
        "The memory of a benchmarked run, to add to and to search.",
        "memsys",
    ),
    Section(
        "The same for asyncio",
        "memsys.service.async_memory",
        ("AsyncMemory",),
        "Each operation of `Memory`, awaited.",
        "memsys",
    ),
    Section(
        "A strategy of your own",
        "memsys.strategies.strategy",
        ("MemoryStrategy", "Strategy"),
        "Derive from `Strategy` to rank stored memories, from `MemoryStrategy` for anything else.",
    ),
    Section(
        "What a strategy ranks with",
        "memsys.strategies.store",
        ("Store", "Parts"),
        "`self.store` and `self.parts` of a strategy.",
    ),
    Section(
        "Records that pass between the parts",
        "memsys.core.types",
        (
            *("Turn", "Observation", "Session", "Conversation", "Memory", "Query", "Candidate"),
            *("Retrieval", "Usage"),
        ),
        "Immutable; created by data sets and strategies.",
    ),
    Section(
        "A memory option of your own",
        "memsys.knowledge.memory.base",
        ("MemoryBuilder",),
        "Defines the unit that is stored as one memory.",
    ),
    Section(
        "An embedder of your own",
        "memsys.embed.base",
        ("Embedder",),
        "Turns texts into vectors.",
    ),
    Section(
        "A context of your own",
        "memsys.context.writers",
        ("ContextWriter",),
        "Writes retrieved memories as the text for a reader.",
    ),
    Section(
        "A reader of your own",
        "eval.readers",
        ("Reader", "Answer"),
        "Turns a question and a retrieval into an answer.",
    ),
    Section(
        "A metric of your own",
        "eval.metrics",
        ("Metric", "Answered"),
        "Scores one answered question.",
    ),
    Section(
        "A data set of your own",
        "eval.datasets.types",
        ("Dataset", "Question", "SourceFile"),
        "A class with `load() -> Dataset`.",
    ),
    Section(
        "Wrong input",
        "memsys.core.errors",
        ("InputError",),
        "Raise it where a file or a setting is wrong: the user sees its message as one line.",
    ),
)


def page() -> str:
    """Return the page, in markdown."""
    return "\n".join([_INTRODUCTION, *(part for one in SECTIONS for part in _section(one))])


def _section(section: Section) -> Iterator[str]:
    source = _source(section.module)
    body = ast.parse(source).body
    defined = {node.name: node for node in body if isinstance(node, (*_FUNCTIONS, ast.ClassDef))}
    where = section.as_ or section.module
    yield f"## {section.title}\n"
    yield f"{section.say} Import from `{where}`.\n"
    for name in section.names:
        node = defined[name]
        yield f"### {where}.{name}\n"
        if isinstance(node, ast.ClassDef):
            yield from _class(node, source.splitlines())
        else:
            yield _code(_signature(node))
            yield _text(node)


def _class(node: ast.ClassDef, lines: Sequence[str]) -> Iterator[str]:
    """Yield a class: its fields, its text, and its documented public methods."""
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    head = f"class {node.name}({bases})" if bases else f"class {node.name}"
    yield _code("\n".join([head, *_fields(node, lines)]))
    yield _text(node)
    for method in node.body:
        if not isinstance(method, _FUNCTIONS):
            continue
        text = ast.get_docstring(method) or ""
        shown = method.name == "__init__" or not method.name.startswith("_")
        if shown and text and not text.startswith("See "):
            yield _code(_signature(method))
            yield _text(method)


def _fields(node: ast.ClassDef, lines: Sequence[str]) -> Iterator[str]:
    """Yield the public fields of a class, each with the comment above it or behind it."""
    for one in node.body:
        if not isinstance(one, ast.AnnAssign) or ast.unparse(one.target).startswith("_"):
            continue
        above = one.lineno - 1  # lines count from 1
        while lines[above - 1].lstrip().startswith("#"):
            above -= 1
        yield from lines[above : one.lineno - 1]
        _, mark, comment = lines[one.lineno - 1].partition("  # ")
        yield f"    {ast.unparse(one)}{mark}{comment}"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return decorators, name, arguments and result of a function, on one line if they fit."""
    marks = [ast.unparse(one) for one in node.decorator_list]
    above = "".join(f"@{'property' if one == 'cached_property' else one}\n" for one in marks)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    arguments = list(_arguments(node.args))
    line = f"def {node.name}({', '.join(arguments)}){result}"
    if len(line) > _WIDTH:
        each = "".join(f"    {one},\n" for one in arguments)
        line = f"def {node.name}(\n{each}){result}"
    return above + line


def _arguments(given: ast.arguments) -> Iterator[str]:
    """Yield the arguments of a function, with the bare star."""
    positional = [*given.posonlyargs, *given.args]
    free = [None] * (len(positional) - len(given.defaults))
    for one, default in zip(positional, [*free, *given.defaults], strict=True):
        yield _argument(one, default)
    if given.vararg:
        yield f"*{ast.unparse(given.vararg)}"
    elif given.kwonlyargs:
        yield "*"
    for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _argument(one, default)
    if given.kwarg:
        yield f"**{ast.unparse(given.kwarg)}"


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(one) if default is None else f"{ast.unparse(one)} = {ast.unparse(default)}"


def _text(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """Return a docstring as markdown: `<` of a placeholder would begin an HTML tag."""
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*") for part in parts[::2]]
    return "".join(parts) + "\n"


def _code(text: str) -> str:
    return f"```python\n{text}\n```\n"


def _source(module: str) -> str:
    path = _PROJECT.joinpath(*module.split("."))
    return read_text(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
