import csv
import re
from math import log2
from pathlib import Path

import pytest

from eval.analyse.retrieval.__main__ import main
from tests.eval.analyse.retrieval.conftest import CONVERSATIONS, ranked, records
from tests.eval.factory import error

NDCG = (1 / (1 + 1 / log2(3))).__format__(".3f")  # the first of two at rank 1, the other beyond 10


def cells(out: str, start: str) -> list[str]:
    """The cells of the first line that begins with `start`."""
    line = next(line for line in out.splitlines() if line.startswith(start))
    return re.split(r"\s{2,}", line.strip())


def same(*means: str) -> list[str]:
    """Cells of means that are alike in every conversation."""
    return [f"{mean} [{mean}, {mean}]" for mean in means]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_run_by_type(tmp_path, said):
    out = said(main, ranked(tmp_path / "one"))
    assert "Unit turn, recall fraction, any and all, cutoff 10\n" in out
    assert "48 questions of types 1-4 with evidence, in 6 conversations." in out
    header = ["type", "n", "recall@10", "any@10", "all@10", "nDCG@10", "MRR", "share of store@10"]
    assert cells(out, "type") == header
    row = same("0.500", "1.000", "0.000", NDCG, "1.000")
    assert cells(out, "overall") == ["overall (types 1-4)", "48", *row, "1.0%"]
    for name in ("multi_hop", "temporal", "open_domain", "single_hop", "adversarial"):
        assert cells(out, name)[:2] == [name, "12"]


def test_unit_kind_and_cutoffs_are_chosen(tmp_path, said):
    run = ranked(tmp_path / "one", (1, 12))
    options = ("--unit", "session", "--kind", "all", "--at", "12,5", "--type", "temporal")
    out = said(main, run, *options)
    assert out.index("Unit session, recall all, cutoff 5") < out.index("cutoff 12")
    # D9 is first; D8 is the sixth session, after the four of the other turns
    first, second = out.split("cutoff 12")
    assert cells(first, "temporal")[2] == "0.000 [0.000, 0.000]"
    assert cells(second, "temporal")[2] == "1.000 [1.000, 1.000]"
    assert "\nmulti_hop" not in out
    assert "rankings of 60 questions contain fewer than 12 sessions" in out


def test_named_measures(tmp_path, said):
    named = ("precision@12", "recall@50tokens", "first_rank")
    asked = (part for name in named for part in ("--measure", name))
    out = said(main, ranked(tmp_path / "one", (3, 12)), *asked)
    assert cells(out, "type") == ["type", "n", "precision@12", "recall@50tokens", "first rank"]
    # 12 ranks of 5 tokens each: ten are within 50
    assert cells(out, "overall")[2:] == [*same("0.167", "0.500"), "3 (found in 100.0%)"]


def test_differences_to_the_first_run(tmp_path, said):
    first = ranked(tmp_path / "one", (1, 12), "bm25")
    other = ranked(tmp_path / "two", (1, 2), "hybrid_rank")
    same = ranked(tmp_path / "three", (1, 12), "graph_walk")
    out = said(main, first, other, same, "--measure", "recall@10", "--measure", "mrr")
    differences = out.split("Differences to bm25")[1]
    assert cells(differences, "overall")[1:3] == ["bm25", "48"]
    sentence = " ".join(differences.split())
    assert (
        "hybrid_rank is better than bm25 on types 1-4: recall@10 +0.500 (95% interval +0.500 to "
        "+0.500, p = 0.0024; 48 questions of 6 conversations)" in sentence
    )
    assert "No difference shown between graph_walk and bm25 on types 1-4: mrr 0.000" in sentence


