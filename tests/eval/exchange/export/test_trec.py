"""A run exported as TREC scores in other programs as it does here."""

from pathlib import Path

import ir_measures
import pytest
from ir_measures import AP, RR, P, R, nDCG

from eval.datasets.files import shared_folder
from eval.datasets.reload import load_dataset_of
from eval.exchange.export.__main__ import main
from eval.metrics.retrieval.registry import parse
from eval.records.run import load_run
from eval.records.trec import RunLine, decode, read_run
from eval.summary.retrieval import by_type
from tests.eval.exchange.export import ranked

LOCOMO = {
    **{"_target_": "eval.datasets.locomo.LoCoMo", "name": "locomo"},
    "path": str(shared_folder() / "locomo" / "locomo10.json"),
    "conversations": ["conv-26", "conv-30"],
}
THERE = pytest.mark.skipif(
    not Path(LOCOMO["path"]).is_file(), reason="locomo/locomo10.json is not in $MEMSYS_SHARED"
)
# Names of ir_measures and of this project.
SAME = {
    **{R @ 10: "recall@10", R @ 50: "recall@50", P @ 5: "precision@5", nDCG @ 10: "ndcg@10"},
    **{RR: "mrr", RR @ 10: "mrr@10", AP: "map"},
}


def scored(qrels: Path, run: Path) -> dict[str, float]:
    """Means of ir_measures under the names of this project."""
    files = (ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run)))
    return {SAME[name]: mean for name, mean in ir_measures.calc_aggregate(SAME, *files).items()}


def read(path: Path) -> list[RunLine]:
    return list(read_run(path.read_text(encoding="utf-8").split("\n"), path.name))


@pytest.mark.parametrize("unit", ["turn", "session"])
@pytest.mark.parametrize(
    "config",
    [
        *(ranked.SAMPLE, {**ranked.SAMPLE, "pooled": True}, ranked.SYNTHETIC),
        pytest.param(LOCOMO, marks=(THERE, pytest.mark.soak)),
    ],
    ids=["sample", "pooled", "synthetic", "locomo"],
)
def test_other_programs_compute_the_means_of_the_tables(tmp_path, config, unit):
    folder = ranked.write(tmp_path / "run", config)
    out = tmp_path / "out"
    assert main([str(folder), "--to", "trec", "--unit", unit, "--out", str(out)]) == 0

    prefix = "session_" * (unit == "session")
    run = load_run(folder)
    measures = [parse(prefix + name) for name in SAME.values()]
    means = by_type(run, measures, 0, 10)[0]
    assert len([name for name in means if means[name]]) >= 2
    documents = {line.document for line in read(out / "run.trec")}
    texts = ranked.read_lines(out / "corpus.jsonl")
    assert documents <= {one["id"] for one in texts}
    for type_, cells in means.items():
        if not cells:
            continue
        found = scored(out / "qrels" / f"{type_}.trec", out / "run.trec")
        ours = {name.removeprefix(prefix): mean.value for name, mean in cells.items()}
        assert found == pytest.approx(ours, abs=1e-9)


def test_ids_texts_and_order_come_back(tmp_path):
    folder = ranked.write(tmp_path / "run", ranked.SYNTHETIC)
    assert main([str(folder), "--to", "trec"]) == 0
    run, out = load_run(folder), folder / "trec"

    found: dict[str, list[str]] = {}
    for line in sorted(read(out / "run.trec"), key=lambda line: -line.score):
        conversation, turn = map(decode, line.document.split(":", 1))
        question = decode(line.query)
        assert conversation == run.rankings[question].store
        found.setdefault(question, []).append(turn)
    expected = {id_: list(one.turns.ids) for id_, one in run.rankings.items() if one.turns}
    assert found == expected

    dataset = load_dataset_of(ranked.SYNTHETIC)
    texts = ranked.read_lines(out / "corpus.jsonl")
    turns = [t for c in dataset.conversations for s in c.sessions for t in s.turns]
    assert [one["text"] for one in texts] == [f"{turn.speaker}: {turn.text}" for turn in turns]
    topics = (out / "topics.tsv").read_text(encoding="utf-8").splitlines()
    assert topics == [f"{question.id}\t{question.text}" for question in dataset.questions]


