"""`python -m eval.studies` lists every study and runs one by name."""

from __future__ import annotations

import sys

from eval.cli import commands
from eval.studies.__main__ import main


def test_every_study_is_listed_with_a_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["python -m eval.studies"])
    assert main() == 0
    listed = capsys.readouterr().out
    studies = commands("eval.studies")
    assert {"bench", "bench_scale", "lite", "published", "standin", "truth"} <= studies.keys()
    assert all(f"  {name}" in listed and line in listed for name, line in studies.items())
    assert all(len(line) < 80 for line in studies.values())
