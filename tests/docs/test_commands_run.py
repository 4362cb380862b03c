"""Commands of README and docs take their arguments, and run unless they need what tests lack."""

import io
import re
import runpy
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from eval.cli import BAD_INPUT
from eval.cli import commands as listed
from eval.run.composing import register

from .check import check, words_of
from .pages import PAGES, PROJECT, Command, commands, on_page, reason, write_examples

pytestmark = pytest.mark.slow
WHOLE = "docs/tutorial.md"  # of other pages, a command that an earlier page has is not run again
STARTED = ("python ", "memsys ")  # all others are programs of others
RUNNABLE = [one for one in commands() if one.text.startswith(STARTED) and reason(one.text) is None]


def plain(command: Command) -> str:
    """The text of `command` with the other name of `memsys run`."""
    return command.text.replace("memsys run", "python -m eval.run")


FIRST = {plain(one): one.page for one in reversed(RUNNABLE)}
BY_PAGE = {
    page: [one for one in RUNNABLE if one.page == page and page in (WHOLE, FIRST[plain(one)])]
    for page in [WHOLE, *FIRST.values()]
}
# Of a run, whatever the page asks; but the conclusions of the tutorial are those of whole runs.
FEW_QUESTIONS, FEW_RESAMPLES = "questions=3", "resamples=20"
CONCLUSIVE = re.compile(r"strategy=(vector_only|hybrid_rank,\S+|speaker_first)$")
# What the pages call a run of the reader's, by its strategy.
RUNS = {
    "vector_only": "VECTOR_ONLY RUN_OF_VECTOR_ONLY VECTOR_ONLY_RUN FIRST A BM25 BM25_RUN",
    "graph_expand": "GRAPH_EXPAND RUN_OF_GRAPH_EXPAND OTHER B POOLED_RUN",
    "hybrid_gate": "RUN RUN_FOLDER MEM0AI_RUN REFERENCE OWN_STORE_RUN HYBRID_RUN HYBRID_RANK",
    "graph_score": "FILTERED_RUN FUSION_RUN LATE_RUN DECOMPOSE_RUN GRAPH_WALK",
}
FEW = ["dataset.conversations=1", "dataset.sessions=5", "dataset.turns=10"]
TYPES = "dataset.types=[multi_hop,single_hop]"


