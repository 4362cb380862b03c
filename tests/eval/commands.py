"""Runs as a user starts them, on a small data set, within this process where that will do."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import eval.run.__main__ as run
from tests.shared import made_once

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent
FAULTY = ("--config-dir", str(HERE / "faulty_conf"))
# Settings under which a run goes on to its end and succeeds unless every question fails.
PATIENT = ("failures.stop_after=null", "failures.tolerated=1")
TIMINGS = {"latency_ms", "latency_source", "waited_ms", "recorded"}


@dataclass(frozen=True)
class Ended:
    """What a command left: exit code and what it wrote on the terminal."""

    code: int
    out: str
    err: str

    def ok(self) -> Ended:
        """The same, which went well."""
        assert self.code == 0, self.err
        return self

    def refused(self, *texts: str) -> Ended:
        """The same, refused as wrong input, with all of `texts`."""
        assert self.code == 2, (self.out, self.err)
        assert [one for one in texts if one not in self.err] == [], self.err
        return self

    def one_line(self, *texts: str) -> Ended:
        """The same, refused with all of `texts` in one line."""
        assert self.err.count("\n") == 1, self.err
        return self.refused(*texts)


@dataclass(frozen=True)
class Run:
    """A run's folder, read."""

    folder: Path
    ended: Ended | None = None

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Those of a file, read."""
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    @property
    def records(self) -> list[dict[str, Any]]:
        return self.lines("records.jsonl")

    @property
    def untimed(self) -> list[dict[str, Any]]:
        return [{k: v for k, v in r.items() if k not in TIMINGS} for r in self.records]

    @property
    def ingests(self) -> list[dict[str, Any]]:
        return self.lines("ingest.jsonl")

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    @property
    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}


def untimed_cells(run: Run) -> dict[str, Any]:
    """The cells of a run's summary without latencies."""
    return {
        name: {column: value for column, value in cell.items() if "_ms_" not in column}
        for name, cell in run.summary["by_type"].items()
    }


def run_main(folder: Path, cache: Path, *arguments: str) -> Ended:
    """`python -m eval.run ARGUMENTS` in `folder`, within this process; of a setting that is given
    several times, as in additions to shared arguments, the last one counts.
    """
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["eval.run", *last_of_each(arguments)])
        patch.setenv("MEMSYS_CACHE", str(cache))
        patch.setenv("HYDRA_FULL_ERROR", "0")  # the run sets it: put it back afterwards
        patch.delitem(sys.modules, "ipykernel", raising=False)  # of another test: bars are shown
        patch.chdir(folder)
        code = 0
        try:
            code = run.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        except Exception as error:  # the interpreter would print it and leave with 1
            print(repr(error), file=sys.stderr)
            code = 1
    return Ended(code, out.getvalue(), err.getvalue())


def last_of_each(arguments: Iterable[str]) -> list[str]:
    """The arguments without those settings that are given again later."""
    last: dict[str, str] = {}
    for argument in arguments:
        name = argument.partition("=")[0].lstrip("+")
        last.pop(name, None)
        last[name] = argument
    return list(last.values())


def runs_in(folder: Path) -> list[Run]:
    """The runs under results/runs, in the order of their names."""
    found = folder / "results" / "runs"
    if not found.exists():
        return []
    return [Run(path) for path in sorted(found.iterdir()) if path.is_dir()]


def run_once(factory: pytest.TempPathFactory, cache: Path, name: str, *arguments: str) -> Run:
    """The complete run of `python -m eval.run ARGUMENTS`, made once a session for all workers
    under this `name`: read only.
    """

    def make(folder: Path) -> None:
        ended = run_main(folder, cache, *arguments).ok()
        (folder / "ended.json").write_text(json.dumps(asdict(ended)), encoding="utf-8")

    folder = made_once(factory, name, make)
    (run,) = runs_in(folder)
    return Run(run.folder, Ended(**json.loads((folder / "ended.json").read_text("utf-8"))))


Start = Callable[..., Ended]
Said = Callable[..., str]


def conversation(said: list[list[str]], *speakers: str) -> dict[str, Any]:
    """LoCoMo's form of what `speakers` said, in turns, session by session."""
    found: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for number, texts in enumerate(said, 1):
        found[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        found[f"session_{number}"] = [
            {"dia_id": f"D{number}:{i}", "speaker": speaker, "text": text}
            for i, (speaker, text) in enumerate(zip(cycle(speakers), texts), 1)
        ]
    return found


def small_sample(name: str) -> dict[str, Any]:
    """A conversation whose questions are of the types 1, 2, 3, 4, 5, 4, 1."""
    said = [
        [f"I play the flute in {name} hall.", "I keep nine bees there.", f"My boat is a {name}."],
        [f"The thunder of {name} woke me.", "I bought a red kite.", "Mine is a blue kayak."],
    ]
    asked = [
        ("What does Ada keep or play?", "flute", ["D1:1", "D1:2"], 1),
        ("When did Ada buy the red kite?", "2 May 2023", ["D2:2"], 2),
        ("Would Bo like to fly a kite?", "yes", ["D2:2"], 3),
        (f"Where does Ada play the flute with {name}?", f"in {name} hall", ["D1:1"], 4),
        ("What colour is Bo's tractor?", None, ["D2:3"], 5),
        ("How many bees does Bo keep?", "nine", ["D1:2"], 4),
        ("Which boats are there?", "a kayak", ["D1:3", "D2:3"], 1),
    ]
    qa = [
        {"question": text, "evidence": evidence, "category": category}
        | ({"adversarial_answer": "blue"} if answer is None else {"answer": answer})
        for text, answer, evidence, category in asked
    ]
    return {"sample_id": name, "conversation": conversation(said, "Ada", "Bo"), "qa": qa}
