"""`.ci/check-cards`: a proposed card passes only if its numbers follow from its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.card import __main__ as cards
from eval.rescore import __main__ as rescore
from memsys.places import SHIPPED as PROJECT

# A verdict that the answers do not contain.
REPORTED = {"protocol": None, "type": "overall", "measure": "judge", "reported": True}
_CURL = """#!/bin/sh
echo "$@" >> "{seen}"
while [ "$1" != --output ]; do shift; done
{write}
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with answers.jsonl and its card.json, of the bundled data set."""
    folder = tmp_path_factory.mktemp("published")
    rows = [
        {"sample_id": sample["sample_id"], "qa_index": number, "answer": f"the {qa['answer']}"}
        | {"question": qa["question"]}
        for path in sorted((PROJECT / "data" / "sample").glob("*.json"))
        for sample in json.loads(path.read_text(encoding="utf-8"))
        for number, qa in enumerate(sample["qa"])
        if "answer" in qa
    ]
    answers = folder / "answers.jsonl"
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    run = str(folder / "run")
    assert rescore.main([str(answers), "--dataset", "sample", "--out", run]) == 0
    url = ("--answers-url", "https://example.org/answers.jsonl")
    assert cards.main([run, "--out", str(folder / "card.json"), *url]) == 0
    return folder


@pytest.fixture
def check(tmp_path: Path, published: Path) -> Callable[..., tuple[int, str]]:
    """Run the script on cards by name; a stand-in of curl writes the answers, or runs `write`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()

    def call(*, write: str | None = None, **proposed: dict[str, Any]) -> tuple[int, str]:
        for name, value in proposed.items():
            (tmp_path / "new" / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        curl = tmp_path / "bin" / "curl"
        copy = write or f'cp "{published}/answers.jsonl" "$2"'
        curl.write_text(_CURL.format(seen=tmp_path / "seen", write=copy))
        curl.chmod(0o755)
        path = f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        ended = subprocess.run(
            [PROJECT / ".ci" / "check-cards", tmp_path / "new", tmp_path / "old", "sample"],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=PROJECT,
            env=os.environ | {"PATH": path, "PYTHONPATH": str(PROJECT)},
        )
        return ended.returncode, ended.stdout + ended.stderr

    return call


def test_a_card_that_follows_from_its_answers_passes(check, published: Path, tmp_path: Path):
    card = json.loads((published / "card.json").read_text(encoding="utf-8"))
    code, out = check(good=card)
    assert (code, out.splitlines()[-1]) == (0, "1 cards checked, 0 refused")
    assert "numbers equal" in out
    call = (tmp_path / "seen").read_text(encoding="utf-8")
    assert call.endswith("-- https://example.org/answers.jsonl\n")
    for option in (
        "--globoff",
        "--proto =https",
        "--proto-redir =https",
        "--max-filesize 104857600",
    ):
        assert f"{option} " in call


def test_only_cards_that_are_new_or_changed_are_checked(check, published: Path, tmp_path: Path):
    card = (published / "card.json").read_text(encoding="utf-8")
    for folder in ("old", "new"):
        (tmp_path / folder / "there.json").write_text(card, encoding="utf-8")
    code, out = check()
    assert (code, out) == (0, "0 cards checked, 0 refused\n")


@pytest.mark.slow
def test_forged_cards_and_links_that_are_none_fail(check, published: Path):
    card = json.loads((published / "card.json").read_text(encoding="utf-8"))
    scores = [dict(one) for one in card["scores"]]
    scores[0]["mean"] = round(scores[0]["mean"] + 0.001, 6)
    code, out = check(
        forged=card | {"scores": scores},
        verdicts=card | {"scores": [*card["scores"], scores[0] | REPORTED]},
        http=card | {"origin": {"url": "http://example.org/a"}},
        none={name: value for name, value in card.items() if name != "origin"},
        shell=card | {"origin": {"url": "$(touch pwned)"}},
        extra=card | {"note": "unknown field"},
    )
    assert code == 1
    assert out.splitlines()[-1] == "6 cards checked, 6 refused"
    assert "on the card" in out
    assert out.count("origin.url: no https link to the answers") == 3
    assert "note: Extra inputs are not permitted" in out


@pytest.mark.parametrize(
    "write",
    [
        "exit 22",  # as of curl --fail
        'head -c 106000000 /dev/zero > "$2"',
        'echo "<html>Sign in</html>" > "$2"',
        ":",
    ],
)
def test_answers_that_cannot_be_downloaded_fail(check, published: Path, write: str):
    card = json.loads((published / "card.json").read_text(encoding="utf-8"))
    code, out = check(write=write, card=card)
    assert (code, out.splitlines()[-1]) == (1, "1 cards checked, 1 refused")
    assert "Traceback" not in out


def test_answers_of_one_card_do_not_verify_another(check, published: Path, tmp_path: Path):
    card = json.loads((published / "card.json").read_text(encoding="utf-8"))
    once = f'[ -e "{tmp_path}/once" ] && exit 22; touch "{tmp_path}/once"; '
    code, out = check(write=once + f'cp "{published}/answers.jsonl" "$2"', a=card, b=card)
    assert (code, out.splitlines()[-1]) == (1, "2 cards checked, 1 refused")
