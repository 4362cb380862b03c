"""The page of the Python interface on the site: what users import, which mkdocstrings describes."""

from typing import NamedTuple

_INTRODUCTION = """# Python interface

What do I import to start and read runs in Python, or to write a part of my own?

How the parts fit together:
[adding a part](extend.md), [memory in programs](memory-api.md), [records](records.md).

A file `eval.py` or a package `eval/` of your own in the working folder hides the package `eval`:
`from eval import api` then fails with `cannot import name 'api'`. Give it another name.
"""


class Section(NamedTuple):
    """A part of the page: its title, the module, the classes and functions to show, in order, and
    what they are for. `place`: where users import them from, if not from the module.
    """

    title: str
    module: str
    names: str
    purpose: str
    place: str = ""


SECTIONS = (
    Section(
        "Runs and tables",
        "eval.api",
        "run, load, load_runs, load_all, LoadedRun, compare, frames, tables, means, scores, "
        "texts, table",
        "Start runs, and read them as data frames and charts.",
    ),
    Section(
        "Charts",
        "eval.rendering.plots",
        "plot, dots, curves, shares, front, on_front",
        "Draw data frames, with one colour and marker for each strategy.",
        "eval.api",
    ),
    Section(
        "Rankings",
        "eval.analyse.retrieval.score",
        "retrieval, score_rankings",
        "Measures of the rankings of runs, and of rankings of your own.",
        "eval.api",
    ),
    Section(
        "Memory in a program",
        "memsys.service.memory",
        "Memory",
        "The memory of a benchmarked run, to add to and to search.",
        "memsys",
    ),
    Section(
        "The same for asyncio",
        "memsys.service.async_memory",
        "AsyncMemory",
        "Each operation of `Memory`, awaited.",
        "memsys",
    ),
    Section(
        "A strategy of your own",
        "memsys.strategies.strategy",
        "MemoryStrategy, Strategy",
        "Derive from `Strategy` to rank stored memories, from `MemoryStrategy` for anything else.",
    ),
    Section(
        "What a strategy ranks with",
        "memsys.strategies.store",
        "Store, Parts",
        "`self.store` and `self.parts` of a strategy.",
    ),
    Section(
        "Records that pass between the parts",
        "memsys.core.types",
        "Turn, Observation, Session, Conversation, Memory, Query, Candidate, Retrieval, Usage",
        "Immutable; created by data sets and strategies.",
    ),
    Section(
        "A memory option of your own",
        "memsys.knowledge.memory.base",
        "MemoryBuilder",
        "Defines the unit that is stored as one memory.",
    ),
    Section(
        "An embedder of your own",
        "memsys.embed.base",
        "Embedder",
        "Turns texts into vectors.",
    ),
    Section(
        "A context of your own",
        "memsys.context.writers",
        "ContextWriter",
        "Writes retrieved memories as the text for a reader.",
    ),
    Section(
        "A reader of your own",
        "eval.readers",
        "Reader, Answer",
        "Turns a question and a retrieval into an answer.",
    ),
    Section(
        "A metric of your own",
        "eval.metrics",
        "Metric, Answered",
        "Scores one answered question.",
    ),
    Section(
        "A data set of your own",
        "eval.datasets.types",
        "Dataset, Question, SourceFile",
        "A class with `load() -> Dataset`.",
    ),
    Section(
        "Wrong input",
        "memsys.core.errors",
        "InputError",
        "Raise it where a file or a setting is wrong: the user sees its message as one line.",
    ),
)


def page() -> str:
    """Return the page, in markdown with a directive of mkdocstrings for each section."""
    return "\n".join([_INTRODUCTION, *map(_section, SECTIONS)])


def _section(section: Section) -> str:
    lines = [
        f"## {section.title}\n",
        f"{section.purpose} Import from `{section.place or section.module}`.\n",
        f"::: {section.module}\n    options:\n      members: [{section.names}]\n",
    ]
    return "\n".join(lines)
