"""The shipped runs: small, of this sample, without a path of a machine; and their pages."""

import platform
import re

from eval.pages.browse.server import PageServer
from eval.pages.demo import __main__ as demo
from eval.pages.demo.__main__ import DEMO, main, unpack_runs
from eval.pages.report.runs import load


def test_the_runs_are_of_the_present_sample_and_small_and_name_no_machine(tmp_path):
    runs = load([str(folder) for folder in unpack_runs(tmp_path)])
    labels = [run.label for run in runs]
    assert labels == ["vector_only", "graph_walk", "fusion", "oracle", "no_memory"]
    reasons = [run.without_texts for run in runs]
    assert reasons == [None] * 5, "make them again: docs/analysis.md has the commands"
    scores = {run.label: run.overall["f1"] for run in runs}
    assert scores["no_memory"] < scores["vector_only"] < scores["oracle"]
    assert all(run.manifest["command"].startswith("python -m eval.run strategy=") for run in runs)
    files = [path for path in DEMO.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1_000_000
    assert {path.parent.parent for path in files} == {DEMO}
    for run in runs:
        for path in run.folder.iterdir():
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/(?:tmp|home|root|work|Users)\b/", text), path
            assert platform.node() not in text or len(platform.node()) < 4, path


def test_the_pages_are_written_to_a_folder(tmp_path, said):
    assert "6 pages" in said(main, "--out", tmp_path / "pages")
    page = (tmp_path / "pages" / "index.html").read_text(encoding="utf-8")
    assert "vector_only, graph_walk, fusion, oracle, no_memory on sample" in page
    assert "python -m eval browse" in page


def test_it_serves_until_ctrl_c_and_leaves_nothing(tmp_path, monkeypatch, said):
    opened: list[str] = []

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", stop)
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for option in ("--no-open", "--open"):
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", said(main, "--port", "0", option))
        assert opened == [address] * (option == "--open")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(demo, "DEMO", tmp_path)  # of an installation without them
    (line,) = said(main, code=2).splitlines()
    assert "holds no runs" in line
