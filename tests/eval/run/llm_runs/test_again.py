"""A part of a run again: nothing that did not change is asked, paid for or timed anew."""

import json
from typing import Any

from eval.records.run import load_run
from tests.eval.commands import Run, run_main
from tests.eval.factory import hashed
from tests.eval.run.llm_runs.served import JUDGED, MIDDLE, MIDDLE_WORDS, Bench, role_of
from tests.memsys.llm.faults import status

RETRIEVED = ("retrieved", "k", "context_tokens", "context_sha256", "evidence_found", "trace")
OF_JUDGE = {"judge", "judge_error", "judge_reasons"}


def again(bench: Bench, *arguments: str, name: str = "new", code: int = 0) -> Run:
    """Repeat a part of the bench's run in a new folder, against the same server."""
    folder = bench.folder / name
    command = (f"from={bench.run.folder}", f"hydra.run.dir={folder}", *arguments)
    ended = run_main(bench.folder, bench.cache, *command)
    assert ended.code == code, ended.err
    return Run(folder, ended)


def asked(bench: Bench, since: int) -> list[str]:
    """Who asked the server since its request number `since`."""
    return [role_of(body) for body in bench.server.bodies[since:]]


def without_judge(record: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in record.items() if name not in OF_JUDGE}
    for name in ("usage", "latency_ms", "waited_ms", "scores"):
        kept[name] = {part: v for part, v in record[name].items() if part != "judge"}
    return kept


def test_stored_answers_are_judged_anew(parent):
    before, old = parent.server.requests, parent.run
    new = again(parent, "judge=llm", "judge.rubric=strict")
    assert set(asked(parent, before)) == {"judge"}
    assert [without_judge(r) for r in new.records] == [without_judge(r) for r in old.records]
    assert {key for r in new.records for key in r["judge"] or {}} == {"gpt-4o-mini, strict"}
    assert sum("judge" in r["scores"] for r in new.records) == JUDGED
    assert new.manifest["parent"] == {
        "run_id": "run",
        "config_sha256": old.manifest["config_sha256"],
        "again": "judge",
    }
    assert new.ingests == old.ingests
    paid = (new.folder / "paid.jsonl").read_text().splitlines()
    assert len(paid) == parent.server.requests - before  # equal requests are sent once


def test_an_interrupted_repetition_is_resumed(parent):
    parent.model.break_down(status(401), "judge", MIDDLE_WORDS)
    new = again(parent, "judge=llm", "judge.rubric=strict", code=2)
    assert new.manifest["status"] == "interrupted"
    assert load_run(new.folder, complete=False).records.keys() == {r["id"] for r in new.records}
    parent.model.recover()
    before = parent.server.requests
    new = again(parent, "judge=llm", "judge.rubric=strict", "resume=new")
    assert set(asked(parent, before)) == {"judge"}
    assert parent.server.requests - before < JUDGED
    assert sum("judge" in r["scores"] for r in new.records) == JUDGED


def test_stored_contexts_are_read_anew(bench):
    assert bench.start("judge=none").code == 0
    before = bench.server.requests
    url = f"llm.base_url={bench.server.base_url}"
    new = again(bench, "llm=openai", "llm.model=another", url)
    assert set(asked(bench, before)) == {"answer"}
    for old, record in zip(bench.run.records, new.records, strict=True):
        assert {name: record[name] for name in RETRIEVED} == {name: old[name] for name in RETRIEVED}
        assert record["latency_ms"]["retrieve"] == old["latency_ms"]["retrieve"]
        assert record["scores"]["evidence_recall"] == old["scores"]["evidence_recall"]
        assert list(record["usage"]["answer"]["by_model"]) == ["another"]
    contexts = (bench.run.folder / "contexts.jsonl").read_text()
    assert (new.folder / "contexts.jsonl").read_text() == contexts
    prompts = [str(body["messages"]) for body in bench.server.bodies]
    assert prompts[before:] == prompts[:before]


def test_failed_questions_alone_are_asked_again(bench):
    bench.model.break_down(status(400), "answer", MIDDLE_WORDS)
    assert bench.start().code == 0
    assert list(bench.errors()) == [MIDDLE]
    bench.model.recover()
    before = bench.server.requests
    new = again(bench, "only=failed")
    assert sorted(asked(bench, before)) == ["answer", "judge"]
    assert len(new.records) == 21
    assert not [r for r in new.records if r["status"] == "error"]
    kept = [r for r in bench.run.records if r["id"] != MIDDLE]
    assert [r for r in new.records if r["id"] != MIDDLE] == kept
    assert bench.errors()  # the parent is unchanged
    contexts = [json.loads(line) for line in (new.folder / "contexts.jsonl").open()]
    assert {r["context_sha256"] for r in new.records} <= {one["sha256"] for one in contexts}


def test_questions_are_asked_by_id(bench):
    assert bench.start("only=[beech/3,ash/0]").code == 0
    assert [r["id"] for r in bench.run.records] == ["ash/0", "beech/3"]
    assert {line["conversation"] for line in bench.run.ingests} == {"ash", "beech"}
    before = bench.server.requests
    new = again(bench, "judge=llm", "judge.runs=2", "only=beech/3")
    assert [r["id"] for r in new.records] == ["beech/3"]
    assert set(asked(bench, before)) == {"judge"}
    new = again(bench, "judge=llm", "only=ash/1", name="none", code=2)
    new.ended.one_line("the run did not ask ash/1")
    assert not new.folder.exists()
    new = again(bench, "judge=llm", "judge.runs=3", name="whole")
    assert [r["id"] for r in new.records] == ["ash/0", "beech/3"]
    new = again(bench, "only=failed", name="failed")
    assert [r["id"] for r in new.records] == ["ash/0", "beech/3"]


def test_the_command_names_the_parent_by_its_id(parent):
    runs = parent.folder / "results/runs"
    runs.mkdir(parents=True)
    parent.run.folder.rename(runs / "parent")
    command = ("from=last", "judge=llm", "judge.runs=2", "only=ash/0")
    folder = parent.folder / "new"
    run_main(parent.folder, parent.cache, *command, f"hydra.run.dir={folder}").ok()
    words = Run(folder).manifest["command"].split()
    assert "from=parent" in words
    assert "from=last" not in words


def test_what_cannot_be_repeated_is_refused(parent):
    for arguments, words in (
        (("judge=llm", "strategy=bm25"), "strategy is set, but retrieval is not repeated"),
        ((), "nothing to do again"),
        (("only=failed", "judge=llm"), "only=failed asks again as the run did, but judge is set"),
        (("reader=extractive",), "reads memories, and a run stores contexts"),
        (("only=ash/99", "judge=llm"), "only=ash/99: small has no such question; one is ash/"),
    ):
        new = again(parent, *arguments, code=2)
        new.ended.one_line(words)
        assert not new.folder.exists()
    parent.start("only=failed").refused("only=failed: of which run? add from=RUN")


def test_a_foreign_class_in_the_parent_is_never_built(parent, tmp_path):
    canary = tmp_path / "canary"
    path = parent.run.folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["config"]["embedder"] = {"_target_": "os.system", "command": f"touch {canary}"}
    path.write_text(json.dumps(hashed(manifest)))
    new = again(parent, "judge=llm", "judge.rubric=strict", code=2)
    assert "os.system is not trusted" in new.ended.err
    assert not canary.exists()
