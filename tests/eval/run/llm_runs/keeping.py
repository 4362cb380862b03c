"""A scripted model that keeps facts and takes every branch, and a conversation for it."""

import json
import re
from pathlib import Path
from typing import Any

from tests.eval.commands import Run, conversation
from tests.eval.run.llm_runs.served import Model, text_of
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.faults import calls
from tests.memsys.llm.server import Behaviour

SAID = [
    ["I like badminton.", "I love pizza.", "Mind the gap."],
    ["I do not like badminton any more.", "I also like burgers."],
    ["Yesterday I bought a kite.", "Thunder all night.", "I rowed.", "I met an owl."],
    ["I grew a fern.", "I ate a fig.", "I shut the gate.", "I still love pizza."],
]
Calls = list[tuple[str, str]]  # names of tools and their arguments, JSON
WHY = '{"why": "so it is"}'


def decision(text: str) -> Calls | Behaviour:
    """What becomes of a new fact, by a word of it."""
    fact = text.partition("<new_fact>\n")[2].partition("\n</new_fact>")[0]
    if "any more" in fact:
        (number,) = re.findall(r"(\d+)\. Ada: I like badminton", text)
        return [("DELETE", json.dumps({"id": int(number), "why": "not any more"})), ("ADD", WHY)]
    planned: dict[str, Calls | Behaviour] = {
        "kite": [("ADD", '{"why": "cut')],
        "rowed": [("FORGET", WHY)],
        "owl": [("DELETE", '{"id": 77, "why": "so it is"}')],
        "fern": [("UPDATE", '{"id": 1, "why": "so it is"}')],
        "fig": faults.says(None),
        "gate": faults.reset,
        "still": [("NOOP", WHY)],
    }
    return next((made for word, made in planned.items() if word in fact), [("ADD", WHY)])


def extraction(text: str) -> Behaviour:
    """Every new message is a fact in its own words, but of one none is made, and one is refused."""
    new = text.partition("<new_messages>")[2].partition("</new_messages>")[0]
    ((number, speaker, said),) = re.findall(r"(?m)^(\d+)\. (\w+): (.+?)\.(?: \[image: .+)?$", new)
    if "Thunder" in said:
        return faults.status(400, "no talk of thunder")
    fact = {
        "title": said.split()[-1],
        "content": said,
        "when": "yesterday" if "Yesterday" in said else "",
        "speaker": speaker,
        "turns": [int(number)],
    }
    return faults.says(json.dumps({"facts": [] if "gap" in said else [fact]}))


class Mem0Model(Model):
    """Extracts, decides and sums up; `down` is what it does instead."""

    down: Behaviour | None = None
    decide = staticmethod(decision)

    def __call__(self, body: Body) -> Behaviour | None:
        text = text_of(body)
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        if self.down:
            return self.down
        if form == "facts":
            return extraction(text)
        if "tools" in body:
            planned = self.decide(text)
            return calls(*planned) if isinstance(planned, list) else planned
        return faults.says("Ada talks.")


def written(folder: Path, said: list[list[str]], *asked: tuple[str, str]) -> tuple[str, ...]:
    """Options for a data set of what Ada `said`; a question comes with the turn that answers it."""
    qa = [
        {"question": question, "answer": "no", "evidence": [turn], "category": 4}
        for question, turn in asked
    ]
    talk = {"sample_id": "talk", "conversation": conversation(said, "Ada"), "qa": qa}
    path = folder / "talk.json"
    path.write_text(json.dumps([talk]))
    return (f"dataset.path={path}", "dataset.name=talk")


def talk(tmp_path: Path) -> tuple[str, ...]:
    """Options for a conversation of four sessions with two questions."""
    asked = [("Does Ada like badminton?", turn) for turn in ("D2:1", "D1:1")]
    own = ("strategy=mem0", "strategy.facts.exchange=1", "strategy.facts.retries=0")
    own += ("reader=extractive", "judge=none", "k=9")
    return (*own, "llm.retries=0", *written(tmp_path, SAID, *asked))


def events(run: Run, step: str | None = None) -> list[dict[str, Any]]:
    """The log of a run, of all steps or of one."""
    found = [event for line in run.ingests for event in line.get("events", [])]
    return [event for event in found if step in (None, event["step"])]


def changes(run: Run) -> list[tuple[str, str | None, str | None]]:
    """What a run did to its facts, one after another: operation, old and new text."""
    return [(one["operation"], one["old"], one["new"]) for one in events(run, "apply")]


def faults_of(run: Run) -> list[str]:
    return [event["fault"] for event in events(run) if "fault" in event]