def test_questions_without_evidence_are_ranked_and_failed_ones_are_not(tmp_path, said):
    folder = ranked.write(tmp_path / "run", ranked.SYNTHETIC)
    rows = ranked.read_lines(folder / "records.jsonl")
    first, failed = rows[0], next(row for row in rows[1:] if row["evidence"])
    first["evidence"] = []
    failed |= ranked.factory.error()
    ranked.write_lines(folder / "records.jsonl", rows)
    output = said(main, folder, "--to", "trec")
    assert "since they failed or are excluded by the key: 1\n" in output
    names = ("run.trec", "topics.tsv", "qrels.trec")
    ranking, topics, qrels = ((folder / "trec" / name).read_text("utf-8") for name in names)
    assert ranking.startswith(first["id"])
    assert topics.startswith(first["id"])
    assert f"{first['id']} " not in qrels
    assert f"{failed['id']} " not in ranking + qrels


def test_depth_cuts_rankings_that_reach_it(tmp_path, said):
    folder = ranked.write(tmp_path / "run", ranked.SYNTHETIC, depth=4)
    export = (main, folder, "--to", "trec")
    note = "note: rankings end at {}: measures at cutoffs beyond are unknown\n"
    assert note.format(3) in said(*export, "--depth", 3)
    lines = (folder / "trec" / "run.trec").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 * len(load_run(folder).records)
    assert note.format(4) in said(*export, "--force")
    assert said(*export, "--depth", 30, "--force", code=2) == (
        f"error: {folder}: depth 4: what follows to --depth 30 is unknown; run it with "
        "retrieval.depth=30 or more, or import a deeper ranking\n"
    )


def test_a_selection_is_exported_as_one(tmp_path, said):
    folder = ranked.write(tmp_path / "run", ranked.SYNTHETIC, selected=True)
    assert "only selects" in said(main, folder, "--to", "trec")
    message = said(main, folder, "--to", "trec", "--depth", 3, "--force", code=2)
    assert "only selects memories, in no order" in message


def test_sessions_of_few_turns_are_noted(tmp_path, said):
    folder = ranked.write(tmp_path / "run", ranked.SYNTHETIC, depth=2)
    sessions = ("--to", "trec", "--unit", "session", "--force")
    ranks = len(load_run(folder).records)
    note = f"note: sessions are those of the best 2 memories: {ranks} rankings end before"
    assert f"{note} --depth 4\n" in said(main, folder, *sessions, "--depth", 4)
    assert f"{note} the last session of the store\n" in said(main, folder, *sessions)
    deep = ranked.write(tmp_path / "deep", ranked.SYNTHETIC)
    assert "rankings end" not in said(main, deep, *sessions)


def test_depth_of_imported_sessions_is_checked(tmp_path, said):
    folder = ranked.write(tmp_path / "run", ranked.SYNTHETIC, depth=2)
    ranked.by_session(folder)
    rows = ranked.read_lines(folder / "rankings.jsonl")
    ranking = {"ranking": [["D1", 1.0], ["D2", 0.5]]}
    ranked.write_lines(folder / "rankings.jsonl", [row | ranking for row in rows])
    memories = [
        {"store": store, "id": session, "turns": [], "tokens": None}
        for store in {row["store"] for row in rows}
        for session in ("D1", "D2")
    ]
    ranked.write_lines(folder / "memories.jsonl", memories)
    message = said(main, folder, "--to", "trec", "--depth", 3, code=2)
    assert "depth 2: what follows to --depth 3 is unknown; run it" in message
    said(main, folder, "--to", "trec", "--depth", 2)
