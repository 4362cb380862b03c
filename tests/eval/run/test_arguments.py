"""Arguments as a newcomer types them: the answer names the right spelling, and nothing is run."""

import argparse
import importlib
import os
import subprocess
import sys
from typing import Any

import pytest

from eval import cli
from eval.analyse.compare.__main__ import main as compare
from eval.rendering.terminal import terminal_width
from eval.run import arguments as arguments_module
from eval.run import option_help
from eval.run.arguments import check_arguments
from eval.run.option_help import options_help
from memsys.core.errors import InputError
from tests.eval.commands import FAULTY, PROJECT, runs_in


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python checks help texts itself")
def test_a_run_with_an_argparse_that_checks_help_texts_as_python_3_14(start, small, monkeypatch):
    add = argparse.ArgumentParser.add_argument

    def check(self: argparse.ArgumentParser, action: argparse.Action) -> None:
        if action.help:
            self._get_formatter()._expand_help(action)

    def checked(self: argparse.ArgumentParser, *names: str, **settings: Any) -> argparse.Action:
        action = add(self, *names, **settings)
        self._check_help(action)
        return action

    monkeypatch.setattr(argparse.ArgumentParser, "_check_help", check, raising=False)
    monkeypatch.setattr(argparse.ArgumentParser, "add_argument", checked)
    assert "LazyCompletionHelp" in start("--version").err
    importlib.reload(arguments_module)
    for arguments, shown in ((["--version"], "Hydra 1."), (["strategy=bm25", *small], "F1")):
        ended = start(*arguments).ok()
        assert shown in ended.out


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["--strategy", "graph_expand"], "--strategy: write strategy=graph_expand, without dashes"),
        (["--k", "5"], "--k: write k=5, without dashes"),
        (["--strateg", "bm25"], "--strateg: no such argument; did you mean strategy=bm25?"),
        (["--multirum"], "--multirum: no such argument; did you mean --multirun?"),
        (["-x"], "-x: write NAME=VALUE, such as strategy=graph_expand; python -m eval.run --help"),
        (["graph_expand"], "graph_expand: write strategy=graph_expand"),
        (["graph_expnd"], "graph_expnd: no such argument; did you mean strategy=graph_expand?"),
        (["strategy", "bm25"], "strategy: write strategy=bm25"),
        (["k=5", "zzzzzz"], "zzzzzz: write NAME=VALUE, such as strategy=graph_expand"),
        (["--experimental-rerun", "a.pickle"], "--experimental-rerun: loads a pickled file"),
        (["--exp=a.pickle"], "--experimental-rerun: loads a pickled file, which may run any code"),
        (["--config-dir", "nowhere"], "--config-dir nowhere: no such folder; name the one with"),
        (["k=5", "k=7"], "k: given twice, k=5 and k=7; leave one out"),
        (["+metric=a", "seed=1", "metric=b"], "metric: given twice, +metric=a and metric=b"),
        ([*FAULTY, "faulty"], "faulty: write strategy=faulty or reader=faulty"),
    ],
)
def test_the_right_spelling(arguments, answer):
    with pytest.raises(InputError) as refused:
        check_arguments(arguments)
    assert str(refused.value).startswith(answer)
    assert ("without dashes" in str(refused.value)) == ("dashes" in answer)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "strategy=bm25,oracle", "k=5"],
        ["--cfg", "job", "--resolve", "-p", "strategy"],
        ["--config-dir", str(PROJECT / "conf"), "+metric=[length]", "~experiment"],
        ["--info=searchpath"],
        ["--multi", "-cd", str(PROJECT / "conf")],
        ["--shell-completion", "install=bash"],
    ],
)
def test_what_hydra_knows_passes(arguments):
    check_arguments(arguments)


def test_flags_may_stand_anywhere_and_a_wrong_argument_is_one_line(start, tmp_path):
    ended = start("--strategy", "graph_expand")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: --strategy: write strategy=graph_expand, without dashes\n"
    assert runs_in(tmp_path) == []
    ended = start("--resolve", "strategy=bm25", "--cfg", "job", "k=7", "-p", "strategy").ok()
    assert "k: 7" in ended.out