def test_every_definition_side_by_side(tmp_path, said):
    runs = (ranked(tmp_path / "one", (1, 12), "bm25"), ranked(tmp_path / "two", (2, 3), "walk"))
    out = said(main, *runs, "--all")
    assert cells(out, "measure") == ["measure", "bm25", "walk"]
    assert "Differences" not in out
    for name, *values in (
        ("recall@10", "0.500", "1.000"),
        ("recall_all@5", "0.000", "1.000"),
        ("mrr", "1.000", "0.500"),
        ("recall@256tokens", "1.000", "1.000"),
        ("session_recall_any@5", "1.000", "1.000"),
        ("session_first_rank", "1 (found in 100.0%)", "2 (found in 100.0%)"),
        ("store_share@10", "1.0%", "1.0%"),
    ):
        row = cells(out, f"{name} ")
        assert [cell.partition(" [")[0] for cell in row] == [name, *values]
    assert all(f"\n{name} " in out for name in ("session_ndcg@10", "session_recall@10turns"))
    only = said(main, *runs, "--all", "--unit", "session", "--kind", "any", "--at", "3")
    assert "session_recall_any@3" in only
    assert "recall@10" not in only
    assert "\nrecall_any@3" not in only


def test_selected_memories_have_no_cutoff(tmp_path, said, refused):
    given = ranked(tmp_path / "all", (5,), "full_context", length=20, selected=True)
    run = ranked(tmp_path / "one", strategy="bm25")
    out = said(main, run, given)
    assert "Differences" not in out
    of_ranks, of_sets = out.split("Selected, not ranked\n")
    assert "full_context" not in of_ranks.split("cutoff 10")[1]
    assert "full_context: selected, not ranked." in of_sets
    header = ["type", "n", "recall", "any", "all", "precision", "share of store"]
    assert cells(of_sets, "type") == header
    assert cells(of_sets, "overall")[2:] == [*same("0.500", "1.000", "0.000", "0.050"), "2.0%"]
    assert "does not apply" not in " ".join(out.split())
    for runs, options, named in (
        ((run, given), ("--at", "5", "--kind", "any"), "--kind and --at do"),
        ((run, given), ("--measure", "recall@5"), "--measure does"),
        ((given,), ("--at", "5"), "--at does"),
    ):
        noted = " ".join(said(main, *runs, *options).split())
        assert f"note: full_context only selects memories: {named} not apply" in noted
    alone = said(main, given, "--out", tmp_path / "out")
    assert "cutoff 10" not in alone
    assert "Selected, not ranked" in alone
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"retrieval.md", "retrieval.csv"}
    chosen = said(main, given, "--measure", "session_recall_any")
    assert cells(chosen, "type") == ["type", "n", "session any"]
    expected = "full_context: its memories are selected, without an order: recall@10"
    assert expected in refused(main, given, "--measure", "recall@10")


def test_a_cutoff_beyond_the_depth_is_unknown_and_whole_rankings_are_not_compared(
    tmp_path, said, refused
):
    shallow = ranked(tmp_path / "one", strategy="shallow", length=10, depth=10)
    deep = ranked(tmp_path / "two", strategy="deep")
    error = refused(main, deep, shallow, "--measure", "recall@20", "--measure", "recall@10")
    assert "shallow: depth 10: recall@20 is unknown; run it with retrieval.depth=20" in error
    assert "deep: " not in error
    assert "recall@10 is unknown" not in error
    out = said(main, deep, shallow, "--all", "--at", "10,20", "--unit", "turn")
    assert "note: shallow: depth 10: recall@20 is unknown" in " ".join(out.split())
    assert cells(out, "recall@20")[1:] == ["1.000 [1.000, 1.000]", "-"]
    assert cells(out, "recall@10")[2] == "0.500 [0.500, 0.500]"
    out = " ".join(said(main, deep, shallow).split())
    assert "note: mrr: no difference, since the rankings are of depth 100, 10" in out
    assert "on types 1-4: recall@10 0.000" in out
    assert "on types 1-4: mrr" not in out


