"""Runs record the rankings behind their questions, apart from what is read."""

from pathlib import Path

import pytest

from eval.metrics.retrieval.registry import parse
from eval.records.rankings import Ranked
from eval.records.run import load_run
from eval.summary.retrieval import unknown
from memsys.core.errors import InputError
from tests.eval.commands import FAULTY, Run, run_once
from tests.eval.run.conftest import THIRD

TURNS = ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D2:3"]
DEPTH = "retrieval.depth=4"


def rankings(run: Run) -> dict[str, Ranked]:
    return load_run(run.folder).rankings


@pytest.fixture(scope="module")
def bm25(tmp_path_factory: pytest.TempPathFactory, cache: Path, small: tuple[str, ...]) -> Run:
    return run_once(tmp_path_factory, cache, "depth-4", "strategy=bm25", DEPTH, *small)


@pytest.mark.parametrize("strategy", ["hybrid_rank", "graph_follow"])
def test_what_is_read_is_the_head_of_the_ranking(strategy, made):
    chosen = (f"strategy={strategy}", "dataset.conversations=[ash]")
    if strategy == "graph_follow":
        chosen = (*chosen, "strategy.expansion.reserved=1")
    deep, flat = made(*chosen), made(*chosen, "retrieval.depth=null")
    for with_ranking, without in zip(deep.untimed, flat.untimed, strict=True):
        ranking = with_ranking.pop("scores"), without.pop("scores")
        assert with_ranking == without
        assert None not in [ranking[0][name] for name in ("recall@10", "ndcg@10", "mrr")]
        assert {ranking[1][name] for name in ("recall@10", "ndcg@10", "mrr")} == {None}
    assert flat.manifest["retrieval"] is None
    assert not (flat.folder / "rankings.jsonl").exists()
    read = {record["id"]: [id_ for id_, *_ in record["retrieved"]] for record in deep.records}
    found = rankings(deep)
    assert list(found) == list(read)
    for id_, ranked in found.items():
        ids = [memory for memory, _ in ranked.memories]
        assert ids[: len(read[id_])] == read[id_]
        assert sorted(ids) == TURNS
        assert ranked.turns.complete


def test_rankings_end_at_their_depth_and_have_the_tokens_of_their_memories(bm25):
    tokens = {(row["store"], row["id"]): row["tokens"] for row in bm25.lines("memories.jsonl")}
    assert bm25.manifest["retrieval"]["depth"] == 4
    assert bm25.manifest["stores"]["ash"] == {"turns": 6, "sessions": 2}
    for ranked in rankings(bm25).values():
        assert len(ranked.memories) == 4
        assert not ranked.turns.complete
        assert ranked.turns.size == 6
        spent = [tokens[ranked.store, id_] for id_, _ in ranked.memories]
        assert ranked.turns.tokens[-1] == sum(spent)
    assert {record["scores"]["recall@10"] for record in bm25.records} == {None}
    assert all(record["scores"]["mrr"] is not None for record in bm25.records)


def test_selections_are_marked(made):
    run = made("strategy=oracle")
    given = {record["id"]: [id_ for id_, *_ in record["retrieved"]] for record in run.records}
    for id_, ranked in rankings(run).items():
        assert ranked.selected
        assert [memory for memory, _ in ranked.memories] == given[id_]
    assert {record["scores"]["mrr"] for record in run.records} == {None}


def test_windows_become_turns_at_their_first_place(made):
    run = made("strategy=bm25", "memory=windows")
    memories = {(row["store"], row["id"]): row["turns"] for row in run.lines("memories.jsonl")}
    assert max(map(len, memories.values())) > 1
    for ranked in rankings(run).values():
        turns = [turn for id_, _ in ranked.memories for turn in memories[ranked.store, id_]]
        assert ranked.turns.ids == tuple(dict.fromkeys(turns))
        assert ranked.sessions.ids == tuple(dict.fromkeys(turn[:2] for turn in turns))


def test_resumed_runs_have_one_ranking_a_question_in_order(start, small, third):
    assert len(third.lines("rankings.jsonl")) == 15  # of 21
    with (third.folder / "rankings.jsonl").open("a") as file:
        file.write('{"id": "ash/0", "sto')  # a kill left the line unfinished
    assert start(*THIRD, *small, f"resume={third.folder.name}").code == 0
    assert [row["id"] for row in third.lines("rankings.jsonl")] == [r["id"] for r in third.records]
    rows = [(row["store"], row["id"]) for row in third.lines("memories.jsonl")]
    assert len(rows) == len(set(rows))


def test_a_kill_before_the_first_ranking_leaves_a_run_to_resume(start, small, third):
    (third.folder / "rankings.jsonl").unlink()
    (third.folder / "records.jsonl").write_text("")
    (third.folder / "memories.jsonl").write_text('{"store": "ash", "id"')
    start(*THIRD, *small, f"resume={third.folder.name}").ok()
    assert len(rankings(third)) == len(third.records) == 21


@pytest.mark.usefixtures("fault")
def test_failed_questions_count_as_zero_in_columns_of_their_own(made):
    run = made(*THIRD, "reader=none")
    cell = run.summary["by_type"]["overall"]
    share = 1 - cell["errors"] / cell["n"]
    for name in ("recall@10", "ndcg@10", "mrr", "evidence_recall"):
        assert cell[f"{name}_errors_as_zero"] == pytest.approx(cell[name] * share)
    assert "f1_errors_as_zero" not in cell or cell["f1_errors_as_zero"] is None


@pytest.mark.usefixtures("fault")
def test_a_strategy_that_ranks_only_what_is_read_is_known_no_further(made):
    run = made(*FAULTY, "strategy=faulty", "strategy.fault=short")
    for ranked in rankings(run).values():
        assert (len(ranked.memories), ranked.turns.complete, ranked.turns.known) == (2, False, 2)
    assert {record["scores"]["recall@10"] for record in run.records} == {None}
    assert list(unknown(load_run(run.folder), [parse("recall@2"), parse("recall@5")])) == [
        "recall@5"
    ]


def test_a_repetition_takes_the_rankings_over(bm25, completed):
    again = completed(f"from={bm25.folder}", "judge=gold_recall")
    assert again.lines("rankings.jsonl") == bm25.lines("rankings.jsonl")
    assert [record["scores"]["mrr"] for record in again.records] == [
        record["scores"]["mrr"] for record in bm25.records
    ]


def test_a_ranking_of_an_unknown_memory_is_refused(bm25, copy):
    run = copy(bm25)
    (run.folder / "memories.jsonl").write_text("")
    with pytest.raises(InputError, match=r"rankings\.jsonl: ash/0: memories\.jsonl lacks"):
        _ = rankings(run)


def test_without_a_reader_nothing_is_answered(made):
    run = made("strategy=bm25", "reader=none")
    assert run.ended.out.endswith(f"Next:\n  python -m eval retrieval {run.folder.name}\n")
    for record in run.records:
        assert (record["status"], record["answer"], record["abstained"]) == ("ok", None, None)
        assert record["scores"]["locomo_f1"] is None
        assert record["scores"]["ndcg@10"] is not None
    cell = run.summary["by_type"]["overall"]
    assert (cell["f1"], cell["abstained"], cell["answer_tokens_mean"]) == (None, None, None)
    assert cell["evidence_recall"] is not None