def test_help_on_an_option_lists_its_settings_with_their_comments(start):
    ended = start("--help", "strategy=graph_expand").ok()
    first, _, *lines = ended.out.splitlines()
    best = "one hop from the best direct results"
    assert first == f"strategy=graph_expand: The graph adds memories: {best}"
    settings = {line.split("  ")[1]: line.split("  ")[-1].strip() for line in lines}
    assert settings["strategy.k=${k}"] == "as k"
    assert settings["strategy.expansion.per_seed=2"] == "most memories that a seed adds"
    start_at = settings["strategy.start=vector"]  # of graph_score
    assert start_at == "the ranking that it begins with: vector, lexical, hybrid or fusion"
    assert settings["strategy.use_graph_expansion=true"] == "false: rank like graph_score"


def test_help_on_an_option_of_ones_own_and_on_a_typo():
    text = options_help(["--help", "dataset=sample,locomo", *FAULTY, "strategy=faulty"])
    assert "strategy.fault=" in text
    assert "dataset=sample: " in text
    assert "dataset=locomo: " in text
    assert options_help(["--help"]) is options_help(["strategy=bm25"]) is None
    of_group = options_help(["--help", "judge"])
    assert all(one in of_group for one in ("judge=none: ", "judge=panel: ", "judge.threshold="))
    with pytest.raises(InputError, match=r"strategy=bm26: no such option; did you mean bm25\?"):
        options_help(["--help", "strategy=bm26"])


def test_the_command_options_prints_groups_a_group_or_an_option(capsys):
    option_help.main(["judge", "context=xml"])
    printed = capsys.readouterr().out
    assert printed.rstrip() == options_help(["--help", "judge", "context=xml"])
    option_help.main([])
    assert "\ncontext: flat, layered, xml\n" in capsys.readouterr().out
    assert option_help.main(["jugde"]) == 2
    assert "group: 'jugde' is none of strategy, " in capsys.readouterr().err
    option_help.main([*FAULTY, "strategy=faulty"])
    assert "strategy.fault=" in capsys.readouterr().out
    assert option_help.main(["--config-dir", "nowhere"]) == 2
    assert "--config-dir nowhere: no such folder" in capsys.readouterr().err


def test_every_option_has_help():
    for path in sorted((PROJECT / "conf").glob("*/*.yaml")):
        text = options_help(["-h", f"{path.parent.name}={path.stem}"])
        assert text.startswith(f"{path.parent.name}={path.stem}: ")


def test_comments_go_below_where_the_terminal_is_narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = options_help(["--help", "strategy=graph_expand"])
    assert "=edge\n      the last one between entities, else the mention; or product: " in text


def test_a_command_without_its_arguments_names_them_and_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        compare([])
    assert stop.value.code == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: missing: RUN",
        "usage: python -m eval compare RUN [RUN ...] [OPTIONS]",
        "example: python -m eval compare vector_only graph_expand",
        "python -m eval compare --help explains all arguments",
    ]


def test_examples_are_of_commands_that_exist():
    assert {name.split()[0] for name in cli._EXAMPLES} <= cli.commands().keys()


def test_wide_is_an_option_of_commands_that_print_tables(start, small):
    parser = cli.parser("x", "")
    cli.add_wide(parser)
    os.environ["COLUMNS"] = "80"
    assert terminal_width() == 80
    parser.parse_args(["--wide"])
    assert terminal_width() is None
    os.environ["COLUMNS"] = "80"
    ended = start("--wide", "strategy=bm25", *small).ok()
    assert "Not shown: " not in ended.out
    assert "total p95 ms" in ended.out


@pytest.mark.parametrize("command", ["eval", "eval.run"])
def test_help_whose_reader_has_gone_ends_quietly(command):
    arguments = [sys.executable, "-u", "-m", command, "--help"]
    with subprocess.Popen(
        arguments, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