def test_other_data_or_evidence_has_no_difference_and_a_pooled_store_has_the_same_evidence(
    tmp_path, said
):
    one = ranked(tmp_path / "one", strategy="bm25")
    corrected = [row | {"evidence": ["D9:1"]} if row["id"] == "a/10" else row for row in records()]
    other = ranked(tmp_path / "two", strategy="key", rows=corrected)
    out = " ".join(said(main, one, other).split())
    assert "no difference of key to bm25: the evidence of 1 questions differs (a/10)" in out
    assert "Differences" not in out
    file = {"name": "other.json", "bytes": 9, "sha256": "6" * 64}
    elsewhere = ranked(tmp_path / "three", strategy="elsewhere", data=[file])
    out = " ".join(said(main, one, elsewhere).split())
    assert "no difference of elsewhere to bm25: they ranked different data (some.json 5555" in out
    pooled = [
        row | {"evidence": [f"{row['conversation']}:{turn}" for turn in row["evidence"]]}
        for row in records()
    ]
    other = ranked(tmp_path / "four", strategy="pooled", rows=pooled)
    assert "pooled is worse than bm25 on types 1-4: recall@10 -0.500" in said(main, one, other)


def test_both_evidence_keys_are_side_by_side(tmp_path, said):
    changed = {
        "a/10": {"evidence": ["D9:1"], "evidence_original": ["D7:7"]},
        "b/10": {"evidence": [], "evidence_original": ["D9:1"]},
    }
    rows = [row | changed.get(row["id"], {}) for row in records()]
    overlay = {"name": "evidence.json", "bytes": 9, "sha256": "7" * 64}
    evidence = {"name": "corrected", "overlay": overlay}
    run = ranked(tmp_path / "one", (1, 2), rows=rows, evidence=evidence)
    out = said(main, run, "--measure", "recall@10")
    assert "Measures" in out
    both = out.split("Under the original and the corrected evidence\n")[1]
    assert "evidence key corrected, 1 questions with other evidence and 1 without any." in both
    assert cells(both, "type") == [
        "type", "run", "n original", "n corrected", "recall@10 original", "recall@10 corrected",
    ]  # fmt: skip
    row = cells(both, "multi_hop")
    assert row[2:4] == ["12", "11"]
    assert [cell.partition(" ")[0] for cell in row[4:]] == ["0.917", "1.000"]
    assert "Under the original" not in said(main, ranked(tmp_path / "two"))


def test_what_cannot_be_measured_is_one_line(tmp_path, said, refused):
    run = ranked(tmp_path / "one")
    bare = ranked(tmp_path / "bare", strategy="bare")
    (tmp_path / "bare" / "rankings.jsonl").unlink()
    without = [row if row["category"] != 3 else row | {"evidence": []} for row in records()]
    some = ranked(tmp_path / "some", rows=without)
    none = ranked(tmp_path / "none", rows=records(evidence=[]))
    for arguments, expected in (
        ((bare,), "bare: no rankings are recorded; run it again with retrieval.depth=100"),
        ((none,), "no question has evidence"),
        ((run, "--measure", "nDGC@10"), "did you mean ndcg@10?"),
        ((run, "--type", "hop"), "--type: 'hop' is none of multi_hop"),
        ((run, "--measure", "mrr", "--at", "5"), "leave out --at"),
        ((run, "--measure", "mrr", "--all"), "leave out --all"),
        ((run, "--measure", "recall"), "needs a cutoff"),
        ((run, "--out", f"{run}/records.jsonl"), "is a file; name a folder"),
        ((run, "--seed", "-1"), "--seed: -1; use a whole number of 0 or more"),
        ((some, "--type", "open_domain"), "no question of this type has evidence"),
    ):
        assert expected in refused(main, *arguments)
    assert "\nopen_domain" not in said(main, some)
    with pytest.raises(SystemExit):
        main([run, "--at", "5,0"])


def test_failed_questions_and_unfinished_runs_are_noted(tmp_path, said):
    rows = records()
    rows[0] |= error()
    out = said(main, ranked(tmp_path / "one", rows=rows, status="running"))
    assert "note: plain: the run is running, not complete" in out
    assert "note: plain: 1 of 60 questions failed, in no mean" in out
    assert cells(out, "multi_hop")[1] == "11"