def start(folder: Path, words: list[str]) -> tuple[int, str]:
    """Run `python -m WORDS` in `folder`, in this process; return exit code and output."""
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(output):
        patch.setattr(sys, "argv", list(words))
        patch.setenv("HYDRA_FULL_ERROR", "0")
        patch.syspath_prepend(str(folder))
        patch.chdir(folder)
        patch.delitem(sys.modules, f"{words[0]}.__main__", raising=False)
        try:
            if words[0] == "-c":
                exec(compile(words[1], "a page", "exec"), {})  # noqa: S102 - as the page says
                return 0, output.getvalue()
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            return int(stop.code or 0), output.getvalue()
    return 0, output.getvalue()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the sample under the names that the pages give them."""
    folder = tmp_path_factory.mktemp("runs")
    for strategy, names in RUNS.items():
        name, *others = names.split()
        first = f"results/runs/{name}"
        size = [TYPES, "questions=8", "resamples=20", f"hydra.run.dir={first}"]
        code, output = start(folder, ["eval.run", f"strategy={strategy}", *size])
        assert code == 0, output
        for name in others:
            shutil.copytree(folder / first, folder / "results" / "runs" / name)
    return folder


def run_words(command: Command) -> list[str]:
    """The arguments of `python -m` for `command`: a small run in place of a large one."""
    text = re.sub(r"\b\d{4}-\d\d-\d\d_\S+", "RUN", command.text)  # in shown output
    text = text.replace("RUN [RUN ...]", "RUN OTHER").replace("OTHER ...", "OTHER")
    text = re.sub(r"\bRUN RUN\b( \.\.\.)?", "RUN OTHER", text).replace("RUN...", "RUN")
    words = words_of(text)
    if words[1] == "-c":
        return words[1:]
    words = words[2:] if words[1] == "-m" else ["eval", *words[1:]]
    if words[:2] == ["eval", "run"]:
        words[:2] = ["eval.run"]
    if words[0] == "eval.run" and not {"--help", "estimate=true"} & set(words):
        whole = command.page == WHOLE and CONCLUSIVE.search(command.text)
        words += [FEW_RESAMPLES] if whole else [FEW_QUESTIONS, FEW_RESAMPLES]
        words += FEW * ("dataset=synthetic" in words)
        words += [TYPES] * any(word.startswith("from=") for word in words)
    return words


def blocks(page: str, language: str) -> list[str]:
    """The blocks of `language` on a page that are no files of an example."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    return re.findall(rf"(?<!-->\n)```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("name", sorted(set(listed()) - {"serve"}))
def test_every_command_is_a_module_that_explains_itself(name, tmp_path):
    code, output = start(tmp_path, ["eval", name, "--help"])
    assert code == 0
    assert f"python -m eval {name}" in output or name == "run"


@pytest.mark.parametrize("page", BY_PAGE)
def test_the_commands_of_the_page_run(page, runs, tmp_path):
    if page != WHOLE:  # which makes all of its runs
        shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    write_examples(PROJECT / page, tmp_path)
    for name in ("data", "results/leaderboard", "results/expected"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(PROJECT / name)
    printed = ""
    for command in BY_PAGE[page]:
        code, output = start(tmp_path, run_words(command))
        wanted = BAD_INPUT if command.comment.startswith("fails") else 0
        assert code == wanted, f"{command.place}: {output[-2000:]}"
        printed += output
    if page == WHOLE:
        assert len(BY_PAGE[WHOLE]) >= 10
        conclusions, (python,) = blocks(page, "text"), blocks(page, "python")
        assert len(conclusions) == 2
        assert all(one in printed for one in conclusions)
        assert start(tmp_path, ["-c", python])[0] == 0


COMMANDS = commands()


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The options that the pages define, as the reader's own folder of options."""
    folder = tmp_path_factory.mktemp("examples")
    for path in PAGES:
        write_examples(path, folder)
    register()
    return folder / "conf"


def test_the_pages_have_commands():
    assert len(COMMANDS) > 150
    assert {"README.md", "docs/tutorial.md", "data/README.md"} <= {one.page for one in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.place[:80])
def test_the_command_exists_with_these_arguments(command, examples):
    assert check(command.text, examples) is None, command.place


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python -m eval.nope RUN", "eval.nope"),
        ("memsys nope", "no command nope"),
        ("python -m eval report RUN --nope", "unrecognized arguments: --nope"),
        ("python -m eval export RUN --to nope", "invalid choice"),
        ("python -m eval.run stratgy=bm25", "stratgy"),
        ("python -m eval.run strategy=nope", "no option strategy=nope"),
        ("python -m eval.run -m strategy=bm25,nope", "no option strategy=nope"),
        ("python -m eval.run strategy=bm25 strategy.nope=1", "strategy.nope"),
        ("python -m eval.run strategy=bm25,fusion", "several values without -m"),
        ("python -m eval.run --nope", "unrecognized arguments"),
        ("python -m eval audit_judge judge=nope", "judge/nope"),
        ("make nope", "no target nope"),
        ("make baseline NAME=nope", "no library nope"),
        ("pip install -e '.[nope]'", "no such extra"),
    ],
)
def test_a_wrong_command_is_found(text, expected, examples):
    assert expected in (check(text, examples) or "")


def test_commands_are_read_from_blocks_and_prose():
    page = """`make quick` and `x=1`:
```sh
FOO=1 python -m a 'b; # c' && memsys d   # fails: why
curl x \\
  -d y | z &
```
    make e    # f
    other g
```
$ make h
make i      minutes
out
```
"""
    found = [(one.text, one.comment) for one in on_page("p", page)]
    assert found == [
        ("FOO=1 python -m a 'b; # c'", "fails: why"),
        ("memsys d", "fails: why"),
        ("curl x -d y", ""),
        ("z", ""),
        ("make h", ""),
        ("make i", ""),
        ("make e", "f"),
        ("make quick", ""),
    ]
