"""Measures of a run's rankings: by question, by type, and what rankings do not determine."""

from collections.abc import Sequence
from typing import Any

import pytest

from eval.metrics.retrieval.registry import all_measures, parse
from eval.metrics.stats.interval import ClusterBootstrap
from eval.records.rankings import Ranked, UnitRanking
from eval.records.run import Run, load_run
from eval.summary.retrieval import by_type, ended_early, first_ranks, unknown, value, values
from memsys.core.errors import InputError
from tests.eval.factory import error, record, run_of, write_rankings, write_run


def unit(
    ids: Sequence[str], *, size: int | None = 50, each: int | None = 10, **more: Any
) -> UnitRanking:
    """A ranking of ids, each of a memory of `each` tokens."""
    tokens = None if each is None else tuple(each * (i + 1) for i in range(len(ids)))
    return UnitRanking(
        tuple(ids), size, more.get("complete", False), tokens, more.get("depth") or 0
    )


def ranked_run(
    rankings: dict[str, Ranked], rows: list[dict[str, Any]], depth: int | None = 10, **more: Any
) -> Run:
    """A run with rankings that is in no folder."""
    used = {"depth": depth, "unit": "turn", "rule": ""}
    run = run_of(rows, retrieval=used if rankings else None, **more)
    run.__dict__["rankings"] = rankings
    return run


def ranked(id_: str, ids: Sequence[str], *, selected: bool = False, **more: Any) -> Ranked:
    """A ranking of turns and of their sessions."""
    sessions = tuple(dict.fromkeys(turn.rpartition(":")[0] for turn in ids))
    turns = unit(ids, **more)
    of_sessions = unit(sessions, **{"size": 5, **more})
    return Ranked(id_, id_.partition("/")[0], selected, (), turns, of_sessions)


def one(ids: Sequence[str], evidence: list[str], depth: int | None = 10, **more: Any) -> Run:
    """A run of one question, ash/0."""
    return ranked_run(
        {"ash/0": ranked("ash/0", ids, depth=depth, **more)},
        [record(evidence=evidence)],
        depth=depth,
    )


TURNS = [f"D{i // 3}:{i}" for i in range(10)]


@pytest.mark.parametrize(
    ("evidence", "wanted"),
    [
        (
            ["D0:1", "D3:9", "D9:1"],
            {
                **{"recall@2": 1 / 3, "recall@10": 2 / 3, "mrr": 0.5, "recall@99tokens": 1 / 3},
                "store_share@10": 0.2,
            },
        ),
        (
            ["D0:1", "D0:2", "D9:1"],  # their sessions are the evidence of measures of sessions
            {
                **{"session_recall@1": 0.5, "session_recall_any@1": 1.0},
                "session_store_share@1": 0.2,
            },
        ),
        (
            ["D1:3"],
            {f"session_recall@{n}turns": found for n, found in ((3, 0.0), (4, 1.0), (10, 1.0))},
        ),
    ],
)
def test_the_value_of_a_question(evidence, wanted):
    run = one(TURNS, evidence)
    found = {name: value(run, "ash/0", parse(name)) for name in wanted}
    assert found == pytest.approx(wanted)


def test_sessions_that_the_data_set_names_come_first():
    rows = [
        record(evidence=["D0:1"], evidence_sessions=["D1", "D9"]),
        record("ash/1", evidence=[], evidence_sessions=["D0"]),
        record("ash/2", evidence=["D0:1"], evidence_sessions=[]),
    ]
    run = ranked_run({row["id"]: ranked(row["id"], TURNS) for row in rows}, rows)
    for id_, name, wanted in (
        ("ash/0", "session_recall@2", 0.5),
        ("ash/1", "session_recall@1", 1.0),
        ("ash/1", "recall@1", None),
        ("ash/2", "session_recall@1", None),
    ):
        assert value(run, id_, parse(name)) == wanted


def test_failed_and_excluded_questions_and_those_without_evidence_have_no_value():
    excluded = {"kind": "excluded", "error_type": "", "original_gold": "old"}
    rows = [
        record(evidence=TURNS[:1]),
        record("ash/1", evidence=TURNS[:1], **error()),
        record("ash/2", evidence=TURNS[:1], key=excluded),
        record("ash/3", evidence=[]),
    ]
    run = ranked_run({"ash/0": ranked("ash/0", TURNS)}, rows)
    measure = parse("recall@1")
    assert [value(run, row["id"], measure) for row in rows] == [1.0, None, None, None]
    assert values(run, [measure]) == {"recall@1": {"ash/0": 1.0}}
    assert by_type(run, [measure], 0)[0]["overall"]["recall@1"].n == 1


