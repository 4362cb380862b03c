"""Several runs by one command."""

import shlex
import sys
from types import SimpleNamespace

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl

from eval.datasets.locomo import LoCoMo
from tests.eval.commands import FAULTY, TIMINGS, Ended, runs_in
from tests.eval.run.conftest import assert_as_clean

SYNTHETIC = (
    *("dataset=synthetic", "dataset.conversations=1", "dataset.sessions=4", "dataset.turns=12"),
    *("dataset.hops=1", "dataset.past=true", "reader=chain", "strategy=bm25"),
)


NOTE = "Intervals are over the questions of 3 conversations, too few to generalise to others."


def rows(ended: Ended) -> list[str]:
    """Rows of the last table, which an empty line and the notes on it end."""
    _, _, text = ended.out.partition("Types 1-4, mean with 95% interval:\n")
    lines, _, notes = text.partition("\n\n")
    assert f"\n{NOTE}\n" in notes
    return lines.splitlines()[2:]


def table(ended: Ended) -> list[str]:
    """Names of the rows of the last table."""
    return [row.split("  ")[0] for row in rows(ended)]


def test_ends_with_a_table_of_its_runs(start, tmp_path, small):
    ended = start("-m", "strategy=bm25,full_context,no_memory", *small).ok()
    assert table(ended) == ["bm25", "full_context", "no_memory"]
    runs = runs_in(tmp_path)
    assert [run.manifest["strategy"] for run in runs] == ["bm25", "full_context", "no_memory"]
    assert [run.folder.name for run in runs] == [run.manifest["run_id"] for run in runs]
    for run, row in zip(runs, rows(ended), strict=True):
        assert f" {run.summary['by_type']['overall']['f1']:.3f} [" in row
        alone = ["python", "-m", "eval.run", f"strategy={run.manifest['strategy']}", *small]
        assert shlex.split(run.manifest["command"]) == alone  # repeats that run
    ids = " ".join(run.folder.name for run in runs)
    commands = [f"  python -m eval {name} {ids}" for name in ("compare", "report", "browse")]
    assert ended.out.endswith("\n".join(["\n\nNext:", *commands]) + "\n")
    assert ended.out.count("Next:") == ended.out.count("How to read it:") == 1


def test_lines_that_ray_forwards_come_before_the_table(start, small, monkeypatch):
    def shutdown(*, _exiting_interpreter: bool) -> None:
        assert _exiting_interpreter  # else Ray does not wait for the lines
        print("(pid=1) a line of a worker")

    ray = SimpleNamespace(is_initialized=lambda: True, shutdown=shutdown)
    monkeypatch.setitem(sys.modules, "ray", ray)
    out = start("-m", "strategy=bm25", *small).out
    assert out.index("a line of a worker") < out.index("Types 1-4, mean with 95% interval:")
    single = start("strategy=bm25", *small).out
    assert "a line of a worker" not in single
    assert "Types 1-4, mean" not in single


def test_the_table_says_what_is_counted(start):
    ended = start("-m", *SYNTHETIC, "k=2,3").ok()
    assert "\nAll but type 5, mean with 95% interval:\n" in ended.out
    assert "Types 1-4, mean" not in ended.out


def test_a_setting_holds_for_all_strategies_that_are_swept(start, tmp_path, small):
    for setting in ("strategy.expansion.seeds=2", "strategy.expansion.edges=[mentions]"):
        start("-m", "strategy=graph_expand,hybrid_gate", setting, *small).ok()
    first, second, third, fourth = (run.manifest["config"]["strategy"] for run in runs_in(tmp_path))
    assert first["expansion"]["seeds"] == second["expansion"]["seeds"] == 2
    assert third["expansion"]["edges"] == fourth["expansion"]["edges"] == ["mentions"]
    refused = start("-m", "strategy=bm25,graph_expand", "strategy.expansion.seeds=2")
    assert refused.code == 2
    assert "strategy.expansion.seeds: the chosen strategy has no such setting" in refused.err


