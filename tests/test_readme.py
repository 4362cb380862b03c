"""The examples of README run as written."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```", README, re.DOTALL))


def test_the_examples_are_short() -> None:
    python, yaml = EXAMPLES["recent.py"], EXAMPLES["conf/strategy/recent.yaml"]
    assert len(python.splitlines()) < 60
    assert len(yaml.splitlines()) < 10


def test_the_strategy_of_the_readme_runs_beside_ours(tmp_path: Path) -> None:
    for name, text in EXAMPLES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = "-m eval.run --config-dir conf -m strategy=vector_only,recent"
    assert command.removeprefix("-m ") in README
    small = ["dataset.conversations=[harbour]", "dataset.limit=2"]
    done = subprocess.run(
        [sys.executable, *command.split(), *small],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    table = done.stdout.split("Types 1-4, mean with 95% interval:")[1]
    assert re.search(r"^vector_only +2 ", table, re.MULTILINE)
    assert re.search(r"^recent +2 ", table, re.MULTILINE)
    assert len(list((tmp_path / "results" / "runs").glob("*_recent/records.jsonl"))) == 1