def rows_of_types(
    names: Sequence[str] = ("ash", "beech", "cedar"),
) -> tuple[dict[str, Ranked], list[dict[str, Any]]]:
    rows, rankings = [], {}
    for number, (conversation, category) in enumerate(
        (name, category) for name in names for category in (1, 4, 4, 5)
    ):
        id_ = f"{conversation}/{number}"
        rows.append(record(id_, category, evidence=[TURNS[number % 7]]))
        rankings[id_] = ranked(id_, TURNS)
    return rankings, rows


def test_means_by_type_with_the_intervals_of_scores():
    run = ranked_run(*rows_of_types())
    found, _ = by_type(run, [parse("recall@3"), parse("session_mrr@3")], seed=3)
    assert list(found) == ["multi_hop", "single_hop", "adversarial", "overall"]
    answered = [row for row in run.counted if row["category"] != 5]
    scores = values(run, [parse("recall@3")])["recall@3"]
    bootstrap = ClusterBootstrap([row["conversation"] for row in answered], 3)
    wanted = bootstrap.mean([scores[row["id"]] for row in answered])
    assert found["overall"]["recall@3"] == wanted.within()
    assert found["overall"]["recall@3"].n == 9
    assert found["adversarial"]["recall@3"].n == 3
    assert set(found["multi_hop"]) == {"recall@3", "session_mrr@3"}


def test_resamples_are_those_of_the_configuration_unless_given():
    config = {"strategy": {"name": "plain"}, "resamples": 7}
    run = ranked_run(*rows_of_types("abcde"), config=config)
    measures = [parse("recall@3")]
    assert by_type(run, measures, 0) == by_type(run, measures, 0, 7) != by_type(run, measures, 0, 8)


def test_first_ranks_are_a_median_over_all_questions_and_the_share_found():
    rows = [record(f"ash/{i}", evidence=[turn]) for i, turn in enumerate(["D0:0", "D0:2", "X:1"])]
    run = ranked_run({row["id"]: ranked(row["id"], TURNS) for row in rows}, rows)
    found = first_ranks(run, "turn", seed=0)["overall"]
    assert found.median == 3.0
    assert found.found.value == pytest.approx(2 / 3)
    assert first_ranks(run, "session", seed=0)["overall"].median == 1.0
    assert by_type(run, [parse("first_rank")], 0)[0]["overall"]["first_rank"].value == 2.0
    assert by_type(run, [parse("first_rank")], 0)[0]["overall"]["first_rank"].low >= 1
    rows.append(record("ash/3", evidence=["X:2"]))
    run = ranked_run({row["id"]: ranked(row["id"], TURNS) for row in rows}, rows)
    assert first_ranks(run, "turn", seed=0)["overall"].median is None  # two of four not found


RUN = one(TURNS, TURNS[:1])
RERUN = "run it with retrieval.depth"
SELECTED = one(TURNS, TURNS[:1], selected=True)
ROWS = [record(evidence=TURNS[:1])]
OTHER = ranked_run({"ash/9": ranked("ash/9", TURNS)}, ROWS)


@pytest.mark.parametrize(
    ("run", "name", "message"),
    [
        (RUN, "recall@20", f"depth 10: recall@20 is unknown; {RERUN}=20 or more"),
        (one(TURNS[:4], TURNS, depth=4), "r_precision",
         f"depth 4: r_precision is unknown; {RERUN}=10 or more"),
        (one(TURNS, ["X:1"]), "recall@101tokens",
         "depth 10: recall@101tokens is unknown; run it with a greater retrieval.depth"),
        (one(TURNS, TURNS[:1], each=None), "recall@9tokens",
         "the tokens of its memories are unknown, and so is recall@9tokens"),
        (SELECTED, "recall@5",
         "its memories are selected, without an order: recall@5 has no value; use "
         "recall, recall_any, recall_all or precision without a cutoff"),
        (RUN, "session_recall@11turns",
         f"depth 10: session_recall@11turns is unknown; {RERUN}=11 or more"),
        (RUN, "recall_any", "recall_any of a ranking needs a cutoff, as recall_any@10"),
        (ranked_run({}, ROWS), "recall@5",
         "no rankings are recorded; run it again with retrieval.depth=100"),
        (OTHER, "recall@5", "rankings.jsonl: no ranking of ash/0; run it again whole"),
    ],
)  # fmt: skip
def test_what_the_rankings_do_not_determine_is_an_error(run, name, message):
    measure = parse(name)
    message = f"plain: {message}"
    for fails in (lambda: values(run, [measure]), lambda: value(run, "ash/0", measure)):
        with pytest.raises(InputError) as caught:
            fails()
        assert str(caught.value) == message
    if run.rankings:
        known = parse("recall" if "selected" in message else "recall@1")
        assert unknown(run, [known, measure])[name] == message
    else:
        with pytest.raises(InputError, match="no rankings are recorded"):
            unknown(run, [measure])


