"""Runs and a data set written by hand, with words that try to break out of a page, and its tags."""

import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eval.pages.report.runs import ReportedRun, load
from tests.eval import factory
from tests.eval.commands import conversation

HOSTILE = "</td></details></script><script>alert(1)</script><img src=x onerror=alert(2)>"
MARKED = "![p](http://bad.example/p.png) | `a` **b** <b>c</b>\n# d"
CONVERSATIONS = ("ash", "beech", "cedar")


def data_file(path: Path) -> Path:
    """Three conversations of six turns each; a turn says its id, the first of each is hostile."""
    samples = []
    for name in CONVERSATIONS:
        said = [[f"said D{n}:{turn} {name} {HOSTILE}" for turn in (1, 2, 3)] for n in (1, 2)]
        qa = [{"question": "What?", "answer": "it", "evidence": ["D1:1"], "category": 4}]
        samples.append({"sample_id": name, "conversation": conversation(said, "Ada"), "qa": qa})
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def record(id_: str, category: int = 4, f1: float = 0.0, **more: Any) -> dict[str, Any]:
    """A record that found D1:1 directly and D2:1 by expansion, of evidence D1:1 and D1:3."""
    names = ("locomo_f1", "mem0_f1", "memos_f1", "strict_f1", "bleu1")
    scores: dict[str, float | None] = dict.fromkeys(names, f1)
    scores |= {"evidence_recall": 0.5, "evidence_hit": 1.0, "judge": None}
    step = {"memory": "D2:1", "seed": "D1:1", "via": "e:said", "score": 0.4}
    fields = {
        **{"question": f"What of {id_}? {HOSTILE}", "answer": f"answer {id_} {HOSTILE}"},
        **{"gold": None if category == 5 else f"gold {MARKED}", "k": 2},
        "retrieved": [["D1:1", ["D1:1"], 0.5, "direct"], ["D2:1", ["D2:1"], 0.4, "expanded"]],
        **{"evidence": ["D1:1", "D1:3"], "evidence_found": {"direct": ["D1:1"], "expanded": []}},
        **{"scores": scores, "trace": {"expansion": [step]}},
    }
    return factory.record(id_, category, **{**fields, **more})


def records(shift: float = 0.0, **more: Any) -> list[dict[str, Any]]:
    """Ten questions a conversation, two of each type; F1 of the n-th is n / 20 + `shift`."""
    return [
        record(f"{name}/{n}", n % 5 + 1, round(n / 20 + shift, 4), **more)
        for name in CONVERSATIONS
        for n in range(10)
    ]


def write_run(
    folder: Path, rows: list[dict[str, Any]], strategy: str, read: Path, **more: Any
) -> Path:
    """A finished run's folder."""
    source = read.read_bytes()
    file = {"name": read.name, "bytes": len(source), "sha256": hashlib.sha256(source).hexdigest()}
    config = {
        "dataset": {
            **{"_target_": "eval.datasets.locomo.LoCoMo", "name": "made", "path": str(read)},
            **{"key": "original", "key_file": None},
        },
        "memory": {"_target_": "memsys.knowledge.memory.turns.Turns", "name": "turns"},
        "strategy": {"_target_": strategy, "k": 2},
    }
    fields = {
        **{"dataset": "made", "data": [file], "config": config},
        **{"warnings": [HOSTILE], "command": f"run {HOSTILE}", **more},
    }
    return factory.write_run(folder, rows, strategy, **fields)


def made(*folders: Path) -> list[ReportedRun]:
    return load([str(folder) for folder in folders])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_file(tmp_path / "made.json")


@pytest.fixture
def first(tmp_path: Path, data: Path) -> Path:
    return write_run(tmp_path / "first", records(), "plain", data)


@pytest.fixture
def second(tmp_path: Path, data: Path) -> Path:
    """A run that scores .1 more than the first on every question."""
    return write_run(tmp_path / "second", records(0.1), "better<i>", data)


_VOID = {"meta", "link", "br", "wbr", "circle", "rect", "polygon", "line", "path", "input"}


class Parsed(HTMLParser):
    """Tags with their attributes, and text of a page; `open`: tags that are not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words, self.open = "", list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.found]

    @property
    def attributes(self) -> list[tuple[str, str | None]]:
        return [pair for _, attributes in self.found for pair in attributes.items()]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]
