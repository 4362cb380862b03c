"""Runs over memories that somebody else wrote, and over chunks, which not every strategy takes."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval.analyse.cost.__main__ import main as cost
from eval.analyse.retrieval.__main__ import main as retrieval
from eval.datasets.files import load_sources, read_memories, shared_folder
from eval.datasets.locomo import LoCoMo
from memsys.core.tokens import count_tokens
from tests.eval.commands import Run, run_once, runs_in

PARAGRAPHS = ["Ada plays the flute.", "On 2 May 2023 Ada\nbought a red kite.", "Bo has nine bees."]
TEXT = "\n\n".join(PARAGRAPHS) + "\n"


def written(folder: Path, names: Sequence[str]) -> str:
    for name in names:
        (folder / name).write_text(TEXT.replace("flute", f"flute of {name}"), "utf-8")
    return f"strategy.path={folder}"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Run:
    """A run whose files are named by the place in the data set's file, and one by its id."""
    place = written(tmp_path_factory.mktemp("written"), ["0.txt", "1.txt", "cedar.txt"])
    chosen = ("dataset.conversations=[beech,cedar]", "strategy=given", place)
    return run_once(tmp_path_factory, cache, "given", *small, *chosen)


def test_the_reader_gets_the_whole_file_and_evidence_and_cost_are_unknown_not_0(
    given, said, refused
):
    contexts = (given.folder / "contexts.jsonl").read_text("utf-8")
    assert contexts.count("flute of") == 2
    assert "flute of 1.txt" in contexts  # beech, although ash is left out
    assert "flute of cedar.txt" in contexts
    text = "\n".join(PARAGRAPHS).replace("flute", "flute of 1.txt") + "\n"
    first = given.records[0]
    assert (first["conversation"], first["k"]) == ("beech", 3)
    assert first["context_tokens"] == count_tokens(text)
    assert first["context_sha256"] == hashlib.sha256(text.encode()).hexdigest()

    for one in given.records:
        assert one["retrieved"] is one["evidence_found"] is None
        assert one["scores"]["evidence_recall"] is one["scores"]["recall@10"] is None
    assert given.summary["by_type"]["overall"]["f1"] is not None
    assert {line["usage"] for line in given.ingests if line["phase"] == "ingest"} == {None}
    assert given.manifest["retrieval"] is None
    assert [one["name"] for one in given.manifest["memories"]] == ["1.txt", "cedar.txt"]
    shown = said(cost, "--wide", "--writing", given.folder)
    rows = dict(line.rsplit(None, 1) for line in shown.splitlines() if line.count("  ") > 1)
    assert rows["$ a conversation"] == rows["seconds a conversation"] == "unknown"
    assert rows["memories stored, a conversation"] == "3.0"
    assert refused(retrieval, given.folder).endswith("no rankings are recorded")


def test_with_k_the_best_by_cosine_are_read(made, tmp_path):
    place = written(tmp_path, ["0.txt", "1.txt", "2.txt"])
    run = made("strategy=given", place, "strategy.k=1", "reader=none")
    assert {one["k"] for one in run.records} == {1}
    assert "Nobody answered the questions.\n" in (run.folder / "report.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["0.txt", "1.txt"], "no memories of cedar: put cedar.txt or 2.txt there"),
        (["0.txt", "1.txt", "2.txt", "empty"], "2.txt: is empty; write a memory a paragraph"),
    ],
)
def test_a_missing_or_empty_file_is_named_before_the_run(names, message, start, small, tmp_path):
    place = written(tmp_path, names)
    if "empty" in names:
        (tmp_path / "2.txt").write_text(" \n")
    ended = start(*small, "strategy=given", place)
    assert (ended.code, runs_in(tmp_path)) == (2, [])
    assert message in ended.err


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("strategy=given",), "strategy.path: null stands for memories of LoCoMo, and dataset=sm"),
        (("strategy=mcp", "memory=chunks"), "memory=chunks go on from session to session; use me"),
    ],
)
def test_what_does_not_go_together_is_refused(start, small, chosen, message):
    start(*small, *chosen).refused(message)


@pytest.mark.skipif(
    not (shared_folder() / "openai_memories").is_dir(), reason="OpenAI's memories are not here"
)
def test_the_published_memories_have_the_tokens_of_the_papers_table():
    dataset = LoCoMo(
        name="locomo", types=["multi_hop", "temporal", "open_domain", "single_hop"]
    ).load()
    texts, files = read_memories(None, dataset)
    pins = load_sources()["openai_memories"].parts
    assert [file.sha256 for file in files] == [pins[file.name].sha256 for file in files]
    tokens = [count_tokens(texts[one.conversation]) for one in dataset.questions]
    assert round(sum(tokens) / len(tokens)) == 4393  # cl100k in the paper: 4,437
