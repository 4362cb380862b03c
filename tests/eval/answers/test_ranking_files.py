"""Files of rankings: every layout says the same, and a bad one is refused in one line."""

import json
from itertools import permutations

import pytest

from eval.answers.ranking_files import RankingFile, read_rankings, rows_of
from memsys.core.errors import InputError

SCORED = {"first/0": [("D1:3", 2.5), ("D1:1", 1.0)], "first/1": [("D2:1", 0.5), ("D1:1", -1.0)]}


def rankings(file: RankingFile) -> dict[str, list[tuple[str, float | None]]]:
    return {str(row.id or row.text): list(row.ranking) for row in file.rows}


LAYOUTS = {
    "lists": {name: [list(pair) for pair in pairs] for name, pairs in SCORED.items()},
    "scores by id": {name: dict(pairs) for name, pairs in SCORED.items()},
    "lists without order": {
        name: [list(pair) for pair in reversed(pairs)] for name, pairs in SCORED.items()
    },
    "rows": [{"question_id": name, "ranking": pairs} for name, pairs in SCORED.items()],
    "objects": [
        {"qid": name, "results": [{"id": id_, "score": score} for id_, score in pairs]}
        for name, pairs in SCORED.items()
    ],
    "place": [
        {"sample_id": name[:5], "qa_index": int(name[6:]), "retrieved": pairs}
        for name, pairs in SCORED.items()
    ],
    "JSON lines": "".join(
        json.dumps({"id": name, "docs": pairs}) + "\n" for name, pairs in SCORED.items()
    ),
    "retrieval log": [
        {
            "query_id": name,
            "retrieval_results": {
                "query": "What?",
                "ranked_items": [{"corpus_id": id_, "score": score} for id_, score in pairs],
            },
        }
        for name, pairs in SCORED.items()
    ],
    "a TREC run": "".join(
        f"{name} Q0 {id_} {rank} {score} tag\n"
        for name, pairs in SCORED.items()
        for rank, (id_, score) in enumerate(pairs, 1)
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_layout_says_the_same(layout, write):
    assert rankings(read_rankings(write(LAYOUTS[layout]))) == SCORED


def test_gzip_is_read_and_ids_without_scores_stay_in_order(write):
    path = write({"What?": ["D1:3", "D1:1"], "Who?": []}, "file.json.gz")
    assert rankings(read_rankings(path)) == {"What?": [("D1:3", None), ("D1:1", None)], "Who?": []}


def test_a_single_row_is_no_object_of_rankings_by_question(write):
    row = '{"question": "What?", "retrieved": ["D1:3"]}'
    for text in (row, row.replace(" ", "\n"), row + "\n\n"):
        assert rankings(read_rankings(write(text))) == {"What?": [("D1:3", None)]}


def test_lines_of_a_trec_run_may_be_in_any_order_and_ties_go_by_rank(write):
    scores = [9.0, 5.0, 5.0, 5.0, 1.0]
    lines = [f"q Q0 D1:{rank} {rank} {score} t" for rank, score in enumerate(scores, 1)]
    whole = rankings(read_rankings(write("\n".join(lines))))
    for shuffled in permutations(lines):
        assert rankings(read_rankings(write("\n".join(shuffled)))) == whole
    assert [id_ for id_, _ in whole["q"]] == [f"D1:{rank}" for rank in range(1, 6)]


def test_equal_scores_stay_in_the_order_of_the_file(write):
    given = {"q": [["D1:2", 1], ["D1:9", 1], ["D1:1", 2], ["D1:3", 1]]}
    found = rankings(read_rankings(write(given)))["q"]
    assert [id_ for id_, _ in found] == ["D1:1", "D1:2", "D1:9", "D1:3"]


def test_rankings_of_a_run_folder_stay_in_order(write):
    """A strategy may rank by several scales, so that its scores are not in order."""
    line = {"id": "a/0", "store": "a", "selected": False, "ranking": [["D1:3", 0.2], ["D1:1", 7]]}
    for text in (json.dumps(line), f"{json.dumps(line)}\n{json.dumps(line | {'id': 'a/1'})}\n"):
        found = rankings(read_rankings(write(text, "rankings.jsonl")))
        assert found["a/0"] == [("D1:3", None), ("D1:1", None)]


@pytest.mark.parametrize("blank", ["", "\r", "  ", "\t\r"])
def test_blank_lines_are_no_rankings(blank, write):
    lines = ['{"id": "a", "ids": ["D1:3"]}\r', blank, '{"id": "b", "ids": []}\r', blank]
    found = rankings(read_rankings(write("\n".join(lines), "file.jsonl")))
    assert found == {"a": [("D1:3", None)], "b": []}


def test_trec_ids_are_decoded(write):
    found = rankings(read_rankings(write("a%20b/0 Q0 a%20b:D1:3 1 1 tag")))
    assert found == {"a b/0": [("a b:D1:3", 1.0)]}


DISTANCES = [["D1:1", 0.1], ["D1:2", 0.4], ["D1:3", 0.7]]
RISING = {
    "pairs": dict.fromkeys("abc", DISTANCES),
    "rows": [{"id": name, "ids": DISTANCES} for name in "abc"],
    "TREC": "\n".join(
        f"{name} Q0 {id_} {rank} {score} t"
        for name in "abc"
        for rank, (id_, score) in enumerate(DISTANCES, 1)
    ),
}
BAD = {
    "empty": ("", "is empty"),
    "no row": ("[]", "contains no ranking"),
    "no ranking": ("{}", "contains no ranking"),
    "another layout": ("question,answer\na,b\n", "unknown layout"),
    "torn": ('{"q": ["D1:1"', "not JSON"),
    "no question": ([{"retrieved": ["D1:1"]}], "item 0: no field for the question"),
    "no field": ([{"qid": "q", "answer": "x"}], "item 0: no field for the ranking"),
    "not an object": (["q"], "item 0: must be an object"),
    "no list": ({"q": "D1:1"}, "'q': the ranking must be a list of ids, not 'D1:1'"),
    "no id": ({"q": [1]}, "'q': 1 is no id"),
    "NaN": ('{"q": [["D1:1", NaN]]}', "'q': the score of 'D1:1', nan, is no finite number"),
    "infinite": ('{"q": [["D1:1", Infinity]]}', "a number beyond the range"),
    "text as score": ({"q": [["D1:1", "high"]]}, "the score of 'D1:1', 'high', is no finite"),
    "some scores": ({"q": [["D1:1", 1], "D1:2"]}, "'q': 'D1:2' has no score while others"),
    "key twice": ('{"q": ["D1:1"], "q": []}', "'q' occurs twice"),
    "selected": (
        '{"id": "a", "selected": false, "ids": []}\n{"id": "b", "selected": true, "ids": ["D1:1"]}',
        "line 2: its memories are selected, without an order; name the run folder",
    ),
    "torn line": ('{"id": "a", "ids": []}\n{"id": "b"', "line 2: not JSON"),
    "NaN in TREC": ("q Q0 D1:1 1 0.5 t\nq Q0 D1:2 2 nan t", "line 2: rank '2', score 'nan'"),
    "five fields": ("q Q0 D1:1 1 0.5 t\nq Q0 D1:2 2 0.4", "line 2: has 5 fields"),
    "two runs": ("q Q0 D1:1 1 0.5 t\nq Q0 D1:2 2 0.4 u", "contains 2 runs (t, u)"),
    **{
        f"distances, {layout}": (content, "the scores rise along each ranking, as distances do")
        for layout, content in RISING.items()
    },
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_with_the_place(case, write):
    content, message = BAD[case]
    with pytest.raises(InputError) as error:
        read_rankings(write(content))
    assert message in str(error.value)
    assert str(error.value).startswith("answers.json: ")
    assert "\n" not in str(error.value)


def test_rankings_in_memory_are_checked_as_files_are():
    with pytest.raises(InputError, match=r"^mine: 'a': the scores rise along each ranking"):
        rows_of(RISING["pairs"], "mine")