def test_a_ranking_of_the_whole_store_determines_every_measure():
    run = one(TURNS, [TURNS[9]], size=10, complete=True)
    assert unknown(run, [one for one in all_measures() if one.unit == "turn"]) == {}
    assert value(run, "ash/0", parse("recall@100")) == 1.0
    assert value(run, "ash/0", parse("recall@2048tokens")) == 1.0
    assert value(run, "ash/0", parse("ndcg@9")) == 0.0


def test_a_ranking_of_more_turns_than_memories_determines_its_own_ranks():
    run = one(TURNS, [TURNS[9]], depth=4)  # ten turns of four windows
    assert value(run, "ash/0", parse("recall@10")) == 1.0
    assert list(unknown(run, [parse("recall@10"), parse("recall@11")])) == ["recall@11"]


def test_a_ranking_that_ends_before_the_cutoff_counts_what_it_has():
    run = one(TURNS, ["D3:9", "D9:1"])
    measure = parse("session_recall@5")
    assert value(run, "ash/0", measure) == 0.5  # of four sessions
    assert ended_early(run, measure) == 1
    assert ended_early(run, parse("session_recall@4")) == 0
    assert ended_early(one(TURNS, ["D3:9"], complete=True), measure) == 0
    assert unknown(run, [parse("session_recall@11")])  # beyond the recorded depth


def test_a_ranking_that_ends_within_a_token_budget_is_enough_if_it_has_all_evidence():
    measure = parse("recall@150tokens")
    assert value(one(TURNS, TURNS[:2]), "ash/0", measure) == 1.0
    assert list(unknown(one(TURNS, [TURNS[0], "X:1"]), [measure])) == [str(measure)]


def test_selected_memories_have_recall_and_precision_without_a_cutoff():
    for ids in (TURNS, TURNS[::-1]):
        run = one(ids, [TURNS[3], "X:1"], selected=True, complete=True)
        names = ["recall", "recall_any", "recall_all", "precision", "store_share"]
        names += ["session_recall", "session_precision"]
        found = [value(run, "ash/0", parse(name)) for name in names]
        assert found == [0.5, 1.0, 0.0, 0.1, 0.2, 0.5, 0.25]
        assert len(unknown(run, all_measures())) == len(all_measures())


def test_rankings_of_whole_sessions_have_no_measure_of_turns():
    sessions = Ranked("ash/0", "ash", False, (), None, unit(["D1", "D0"], size=5))
    run = ranked_run({"ash/0": sessions}, [record(evidence=["D0:1"])])
    assert value(run, "ash/0", parse("session_mrr")) == 0.5
    reason = "plain: whole sessions were ranked, not turns; use session_ measures"
    with pytest.raises(InputError, match=reason):
        value(run, "ash/0", parse("mrr"))
    assert unknown(run, [parse("mrr"), parse("session_mrr")]) == {"mrr": reason}
    turns = Ranked("ash/0", "ash", False, (), unit(TURNS), None)
    run = ranked_run({"ash/0": turns}, [record(evidence=["D0:1"])])
    with pytest.raises(InputError, match="its sessions are unknown; use measures of turns"):
        value(run, "ash/0", parse("session_mrr"))


def test_equal_scores_are_ranked_in_the_order_of_the_file(tmp_path):
    for name, order in (("one", ["D1:1", "D1:2"]), ("other", ["D1:2", "D1:1"])):
        folder = write_run(tmp_path / name, [record(evidence=["D1:2"])])
        path = write_rankings(folder, {"ash/0": order}) / "rankings.jsonl"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("1.0]", "0.5]"), encoding="utf-8")
    found = [value(load_run(tmp_path / name), "ash/0", parse("mrr")) for name in ("one", "other")]
    assert found == [0.5, 1.0]
