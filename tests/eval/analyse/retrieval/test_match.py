"""Rankings of others are matched to questions, turns and sessions, and never by guess."""

from dataclasses import replace
from typing import Any

import pytest

from eval.answers.ranking_files import RankingRow, rows_of
from eval.datasets.types import Dataset
from eval.imports.rankings.import_run import run_of
from eval.imports.rankings.imports import NO_QUESTION, OTHER_QUESTION, SEVERAL, Import, matched
from eval.metrics.retrieval.registry import parse
from eval.summary.retrieval import value
from memsys.core.errors import InputError


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
    ("rankings", "told"),
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
def test_bad_ids_are_refused_with_question_and_id(rankings, told, dataset):
    message = refused(dataset, rankings)
    assert [one for one in told if one not in message] == []


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
