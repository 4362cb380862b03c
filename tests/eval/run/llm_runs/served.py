"""Runs that ask a loopback server, which a test may make misbehave at any time; a scripted model
that keeps facts and takes every branch, and a conversation for it.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.exchange.cache import __main__ as cache
from tests.eval.commands import PATIENT, Ended, Run, conversation, last_of_each, run_main
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.faults import calls
from tests.memsys.llm.server import Behaviour, FaultyServer

MODELS = ("strategy=bm25", "llm=openai", "reader=llm", "judge=llm")
JUDGED = 18  # of the 21 questions: three are adversarial
MIDDLE, MIDDLE_WORDS = "beech/3", "flute with beech"


def text_of(body: dict[str, Any]) -> str:
    """What a chat request says."""
    return "\n".join(str(message["content"]) for message in body["messages"])


def role_of(body: dict[str, Any]) -> str:
    """Who asks: answer, judge, or gate."""
    if "response_format" not in body:
        return "answer"
    schema = body["response_format"]["json_schema"]["schema"]
    return "judge" if "verdict" in schema["properties"] else "gate"


class Model:
    """A server's script: it answers, and passes one answer in two; `fault` is what it does to the
    requests of `role` (see role_of) that hold `words`, so often as `times` says.
    """

    def __init__(self) -> None:
        self.fault: Behaviour | None = None
        self.role, self.words, self.times = "answer", "", 10**6

    def break_down(
        self, fault: Behaviour, role: str = "answer", words: str = "", times: int = 10**6
    ) -> None:
        """From now on."""
        self.fault, self.role, self.words, self.times = fault, role, words, times

    def recover(self) -> None:
        """From now on."""
        self.fault = None

    def __call__(self, body: dict[str, Any]) -> Behaviour | None:
        role = role_of(body)
        if self.fault and self.times and role == self.role and self.words in text_of(body):
            self.times -= 1
            return self.fault
        if role == "judge":
            odd = hashlib.sha256(text_of(body).encode()).digest()[0] % 2
            verdict = "WRONG" if odd else "CORRECT"
            return faults.says(json.dumps({"reason": "so it is", "verdict": verdict}))
        return None


@dataclass
class Bench:
    """One folder, one cache and one server; `start` runs a command there. `patient`: see PATIENT
    of tests.eval.commands.
    """

    folder: Path
    cache: Path
    server: FaultyServer
    model: Model
    options: tuple[str, ...]
    patient: bool = True

    @property
    def run(self) -> Run:
        """The run, which every command of this bench begins or goes on with."""
        return Run(self.folder / "run")

    def command(self, *arguments: str, resume: bool = False) -> list[str]:
        """The arguments of eval.run; later ones win over the bench's own."""
        command = [*MODELS, *(PATIENT if self.patient else ()), *self.options]
        command += [f"llm.base_url={self.server.base_url}", f"hydra.run.dir={self.run.folder}"]
        command += ["resume=run"] if resume else []
        return last_of_each([*command, *arguments])

    def start(self, *arguments: str, resume: bool = False) -> Ended:
        """Begin the run, or go on with it, in this process."""
        return run_main(self.folder, self.cache, *self.command(*arguments, resume=resume))

    @property
    def bundle(self) -> Path:
        """Where `export` writes."""
        return self.folder / "bundle.jsonl.gz"

    def export(self) -> bytes:
        """Write the bundle of the run, and return it."""
        out = ["--out", str(self.bundle), "--cache", str(self.cache)]
        assert cache.main(["export", str(self.run.folder), *out]) == 0
        return self.bundle.read_bytes()

    def done(self) -> int:
        """How many questions have been recorded."""
        path = self.run.folder / "records.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def errors(self) -> dict[str, dict[str, str]]:
        """What failed, by question: its answer or its judge."""
        failures = {r["id"]: r["error"] or r["judge_error"] for r in self.run.records}
        return {id_: failure for id_, failure in failures.items() if failure}


Scripted = Callable[[Model], Bench]


def requests_of(run: Run) -> int:
    """How many different requests a run made: equal ones are sent once."""
    lines = (run.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    return len({json.loads(line)["key"] for line in lines})


def files_with(folder: Path, secret: str) -> tuple[int, list[str]]:
    """How many files lie under `folder`, and those that hold `secret`, packed or not."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return len(paths), [str(p) for p in paths if secret.encode() in _unpacked(p.read_bytes())]


def _unpacked(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


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
