"""Every command of README and docs exists and takes the arguments given there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from eval.run.composing import register
from memsys.core.places import CONF

from .check import check
from .pages import PAGES, commands, on_page, write_examples

COMMANDS = commands()
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The options that the pages define, as the reader's own folder of options."""
    folder = tmp_path_factory.mktemp("examples")
    for path in PAGES:
        write_examples(path, folder)
    register()
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
        yield folder / "conf"


def test_the_pages_have_commands():
    assert len(COMMANDS) > 150
    assert {"README.md", "docs/tutorial.md", "data/README.md"} <= {one.page for one in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.place[:80])
def test_the_command_exists_with_these_arguments(command, examples):
    assert check(command.text, examples) is None, command.place


@pytest.mark.parametrize(
    ("text", "said"),
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
def test_a_wrong_command_is_found(text, said, examples):
    assert said in (check(text, examples) or "")


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
