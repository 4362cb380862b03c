"""Parts of a run, merged, are the run that was never split."""

import json
import re
import shutil
from pathlib import Path

import pytest

from eval.exchange.merge.__main__ import main
from tests.eval.commands import Run, run_main, runs_in
from tests.eval.factory import hashed
from tests.shared import made_once

TIMED = ("latency", "_ms", "seconds", "run_id", "waited")


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Path:
    """Runs of cedar and ash, then of beech: neither part in the order of the file."""

    def make(folder: Path) -> None:
        command = ("-m", *small, "strategy=bm25", "dataset.conversations=[cedar,ash],[beech]")
        run_main(folder, cache, *command).ok()

    return made_once(tmp_path_factory, "halves", make)


@pytest.fixture
def halves(parts: Path, tmp_path: Path) -> list[Run]:
    """The parts, to be changed."""
    shutil.copytree(parts / "results", tmp_path / "results")
    return runs_in(tmp_path)


def untimed(summary: object) -> object:
    if isinstance(summary, dict):
        return {k: untimed(v) for k, v in summary.items() if not any(t in k for t in TIMED)}
    return summary


def test_merged_parts_equal_an_unsplit_run(halves, keyed, tmp_path):
    out = tmp_path / "merged"
    assert main([*(str(run.folder) for run in reversed(halves)), "--out", str(out)]) == 0
    merged, unsplit = Run(out), keyed["plain"]
    assert merged.untimed == unsplit.untimed
    for name in ("questions", "config_sha256", "warnings"):
        assert merged.manifest[name] == unsplit.manifest[name]
    assert merged.manifest["questions"] == len(merged.untimed)
    assert untimed(merged.summary) == untimed(unsplit.summary)
    contexts = [sorted(run.files["contexts.jsonl"].splitlines()) for run in (merged, unsplit)]
    assert contexts[0] == contexts[1]
    steps = [[line["conversation"], line["phase"], line["session"]] for line in merged.ingests]
    assert steps == [[x["conversation"], x["phase"], x["session"]] for x in unsplit.ingests]
    assert len(merged.manifest["merged"]) == 2


def test_what_is_left_out_stays_left_out(halves, tmp_path):
    out = tmp_path / "one"
    assert main([str(halves[0].folder), "--out", str(out)]) == 0
    merged = Run(out)
    assert merged.manifest["config"]["dataset"]["conversations"] == ["ash", "cedar"]
    conversations = [record["conversation"] for record in merged.records]
    assert conversations == ["ash"] * 7 + ["cedar"] * 7


def change(run: Run, **fields: object) -> None:
    path = run.folder / "manifest.json"
    path.write_text(json.dumps(hashed(run.manifest | fields)))


def _lacks_a_question(halves: list[Run]) -> None:
    path = halves[1].folder / "records.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    change(halves[1], questions=6)


def _changed_data(halves: list[Run]) -> None:
    for run in halves:
        (data,) = run.manifest["data"]
        change(run, data=[data | {"sha256": "0" * 64}])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda halves: halves.insert(0, halves[0]), r"is in .* too"),
        (lambda halves: change(halves[1], status="interrupted"), "finish it by resume="),
        (
            lambda halves: change(halves[1], config=halves[1].manifest["config"] | {"k": 3}),
            "differs from that of .* in k;",
        ),
        (_lacks_a_question, "beech/0 is in no part; resume the run"),
        (_changed_data, "have changed since"),
    ],
)
def test_parts_that_make_no_whole_are_refused(spoil, says, halves, refused, tmp_path):
    spoil(halves)
    out = tmp_path / "out"
    assert re.search(says, refused(main, *(run.folder for run in halves), "--out", out))
    assert not out.exists()


def test_a_folder_with_a_run_is_not_written_over(halves, refused):
    before = halves[1].files
    message = refused(main, halves[0].folder, "--out", halves[1].folder)
    assert "contains a run already" in message
    assert halves[1].files == before
