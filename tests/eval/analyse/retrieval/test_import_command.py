"""`python -m eval retrieval FILE`: a ranking of another system becomes a run without answers."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.analyse.retrieval.__main__ import main
from eval.exchange.export.__main__ import main as export
from eval.imports.rescore.__main__ import main as rescore
from eval.metrics.retrieval.registry import all_measures, parse
from eval.records.files import read_lines
from eval.records.run import Run, load_run
from eval.records.schema import MEMORY_LINE, RANKING_LINE, RECORD
from eval.summary.retrieval import unknown, value, values
from memsys.core.tokens import count_tokens
from tests.eval.analyse.retrieval.conftest import QUESTIONS

Import = Callable[..., str]


@pytest.fixture
def score(
    tmp_path: Path, trees: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Import:
    """Import a file; the run folder is tmp_path / "run" unless another one is named."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, to: str = "run", at: int = 2, code: int = 0) -> str:
        options = ("--dataset", trees, "--at", at, "--run-folder", tmp_path / to)
        assert main(list(map(str, (*arguments, *options)))) == code
        out, err = capsys.readouterr()
        assert bool(err) == (code == 2), err
        return err or out

    return call


@pytest.fixture
def ranked(all_turns: list[str]) -> dict[str, list[tuple[str, float]]]:
    """A ranking of each question, with scores."""
    ids = [f"{name}/{index}" for name, asked in QUESTIONS.items() for index in range(len(asked))]
    return {
        id_: [(turn, 1 / (1 + place)) for place, turn in enumerate(all_turns[shift : shift + 6])]
        for shift, id_ in enumerate(ids)
    }


def values_of(run: Run, *asked: str) -> list[float | None]:
    """Values of questions, each as `QUESTION MEASURE`."""
    pairs = [one.split() for one in asked]
    return [value(run, id_, parse(measure)) for id_, measure in pairs]


def test_ids_without_scores_get_their_rank_from_the_end(score, write, ranked, tmp_path):
    score(write({id_: [turn for turn, _ in ids] for id_, ids in ranked.items()}, "theirs.json"))
    lines = read_lines(tmp_path / "run" / "rankings.jsonl", schema=RANKING_LINE)
    scores = [[value for _, value in line["ranking"]] for line in lines]
    assert scores == [[6, 5, 4, 3, 2, 1]] * len(ranked)


def test_a_ranking_becomes_a_run_without_answers(score, write, ranked, tmp_path):
    out = score(write(ranked, "theirs.json"))
    run = load_run(tmp_path / "run")
    manifest = run.manifest
    assert (manifest["kind"], manifest["status"]) == ("imported", "complete")
    assert (run.strategy, manifest["dataset"]) == ("theirs", "trees")
    assert [manifest["retrieval"][name] for name in ("depth", "unit")] == [6, "turn"]
    assert manifest["stores"]["fir"] == {"turns": 12, "sessions": 3}
    for name, schema in {
        "records": RECORD,
        "rankings": RANKING_LINE,
        "memories": MEMORY_LINE,
    }.items():
        assert list(read_lines(tmp_path / "run" / f"{name}.jsonl", schema=schema))
    record = run.records["ash/0"]
    assert (record["status"], record["answer"], record["retrieved"]) == ("ok", None, None)
    assert run.rankings["ash/0"].memories == tuple(ranked["ash/0"])
    assert run.rankings["ash/0"].turns.tokens[0] == count_tokens("Ada: ash 1 1")
    assert values_of(run, "ash/1 recall@2", "fir/1 session_recall_any@1") == [0.5, 0]
    assert "Rankings of turns for 7 of 7 questions of trees." in out
    assert "Rankings have 6 ids: cutoffs beyond 6 are unknown." in out
    assert "recall@2" in out
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "- Rankings of turns for 7 of 7" in report


