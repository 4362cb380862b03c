"""Every command of README and docs exists and takes the arguments given there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from eval.rendering.errors import CONF
from eval.run.hydra_help import register

from .check import check
from .examples import write_examples
from .pages import PAGES, Command, commands

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


def test_the_pages_have_commands() -> None:
    assert len(COMMANDS) > 150
    assert {"README.md", "docs/tutorial.md", "data/README.md"} <= {one.page for one in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.place[:80])
def test_the_command_exists_with_these_arguments(command: Command, examples: Path) -> None:
    assert check(command.text, examples) is None, command.place
