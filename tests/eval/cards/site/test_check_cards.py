"""`.ci/check-cards`: a proposed card passes only if its numbers follow from its files."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eval.cards.card import __main__ as cards
from eval.imports.rescore import __main__ as rescore
from eval.records.files import write_lines
from memsys.core.places import SHIPPED as PROJECT
from tests.eval.sample import sample_answers

_SITE = "https://example.org"
# A verdict that the answers do not contain.
REPORTED = {"protocol": None, "type": "overall", "measure": "judge", "reported": True}
# A stand-in of curl, which writes what the name in the link stands for.
_CURL = """#!/bin/sh
echo "$@" >> "{seen}"
while [ "$1" != --output ]; do shift; done
case "$4" in
  */answers.jsonl) cp "{answers}" "$2" ;;
  */large) head -c 106000000 /dev/zero > "$2" ;;
  */page) echo "<html>Sign in</html>" > "$2" ;;
  */nothing) ;;
  *) exit 22 ;; # as of curl --fail
esac
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with answers.jsonl and its card.json, of the bundled data set."""
    folder = tmp_path_factory.mktemp("published")
    answers = folder / "answers.jsonl"
    rows = sample_answers()
    write_lines(answers, [row | {"prediction": f"the {row['prediction']}"} for row in rows])
    run = str(folder / "run")
    assert rescore.main([str(answers), "--dataset", "sample", "--out", run]) == 0
    url = ("--answers-url", f"{_SITE}/answers.jsonl")
    assert cards.main([run, "--out", str(folder / "card.json"), *url]) == 0
    return folder


def check(folder: Path, published: Path, **proposed: dict[str, Any]) -> tuple[int, str]:
    """Run the script on the cards in new/, `proposed` ones by name among them, against old/."""
    for name in ("bin", "old", "new"):
        (folder / name).mkdir(exist_ok=True)
    for name, value in proposed.items():
        (folder / "new" / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    curl = folder / "bin" / "curl"
    curl.write_text(_CURL.format(seen=folder / "seen", answers=published / "answers.jsonl"))
    curl.chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        [PROJECT / ".ci" / "check-cards", folder / "new", folder / "old", "sample"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=PROJECT,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(PROJECT)},
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_a_card_that_follows_from_its_answers_passes_and_no_other_does(published, tmp_path):
    card = json.loads((published / "card.json").read_text(encoding="utf-8"))
    scores = [dict(one) for one in card["scores"]]
    scores[0]["mean"] = round(scores[0]["mean"] + 0.001, 6)
    # In the order of names: what was downloaded for the first card is not there for the next.
    others = {"b_nothing": f"{_SITE}/nothing", "d_page": f"{_SITE}/page"}
    not_found = {f"c_{name}": f"{_SITE}/{name}" for name in ("missing", "large")}
    no_links = {"http": "http://example.org/a", "shell": "$(touch pwned)"}
    links = not_found | others | no_links
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "there.json").write_text("a card that is there already")
    code, out = check(
        tmp_path,
        published,
        a_forged=card | {"scores": scores},
        good=card,
        no_origin={name: value for name, value in card.items() if name != "origin"},
        verdicts=card | {"scores": [*card["scores"], scores[0] | REPORTED]},
        **{name: card | {"origin": {"url": url}} for name, url in links.items()},
    )
    assert (code, out.splitlines()[-1]) == (1, "10 cards checked, 9 refused")
    assert "Traceback" not in out
    parts = (part.partition(".json\n") for part in out.split("== ")[1:])
    outputs = {name: text for name, _, text in parts}
    assert "numbers equal" in outputs["good"]
    call = (tmp_path / "seen").read_text(encoding="utf-8").splitlines()[0]
    assert call.endswith(f"-- {_SITE}/answers.jsonl")
    limits = ("--proto =https", "--proto-redir =https", "--max-filesize 104857600")
    for option in ("--globoff", *limits):
        assert f"{option} " in call
    assert ": mean: " in outputs["a_forged"]
    assert "judge: on the card, and does not follow" in outputs["verdicts"]
    for name in not_found:
        assert "origin.url: the answers cannot be downloaded" in outputs[name]
    for name in ("no_origin", *no_links):
        assert "origin.url: no https link to the answers" in outputs[name]
    for name in others:
        assert "answers" in outputs[name]