def test_the_way_out_and_back_changes_no_score(score, write, ranked, tmp_path):
    """Exported as TREC, shuffled, gzipped, and read again."""
    score(write(ranked))
    assert export([str(tmp_path / "run"), "--to", "trec", "--out", str(tmp_path / "trec")]) == 0
    lines = (tmp_path / "trec" / "run.trec").read_text(encoding="utf-8").splitlines()
    shuffled = sorted(lines, key=lambda line: line.split()[2:5][::-1])
    assert shuffled != lines
    path = tmp_path / "back.trec.gz"
    path.write_bytes(gzip.compress("\n".join(shuffled).encode()))
    score(path, to="back")
    first, second = load_run(tmp_path / "run"), load_run(tmp_path / "back")
    known = [one for one in all_measures() if str(one) not in unknown(first, all_measures())]
    assert values(first, known) == values(second, known)
    assert {"recall@5", "session_ndcg@3", "mrr", "map"} <= set(map(str, known))
    scores = [{id_: one["scores"] for id_, one in run.records.items()} for run in (first, second)]
    assert scores[0] == scores[1]


def test_sessions_are_scored_as_sessions(score, write, tmp_path):
    rows = [
        {"question": "Who left?", "results": [{"session_id": "session_3"}, {"session_id": "D2"}]},
        {"question": "When?", "results": [{"session_id": "D1"}, {"session_id": "ash:D2"}]},
    ]
    out = score(write("".join(json.dumps(row) + "\n" for row in rows)))
    assert "Unit session" in out
    run = load_run(tmp_path / "run")
    assert values_of(run, "ash/1 session_recall@2", "ash/2 session_mrr") == [0.5, 0.5]
    path = write([{"id": "ash/2", "docs": ["D1", "D2"]}])
    message = score(path, "--unit", "turn", to="other", code=2)
    assert "whole sessions were ranked, not turns" in message
    assert not (tmp_path / "other").exists()


def test_a_pooled_ranking_is_scored_among_all_turns(score, write, tmp_path):
    out = score(write({"ash/0": ["fir:D1:1", "ash:D1:1"], "fir/0": ["fir:D2:2", "fir:D1:1"]}))
    assert "Pooled: 1 of 4 ids are of other conversations" in out
    assert "all 24 turns" in out
    run = load_run(tmp_path / "run")
    assert run.manifest["stores"] == {"pooled": {"turns": 24, "sessions": 6}}
    assert {one.store for one in run.rankings.values()} == {"pooled"}
    asked = ("ash/0 mrr", "fir/0 mrr", "ash/0 store_share@2", "ash/0 session_recall@2")
    assert values_of(run, *asked) == [0.5, 1, 2 / 24, 1]
    assert run.manifest["config"]["dataset"]["pooled"] is True


def test_what_is_not_scored_is_counted_and_listed(score, write, tmp_path):
    rows = [
        {"id": "ash/0", "ids": ["D1:1", "D1:2"]},
        {"id": "ash/0", "ids": ["D2:1", "D2:2"]},
        {"id": "ash/1", "ids": []},
        {"id": "oak/0", "ids": ["D1:1"]},
        {"question": "Who came?", "ids": ["D1:1"]},
        {"id": "fir/0", "ids": ["D2:2", "D2:1"]},
    ]
    assert "only 3 of 6 rankings are of a question of trees" in score(write(rows), code=2)
    out = score(write(rows), "--partial")
    run = load_run(tmp_path / "run")
    account = run.manifest["matching"]
    expected = {"rows": 6, "matched": 3, "unknown": 2, "doubled": 1, "without_ranking": 4}
    assert {name: account[name] for name in expected} == expected
    assert account["empty"] == ["ash/1"]
    for sentence in (
        "Rankings of turns for 3 of 7 questions of trees.",
        "Not scored: 2 rankings, the first:\n  item 3: no such question: 'oak/0'",
        "Ranked twice: 1 ranking of a question that has one already, which counts; the first:\n"
        "  item 1: ash/0",
        "Without a ranking, and in no mean: 4 of 7 questions (1 of 1 temporal, 2 of 4 single_hop, "
        "1 of 1 adversarial).",
        "Empty, and scored as such: 1 ranking (ash/1).",
    ):
        assert sentence in out
    assert values_of(run, "ash/1 recall@2", "ash/1 mrr") == [0, 0]
    assert "ash/2" not in run.records
    assert "2 of 4 single_hop have no ranking" in run.manifest["warnings"][0]


