"""The list of all runs: what is complete, under way or broken, and those that are chosen."""

import json
import re
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path

import pytest

from eval.pages.browse.__main__ import Listed, RunList, all_runs
from eval.pages.browse.conversations import Questions
from eval.pages.browse.server import read_site
from eval.pages.browse.site import Site
from eval.pages.report.runs import load
from eval.records.files import write_json
from memsys.core.errors import InputError
from tests.eval.pages.report.conftest import HOSTILE, data_file, records, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two complete runs, one under way, one interrupted, and two that cannot be read."""
    data, rows = data_file(tmp_path / "made.json"), records()
    runs = tmp_path / "runs"
    begun = iter(f"2026-01-0{day}T00:00:00+00:00" for day in range(1, 9))
    for name in ("first", "a,b <i>"):
        write_run(runs / name, rows, "plain", data, started=next(begun))
    for name, state in (("going", "running"), ("stopped", "interrupted")):
        more = {"status": state, "questions": 40, "started": next(begun), "run_id": name}
        write_run(runs / name, rows[:12], f"slow {HOSTILE}", data, **more)
    (runs / "empty").mkdir()
    (runs / "torn").mkdir()
    (runs / "torn" / "manifest.json").write_text('{"status": ')
    (runs / "multirun.yaml").touch()
    return runs


def read(folders: Sequence[Path]) -> Site:
    return Site(Questions(load([str(one) for one in folders])), listing="/")


def test_each_folder_has_its_state(folder):
    found = {run.name: run for run in all_runs(folder)}
    assert {name: run.state for name, run in found.items()} == {
        **{"first": "complete", "a,b <i>": "complete"},
        **{"going": "running", "stopped": "interrupted"},
        **{"empty": "broken", "torn": "broken"},
    }
    going, stopped = found["going"], found["stopped"]
    assert (going.asked, going.total) == (12, 40)
    assert going.detail.startswith("12 of 40 questions, the last 0:00:")
    assert stopped.detail == "12 of 40 questions"
    assert stopped.command.endswith("resume=stopped")
    assert "manifest.json is missing" in found["empty"].detail
    assert "cannot be read" in found["torn"].detail
    assert [run.name for run in all_runs(folder) if run.state != "broken"] == [
        *("stopped", "going", "a,b <i>", "first")  # the latest first
    ]
    assert all_runs(folder / "nowhere") == []
    path = folder / "stopped" / "manifest.json"  # as of an earlier version
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in manifest.items() if k != "questions"}))
    (folder / "stopped" / "records.jsonl").unlink()
    found = of_name(folder, "stopped")
    assert (found.detail, found.total) == ("0 questions", None)


def of_name(folder: Path, name: str) -> Listed:
    (found,) = [run for run in all_runs(folder) if run.name == name]
    return found


def test_scores_are_those_of_the_summary(folder):
    ends = {f"{name}_ci": [0.25, 0.75] for name in ("f1", "judge")}
    cell = {"n": 1540, "f1": 0.5, "judge": 0.5, "context_tokens_mean": None, **ends}
    summary = {"n": 1600, "errors": 3, "by_type": {"overall": cell}}
    path = folder / "first" / "summary.json"
    path.write_text(json.dumps(summary))
    found = of_name(folder, "first")
    assert found.scores == ("0.500 [0.250, 0.750]", "0.500 [0.250, 0.750]", "-", "-", "1,540")
    assert found.detail == "3 of 1600 questions failed"
    page = RunList(folder, read).answer("/", ()).body
    assert re.findall(r'<th scope="col">(.*?)</th>', page) == ["F1", "judge", "n"]  # with a value
    path.write_text("[]")
    assert set(of_name(folder, "first").scores) == {"-"}


def test_the_page_links_complete_runs_alone_and_escapes(folder):
    page = RunList(folder, read).answer("/", ()).body
    assert re.findall(r'<a href="([^"]*)"', page) == ["/a%2Cb%20%3Ci%3E/", "/first/"]
    assert re.findall(r'name="run" value="([^"]*)"', page) == ["a,b &lt;i&gt;", "first"]
    assert page.count('<progress max="40" value="12"') == 2
    assert "resume=stopped" in page
    assert page.count("broken</strong>: ") == 2
    assert HOSTILE not in page
    assert "form-action &#39;self&#39;" in page


def test_chosen_runs_open_with_the_first_begun_as_the_reference(folder):
    runs = RunList(folder, read)
    reply = runs.answer("/", [("run", "a,b <i>"), ("run", "first"), ("run", "../first")])
    assert (reply.status, reply.location) == (HTTPStatus.SEE_OTHER, "/first,a%2Cb%20%3Ci%3E/")
    page = runs.answer(reply.location, ())
    assert page.status == HTTPStatus.OK
    assert "<h1>first, a,b &lt;i&gt; on made</h1>" in page.body
    assert '<a href="/">All runs</a>' in page.body
    assert runs.answer(f"{reply.location}data.html", ()).status == HTTPStatus.OK
    assert runs.answer("/first", ()).location == "/first/"
    for path in ("nowhere/", "nowhere", "../", "%2e%2e/", "first,/", ".lock/", "first/x.jsonl"):
        assert runs.answer(f"/{path}", ()).status == HTTPStatus.NOT_FOUND, path


def test_a_run_that_cannot_be_shown_says_why_and_may_be_mended(folder):
    runs = RunList(folder, read)
    broken, path = (folder / "first" / name for name in ("records.jsonl", "manifest.json"))
    whole = broken.read_text()
    broken.write_text(f"{{}}\n{whole}")
    reply = runs.answer("/first/", ())
    assert reply.status == HTTPStatus.BAD_REQUEST
    assert "records.jsonl: line 1" in reply.body
    broken.write_text(whole)
    assert runs.answer("/first/", ()).status == HTTPStatus.OK
    assert "the run is running" in runs.answer("/going/", ()).body
    write_json(path, {**json.loads(path.read_text()), "dataset": "renamed"})
    assert "on renamed</h1>" in runs.answer("/first/", ()).body  # read again


def test_no_runs_say_how_to_make_one(tmp_path):
    page = RunList(tmp_path / "none", read).answer("/", ()).body
    assert "python -m eval demo" in page
    with pytest.raises(InputError, match="no run"):
        read_site([tmp_path], None)
