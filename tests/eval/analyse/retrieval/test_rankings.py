"""Rankings of others are matched, never by guess; they and those of runs become data frames."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eval import api
from eval.answers.ranking_files import RankingRow, rows_of
from eval.datasets.types import Dataset
from eval.imports.rankings.import_run import run_of
from eval.imports.rankings.imports import NO_QUESTION, OTHER_QUESTION, SEVERAL, Import, matched
from eval.metrics.retrieval.registry import parse
from eval.summary.retrieval import value
from memsys.core.errors import InputError
from tests.eval.analyse.retrieval.conftest import CONVERSATIONS, ranked, records


def of(
    dataset: Dataset, rankings: dict[str, Any], depth: int | None = None, *, partial: bool = False
) -> Import:
    rows = rows_of(rankings, "mine.json")
    return matched(rows, "mine", dataset, "mine.json", depth, partial=partial)


def row(place: str, ids: list[str], **fields: str | None) -> RankingRow:
    given: dict[str, str | None] = dict.fromkeys(("id", "text", "conversation")) | fields
    return RankingRow(place, **given, ranking=tuple((id_, None) for id_ in ids))


def ids(found: Import) -> dict[str, list[str]]:
    rankings = found.rankings.items()
    return {question: [id_ for id_, _ in one.ranked] for question, one in rankings}


def refused(dataset: Dataset, rankings: dict[str, Any], depth: int | None = None) -> str:
    with pytest.raises(InputError) as error:
        of(dataset, rankings, depth)
    return str(error.value)


def test_words_of_several_questions(dataset):
    """Within a conversation the ranking is that of all of them; across conversations of none."""
    found = of(dataset, {"Who sang?": ["D1:1"], "Who came?": ["D1:2"]}, partial=True)
    assert ids(found) == {"fir/1": ["D1:1"], "fir/2": ["D1:1"]}
    assert [(one.place, reason) for one, reason in found.unknown] == [("'Who came?'", SEVERAL)]
    rows = [row("a", ["D1:1"], text="Who came?", conversation="fir")]
    assert ids(matched(rows, "mine", dataset, "file")) == {"fir/0": ["D1:1"]}
    rows = [row(place, [f"D1:{place}"], text="Who sang?") for place in "12"]
    assert ids(matched(rows, "mine", dataset, "file")) == {"fir/1": ["D1:1"], "fir/2": ["D1:2"]}


def test_unknown_and_doubled_rows_are_not_scored(dataset):
    rows = [
        row("line 1", ["D1:1"], id="ash/0"),
        row("line 2", ["D1:2"], id="ash/0"),
        row("line 3", ["D1:3"], text="Who came, then?"),
        row("line 4", ["D1:4"], id="ash/77"),
        row("line 5", ["D1:4"], id="ash/1", text="Who came?"),
        row("line 6", ["D2:1"], id="17", text="When?"),
    ]
    with pytest.raises(InputError, match=r"file: only 3 of 6 .* line 4: .* 95% are needed"):
        matched(rows, "mine", dataset, "file")
    found = matched(rows, "mine", dataset, "file", partial=True)
    assert ids(found) == {"ash/0": ["D1:1"], "ash/2": ["D2:1"], "ash/3": ["D1:3"]}
    assert [(one.place, id_) for one, id_ in found.doubled] == [("line 2", "ash/0")]
    assert [(one.place, reason) for one, reason in found.unknown] == [
        ("line 4", NO_QUESTION),
        ("line 5", OTHER_QUESTION),
    ]


def test_questions_are_known_by_id_and_by_their_words_and_of_a_history_of_one_by_its_id(dataset):
    found = of(dataset, {"ash/0": ["D1:1"], "who LEFT? ": ["D1:2"], "fir/0": ["D1:3"]})
    assert ids(found) == {"ash/0": ["D1:1"], "ash/1": ["D1:2"], "fir/0": ["D1:3"]}
    single = [one for one in dataset.questions if one.id == "ash/1"]
    alone = Dataset("one", dataset.conversations, tuple(single), ())
    assert ids(of(alone, {"ash": ["D1:1"]})) == {"ash/1": ["D1:1"]}


@pytest.mark.parametrize(
    ("unit", "form"),
    [
        *(("turn", "D2:1"), ("turn", "ash:D2:1"), ("session", "D2"), ("session", "session_2")),
        *(("session", "ash:D2"), ("session", "ash:session_2")),
    ],
)
def test_turns_and_sessions_are_known_in_each_form(unit, form, dataset):
    first, second = {"turn": ("D1:1", "D2:1"), "session": ("D1", "D2")}[unit]
    found = of(dataset, {"ash/0": [form, first]})
    assert ids(found) == {"ash/0": [second, first]}
    assert (found.unit, found.pooled) == (unit, False)


def test_indices_that_count_from_1_are_recognised_or_asked_about(dataset, all_turns):
    ranked = {one.id: all_turns[:n] for n, one in enumerate(dataset.questions, 1)}

    def moved(*without: str) -> dict[str, Any]:
        return {
            f"{id_[:-1]}{int(id_[-1]) + 1}": one
            for id_, one in ranked.items()
            if id_ not in without
        }

    assert ids(of(dataset, moved())) == ranked
    assert of(dataset, moved()).first == 1
    assert "no row has the qa_index 0" in refused(dataset, moved("ash/3", "fir/2"))
    assert of(dataset, {id_: ranked[id_] for id_ in ("ash/1", "fir/2")}).first == 0


def test_turns_of_other_conversations_make_a_pooled_ranking(dataset):
    found = of(dataset, {"ash/0": ["fir:D1:1", "ash:D1:1"], "fir/0": ["fir:D1:2"]})
    assert found.pooled
    assert found.strangers == 1
    assert ids(found)["fir/0"] == ["fir:D1:2"]
    assert found.sizes == {"pooled": {"turns": 24, "sessions": 6}}
    evidence = {question.id: question.evidence for question in found.dataset.questions}
    assert evidence["ash/1"] == ("ash:D1:2", "ash:D3:4")


def test_a_pooled_ranking_of_histories_is_judged_by_their_sessions(dataset):
    """As LongMemEval names evidence sessions, under ids that histories may share."""
    asked = tuple(replace(one, evidence_sessions=("D1",)) for one in dataset.questions)
    histories = replace(dataset, questions=asked)
    found = of(histories, {"ash/0": ["fir:D1", "ash:D1"], "fir/0": ["fir:D1", "ash:D1"]})
    run = run_of(found, {})
    session_mrr = parse("session_mrr")
    assert [value(run, id_, session_mrr) for id_ in ("ash/0", "fir/0")] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("rankings", "expected"),
    [
        (
            {"ash/0": ["D1:1"], "ash/1": ["D1:1", "D9:1"]},
            ["mine.json: 'ash/1': 'D9:1' is no turn or session of ash"],
        ),
        (
            {"ash/0": ["D1:1"], "ash/1": ["D2:1", "D3"]},
            ["ranks turns ('D1:1' in 'ash/0') and sessions ('D3' in 'ash/1')"],
        ),
        (
            {"oak/0": ["D1:1"], "oak/1": []},
            ["none of the 2 rankings is of a question of trees", "'oak/0': no such question"],
        ),
        ({"ash/0": [], "ash/1": []}, ["all rankings are empty"]),
        (
            {"ash/0": ["fir:D1:1"], "ash/1": ["D1:1"]},
            ["'ash/1': 'D1:1' names no conversation", "write ash:D1:1"],
        ),
        *(
            (
                {"ash/0": ["D1:2", "D1:1", again], "ash/1": ["D1:1"]},
                [f"mine.json: 'ash/0': '{again}' is ranked twice; give each turn"],
            )
            for again in ("D1:2", "ash:D1:2")
        ),
    ],
)
def test_bad_ids_are_refused_with_question_and_id(rankings, expected, dataset):
    message = refused(dataset, rankings)
    assert [one for one in expected if one not in message] == []


def test_the_depth_is_that_of_the_shortest_cut_ranking(dataset, all_turns):
    same = of(dataset, {"ash/0": all_turns[:3], "ash/1": all_turns[2:5]})
    assert same.depth == 3
    # Neither an empty ranking nor one of the whole store was cut.
    mixed = {"ash/0": [], "ash/1": all_turns[:2], "ash/2": all_turns, "fir/0": all_turns[:5]}
    assert of(dataset, mixed).depth == 2
    assert of(dataset, mixed, depth=12).depth == 12
    assert of(dataset, {"ash/0": [], "ash/2": all_turns}).depth is None


def test_no_ranking_may_be_longer_than_the_stated_depth(dataset, all_turns):
    for longer in (all_turns[:5], all_turns):
        mixed = {"ash/0": all_turns[:3], "ash/1": longer}
        message = refused(dataset, mixed, depth=4)
        assert f"mine.json: --depth 4: 'ash/1': has {len(longer)} ids" in message
        assert of(dataset, mixed, depth=len(longer)).depth == len(longer)


PERFECT = {
    "ash/0": ["D1:1", "D1:3"],
    "ash/1": ["D1:2", "D3:4"],
    "ash/2": ["D3:1", "D2:1"],
    "fir/0": ["D2:2", "D1:1"],
}


def test_a_row_per_run_and_type_with_intervals(tmp_path):
    places = {name: (1 + i, 40) for i, name in enumerate(CONVERSATIONS)}
    ranked(tmp_path / "one", strategy="bm25", by_conversation=places)
    ranked(tmp_path / "two", (1, 2), "walk")
    runs = api.load_runs([tmp_path / "one", tmp_path / "two"])
    frame = api.retrieval(runs, ["recall@3", "session_mrr"])
    assert frame["run"].tolist() == ["bm25"] * 6 + ["walk"] * 6
    overall = frame[frame.type == "overall"].set_index("run")
    assert overall.loc["bm25", "recall@3"] == pytest.approx(0.25)
    assert overall.loc["bm25", "recall@3_low"] < 0.25 < overall.loc["bm25", "recall@3_high"]
    assert overall.loc["walk", "session_mrr"] == 1
    assert overall["n"].tolist() == [48, 48]
    axes = api.plot(frame, "recall@3")
    assert len(axes.containers) == 4  # bars and whiskers of two runs
    main = api.retrieval(runs[1:], unit="session")
    assert {"session_recall@10", "session_ndcg@10", "session_store_share@10"} <= set(main)


def test_the_unit_and_the_measures_are_those_of_the_runs(tmp_path):
    rows = records(evidence=["D1:1", "D2:4"])
    ranked(tmp_path / "one", (), "sessions", rows=rows, unit="session")
    ranked(tmp_path / "two", (5,), "all", length=20, selected=True)
    sessions, selected = api.load_runs([tmp_path / "one", tmp_path / "two"])
    assert {"session_recall@10", "session_mrr"} <= set(api.retrieval([sessions]))
    with pytest.raises(InputError, match="whole sessions were ranked, not turns"):
        api.retrieval([sessions], unit="turn")
    overall = api.retrieval([selected]).set_index("type").loc["overall"]
    assert [overall["recall"], overall["precision"]] == pytest.approx([0.5, 0.05])
    assert {"session_recall@10", "session_recall"} <= set(api.retrieval([sessions, selected]))


def test_rankings_without_a_folder_have_a_table_by_type(trees, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    table = api.score_rankings(PERFECT, dataset=str(trees), measures=["recall@2", "mrr"])
    assert table["type"].tolist() == ["multi_hop", "temporal", "single_hop", "overall"]
    overall = table.set_index("type").loc["overall"]
    assert (overall["n"], overall["recall@2"], overall["mrr"]) == (4, 1.0, 0.875)
    assert overall["mrr_low"] <= 0.875 <= overall["mrr_high"]
    assert table.attrs["matching"]["matched"] == 4
    assert sorted(tmp_path.iterdir()) == before


def test_a_rankings_own_unit_is_scored_by_default(trees):
    sessions = {"ash/1": {"D3": np.float32(0.5), "D1": np.float32(0.1), "D2": np.float32(0.9)}}
    table = api.score_rankings(sessions, dataset=str(trees))
    assert {"session_recall@10", "session_ndcg@10", "session_mrr"} <= set(table.columns)
    assert table["session_mrr"].tolist() == [0.5, 0.5]


def test_nothing_is_scored_by_guess(trees):
    for rankings, measures, expected in (
        (PERFECT, None, "rankings: depth 2: recall@10 is unknown"),
        ({"ash/0": ["D7:1"]}, None, "'ash/0': 'D7:1' is no turn or session of ash"),
        (PERFECT, ["first_rank"], "first_rank: has no value where nothing is found"),
        ({}, None, "contains no ranking"),
        ({7: ["D1:1"]}, None, "the question 7 must be a text"),
    ):
        with pytest.raises(InputError, match=expected):
            api.score_rankings(rankings, dataset=str(trees), measures=measures)
    assert len(api.score_rankings(PERFECT, dataset=str(trees), depth=10)) == 4