def test_an_unknown_question_is_named_once(score, write):
    """A place in the file may contain the question."""
    out = score(write({"ash/0": ["D1:1", "D1:2"], "oak/1": []}), "--partial")
    assert "\n  'oak/1': no such question\n" in out
    lines = [f"{id_} Q0 D1:{rank} {rank} 1 t" for id_ in ("ash/0", "oak/1") for rank in (1, 2)]
    out = score(write("\n".join(lines), "theirs.trec"), "--partial", to="trec")
    assert "\n  query oak/1: no such question\n" in out


def test_a_cutoff_beyond_the_depth_is_an_error_before_anything_is_written(
    score, write, tmp_path, ranked
):
    ranked["fir/0"] = ranked["fir/0"][:3]
    path = write(ranked)
    message = score(path, at=5, code=2)
    assert "mine: depth 3: recall@5 is unknown; import rankings of 5 or more ids" in message
    unknown = "recall_any@5, recall_all@5, ndcg@5, store_share@5"
    assert f"(also unknown: {unknown})" in message
    assert not (tmp_path / "run").exists()
    expected = "That of fir/0 ends at 3, so cutoffs beyond 3 are unknown; add --depth 6 if"
    assert expected in score(path, at=3)
    out = score(path, "--depth", "6", at=5, to="stated")
    assert "As --depth 6 states, shorter ones than 6 are complete." in out
    run = load_run(tmp_path / "stated")
    assert values_of(run, "fir/0 recall@5") == [1]
    assert "--depth 6" in run.manifest["command"]
    # Of two files, each is checked, and none is written if one fails.
    other = write({"ash/0": ["D1:1"]}, "short.json")
    options = ["--dataset", str(tmp_path / "trees.json"), "--at", "3"]
    assert main([str(path), str(other), *options]) == 2
    assert not (tmp_path / "results").exists()


def test_compare_and_rescore_accept_an_import(score, write, ranked, tmp_path, said):
    first, second = (tmp_path / name for name in ("first", "second"))
    reversed_ = {id_: [turn for turn, _ in pairs[::-1]] for id_, pairs in ranked.items()}
    score(write(ranked, "forth.json"), to="first")
    score(write(reversed_, "back.json"), to="second")
    assert "back" in said(compare, first, second, "--score", "recall@2")
    before = [dict(one["scores"]) for one in load_run(first).records.values()]
    assert "Rankings of turns for 7 of 7 questions" in said(rescore, first)
    assert [dict(one["scores"]) for one in load_run(first).records.values()] == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{run}", "--name", "x"], "--name: is for a FILE, and none is named"),
        (["{run}", "--run-folder", "x"], "--run-folder: is for a FILE"),
        (["{file}", "{file}", "--name", "x"], "--name and --run-folder are for one FILE"),
        (["{file}", "--depth", "0"], "depth: 0; use a whole number of 1 or more"),
        (["{file}", "--name", "a/b"], "--name 'a/b': give a name without a slash"),
        (["{file}", "--dataset", "no.json"], "--dataset: no.json: no such file"),
        (["{file}", "--depth", "1"], "mine.json: --depth 1: 'ash/0': has 2 ids"),
        (["{file}", "--dataset", "no.json"], "a file or folder in LoCoMo's format, or a folder in"),
        (["{file}", "--run-folder", "{run}"], "not empty; name another folder by --run-folder"),
        (["{file}x.json"], "cannot be read: No such file"),
    ],
)
def test_wrong_options_are_one_line(arguments, message, score, write, tmp_path, trees, refused):
    path = write({"ash/0": ["D1:1", "D1:2"]})
    score(path)
    given = [one.format(file=path, run=tmp_path / "run") for one in arguments]
    data = [] if "{run}" in arguments[0] or "--dataset" in given else ["--dataset", trees]
    assert message in refused(main, *given, *data, "--at", "2")
