"""Runs under an answer key with errors corrected or left out: both scores, and the ceiling."""

from typing import Any

import pytest

from eval.datasets.files import shared_folder
from tests.eval.commands import FAULTY, PATIENT, runs_in

COUNTS = {
    **{"multi_hop": (6, 1), "temporal": (3, 0), "open_domain": (3, 0), "single_hop": (6, 1)},
    "overall": (18, 2),
}
CEILING = {
    name: {"n": n, "wrong": wrong, "ceiling": (n - wrong) / n}
    for name, (n, wrong) in COUNTS.items()
}
SHOWN = ("n", "f1", "f1_ci", "bleu1", "bleu1_ci")


def shown(cell: dict[str, Any]) -> dict[str, Any]:
    return {name: cell[name] for name in SHOWN}


def test_an_unknown_key_costs_nothing_and_says_nothing(keyed):
    summary = keyed["plain"].summary
    assert (summary["key"], summary["original_key"], summary["ceiling"]) == (None, None, None)
    assert "perfect reader" not in keyed["plain"].ended.out
    assert keyed["plain"].manifest["key"]["overlay"] is None


def test_original_key_tells_its_ceiling(keyed):
    run = keyed["original"]
    assert run.summary["ceiling"] == CEILING
    assert (run.summary["key"], run.summary["original_key"]) == (None, None)
    told = "under it a perfect reader reaches 88.89% (multi_hop 83.33%, temporal 100.00%"
    for text in (run.ended.out, (run.folder / "report.md").read_text()):
        assert "2 of 18 gold answers of types 1-4 are known to be wrong" in text
        assert told in text
        assert "dataset.key=corrected or excluded scores without these errors." in text
    assert run.untimed == keyed["plain"].untimed


def test_records_have_both_scores(keyed):
    plain = {record["id"]: record for record in keyed["plain"].records}
    corrected = {record["id"]: record for record in keyed["corrected"].records}
    for id_, record in corrected.items():
        if id_ not in ("ash/0", "ash/5"):
            assert (record["key"], record["scores_original"]) == (None, None)
            assert record["scores"] == plain[id_]["scores"]
    changed, out = corrected["ash/0"], corrected["ash/5"]
    told = {"kind": "corrected", "error_type": "HALLUCINATION", "original_gold": "flute"}
    assert changed["key"] == told
    assert (changed["gold"], out["gold"]) == ("nine bees", None)
    assert changed["answer"] == plain["ash/0"]["answer"]
    assert changed["scores_original"] == plain["ash/0"]["scores"]
    assert changed["scores"]["locomo_f1"] != changed["scores_original"]["locomo_f1"]
    assert out["scores_original"] == plain["ash/5"]["scores"]
    assert set(out["scores"].values()) == {None}


@pytest.mark.parametrize(("key", "counts"), [("corrected", (1, 1)), ("excluded", (0, 2))])
def test_summary_has_both_keys_and_the_ceiling(keyed, key, counts):
    run, plain = keyed[key], keyed["plain"].summary
    summary = run.summary
    told = summary["key"]
    assert (told["name"], told["corrected"], told["excluded"]) == (key, *counts)
    assert summary["ceiling"] == CEILING
    for name, cell in plain["by_type"].items():
        assert shown(summary["original_key"]["by_type"][name]) == shown(cell)
        assert shown(told["by_type"][name]) == shown(summary["by_type"][name])
    assert summary["n"] == 21
    assert summary["by_type"]["overall"]["n"] == 18 - counts[1]
    assert f"\n| overall | {18 - counts[1]} | 18 | 0." in (run.folder / "report.md").read_text()
    assert summary["by_type"]["single_hop"]["n"] == 5
    kept = [r["scores"]["locomo_f1"] for r in run.records if r["type"] == "single_hop"]
    assert summary["by_type"]["single_hop"]["f1"] == pytest.approx(
        sum(score for score in kept if score is not None) / 5
    )
    for text in (run.ended.out, (run.folder / "report.md").read_text()):
        assert f"{counts[0]} gold answers corrected, {counts[1]} questions excluded" in text
        for title in (f"F1 {key}", "F1 original", "ceiling original", "88.89%"):
            assert title in text


def test_key_is_part_of_what_a_run_is(start, tmp_path, small, errors, fault):
    key_file = tmp_path / "errors.jsonl"
    key_file.write_bytes(errors.read_bytes())
    key = ("dataset.key=corrected", f"dataset.key_file={key_file}")
    command = (*FAULTY, *PATIENT, "strategy=faulty", "strategy.fault=third", *small)
    start(*command, *key).ok()
    (run,) = runs_in(tmp_path)
    failed = run.records[5]
    assert (failed["id"], failed["status"]) == ("ash/5", "error")
    assert failed["key"]["kind"] == "excluded"
    assert set(failed["scores_original"].values()) == {None}
    cells = [run.summary[name]["by_type"]["single_hop"] for name in ("original_key", "key")]
    assert [(cell["n"], cell["errors"]) for cell in cells] == [(6, 3), (5, 2)]
    fault.unlink()
    again = (*command, f"resume={run.folder.name}")
    start(*again, "dataset.key=excluded", key[1]).refused("dataset.key")
    key_file.write_text(errors.read_text() + "\n")
    start(*again, *key).refused("known errors of the answer key have changed")
    key_file.write_bytes(errors.read_bytes())
    start(*again, *key).ok()
    assert run.records[5]["status"] == "ok"
    assert run.records[5]["scores_original"]["locomo_f1"] is not None
    assert run.summary["errors"] == 0


@pytest.mark.skipif(
    not (shared_folder() / "locomo" / "locomo10.json").is_file(),
    reason="locomo/locomo10.json is not in $MEMSYS_SHARED",
)
def test_ceilings_of_locomo(start, tmp_path):
    ended = start("strategy=no_memory", "dataset=locomo", "dataset.key=excluded").ok()
    (run,) = runs_in(tmp_path)
    ceiling = run.summary["ceiling"]
    assert {name: (cell["wrong"], cell["n"]) for name, cell in ceiling.items()} == {
        **{"multi_hop": (28, 282), "temporal": (26, 321), "open_domain": (9, 96)},
        **{"single_hop": (36, 841), "overall": (99, 1540)},
    }
    told = (
        "reaches 93.57% (multi_hop 90.07%, temporal 91.90%, open_domain 90.62%, single_hop 95.72%)"
    )
    assert told in ended.out
    assert run.summary["by_type"]["overall"]["n"] == 1441