@pytest.mark.usefixtures("fault")
def test_refused_and_broken_runs_do_not_stop_the_others(start, tmp_path, small):
    faults = ("strategy=faulty", "strategy.fault=construct,none,third", "strategy.k=2,0")
    ended = start(*FAULTY, "-m", *faults, *small[:2])
    assert ended.code == 1
    refused = "strategy.k=0: strategy.k: 0; use a whole number of 1 or"
    assert ended.err.count(refused) == 3
    broken = "error: strategy.fault=construct strategy.k=2: RuntimeError: cannot be made"
    assert broken in ended.err
    assert "Traceback" not in ended.err
    assert len(runs_in(tmp_path)) == 3  # none of what was refused, one of what broke
    assert table(ended) == ["strategy.fault=none", "strategy.fault=third"]
    assert ended.err.count("failed: 6 of 21 questions failed") == 1


def test_a_refused_run_is_named_by_what_the_experiment_varies(start, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMSYS_SHARED", str(tmp_path / "empty"))
    chosen = ("experiment=across_datasets", "dataset=longmemeval,sample_zh", "strategy=bm25")
    ended = start("-m", *chosen, "questions=3")
    assert ended.code == 1
    assert "error: dataset=longmemeval strategy=bm25: LongMemEval is not here: run " in ended.err
    assert [run.manifest["dataset"] for run in runs_in(tmp_path)] == ["sample_zh"]


@pytest.mark.parametrize("wrong", ["strategy.k=0,-1", "k=2,0"])  # the second before any run
def test_nothing_but_refused_runs_is_bad_input(start, tmp_path, small, wrong):
    start("-m", "strategy=bm25", *small[:2], wrong).refused()
    assert runs_in(tmp_path) == []


@pytest.mark.parametrize("nothing", ["k=glob(*)", "strategy=glob(zz*)"])
def test_a_sweep_without_a_run_is_refused(start, nothing):
    start("-m", nothing).one_line(f"the sweep has no run: -m {nothing}; ")


def test_a_value_given_twice_is_two_runs(start, tmp_path, small):
    start("-m", "strategy=bm25", *small[:2], "k=3,3").ok()
    assert [run.manifest["config"]["k"] for run in runs_in(tmp_path)] == [3, 3]


def test_an_experiment_is_a_sweep_whose_runs_say_what_the_grid_gave_them(start, tmp_path, small):
    chosen = ("experiment=injection", "dataset=sample", *small, "strategy=bm25")
    assert start("-m", *chosen).code == 0
    commands = [run.manifest["command"] for run in runs_in(tmp_path)]
    contexts = ["context=flat", "context=layered", "context=xml"]
    assert [command.split()[-1] for command in commands] == contexts
    assert all(command.count("strategy=bm25") == 1 for command in commands)
    note = "note: experiment=injection is a sweep, and this is one run of it"
    assert note in start(*chosen).err
    assert "note: " not in start(*chosen, "context=layered").err


def test_jobs_share_what_they_load_and_equal_single_runs(start, tmp_path, small, made, monkeypatch):
    loaded, load = [], LoCoMo.load
    monkeypatch.setattr(LoCoMo, "load", lambda self: loaded.append(self) or load(self))
    composed, compose = [], ConfigLoaderImpl.load_sweep_config
    monkeypatch.setattr(
        ConfigLoaderImpl,
        "load_sweep_config",
        lambda self, master, of: composed.append(of) or compose(self, master, of),
    )
    strategies = ("hybrid_rank", "graph_score", "graph_walk_fusion")
    start("-m", f"strategy={','.join(strategies)}", *small[:2], "k=3,2").ok()
    assert len(loaded) == 1
    jobs = runs_in(tmp_path)
    assert len(composed) == len(jobs)
    for first, job, strategy in zip(jobs[::2], jobs[1::2], strategies, strict=True):
        alone = made(f"strategy={strategy}")
        assert_as_clean(job, alone)
        for name in ("rankings.jsonl", "memories.jsonl", "contexts.jsonl"):
            assert job.files[name] == alone.files[name]
        timed = {*TIMINGS, "shared_ms"}
        for mine, its in zip(job.ingests, alone.ingests, strict=True):
            assert {name for name in mine.keys() | its if mine.get(name) != its.get(name)} <= timed
        for line, of_first in zip(job.ingests, first.ingests, strict=True):
            if line["phase"] == "index":
                assert 0 < line["shared_ms"] <= min(line["latency_ms"], of_first["latency_ms"])
    assert not any("shared_ms" in line for line in jobs[0].ingests)