def test_writes_every_measure_by_type_and_the_curves(tmp_path, said):
    places = {name: (1 + i, 40) for i, name in enumerate(CONVERSATIONS)}
    runs = (
        ranked(tmp_path / "one", strategy="bm25", by_conversation=places),
        ranked(tmp_path / "two", (1, 2), "walk"),
        ranked(tmp_path / "all", (5,), "full_context", length=20, selected=True),
    )
    out, again = tmp_path / "new" / "out", tmp_path / "again"
    last = said(main, *runs, "--out", str(out)).splitlines()[-1]
    curves = ("recall_at_k", "recall_by_tokens")
    names = {f"{name}.{end}" for name in curves for end in ("png", "svg", "csv")}
    names |= {"retrieval.md", "retrieval.csv", "differences.csv"}
    assert {path.name for path in out.iterdir()} == names
    assert all(name in last for name in names)
    said(main, *runs, "--out", str(again))
    for path in out.iterdir():  # the same files every time
        assert path.read_bytes() == (again / path.name).read_bytes()
    picture = (out / "recall_at_k.svg").read_text(encoding="utf-8")
    assert "<dc:date>" not in picture
    assert "Recall of evidence turns, overall (types 1-4)" in picture
    rows = table(out / "retrieval.csv")
    key = {(row["run"], row["type"], row["measure"]): row for row in rows}
    assert len(key) == len(rows)
    one = key["bm25", "overall", "mrr"]
    mean = sum(1 / (1 + i) for i in range(6)) / 6
    assert float(one["value"]) == pytest.approx(mean)
    assert float(one["low"]) < mean < float(one["high"])
    assert (one["n"], one["conversations"], one["unit"], one["cutoff"]) == ("48", "6", "turn", "")
    for measure in ("recall@1", "recall_all@100", "session_map@50", "recall_any@256tokens"):
        assert key["walk", "multi_hop", measure]["order"] == "ranked"
    assert key["bm25", "overall", "first_rank_median"]["value"] == "3.5"
    assert key["full_context", "overall", "recall"]["order"] == "selected"
    assert ("full_context", "overall", "recall@10") not in key
    at = {(r["run"], r["type"], r["cutoff"]): r for r in table(out / "recall_at_k.csv")}
    assert float(at["bm25", "overall", "2"]["recall"]) == pytest.approx(1 / 6)
    assert float(at["bm25", "temporal", "40"]["recall"]) == 1
    spent = table(out / "recall_by_tokens.csv")
    by_rank = {
        row["cutoff"]: row for row in spent if (row["run"], row["type"]) == ("walk", "overall")
    }
    assert (by_rank["10"]["context_tokens"], by_rank["10"]["recall"]) == ("50.0", "1.0")
    assert {row["budget"] for row in spent} == {"", "256", "512", "1024", "2048"}
    text = (out / "retrieval.md").read_text(encoding="utf-8")
    assert "## All definitions: open_domain" in text
    assert "![recall at k](recall_at_k.png)" in text
    assert "## Differences to bm25" in text


def test_rankings_of_sessions_are_measured_as_sessions(tmp_path, said, refused):
    rows = records(evidence=["D1:1", "D2:4"])
    run = ranked(tmp_path / "one", (), rows=rows, unit="session")
    error = refused(main, run, "--unit", "turn")
    assert "whole sessions were ranked, not turns" in error
    error = refused(main, run, "--measure", "session_recall@10turns")
    assert "whole sessions were ranked; session_recall@10turns needs a ranking of turns" in error
    assert "Unit session, recall fraction, any and all, cutoff 10" in said(main, run)
    turns = ranked(tmp_path / "two", strategy="turns", rows=rows)
    assert "Unit session, recall fraction, any and all, cutoff 10" in said(main, run, turns)
