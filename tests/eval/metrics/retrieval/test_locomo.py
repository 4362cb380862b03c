"""Rankings of real runs: each metric equals ir_measures, and the scores of records."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.datasets.files import shared_folder
from eval.metrics.evidence import RECORDED
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import parse
from eval.records.run import Run, load_run
from eval.summary.measures import value as recorded
from eval.summary.retrieval import by_type, evidence_of, value
from tests.eval.commands import run_main, runs_in
from tests.eval.metrics.retrieval.test_metrics import differences

LOCOMO = shared_folder() / "locomo" / "locomo10.json"

pytestmark = pytest.mark.skipif(
    not LOCOMO.exists(), reason="LoCoMo is not here: set MEMSYS_SHARED to the folder with locomo/"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Run:
    """Rankings of bm25 for two conversations, without a reader."""
    folder = tmp_path_factory.mktemp("locomo")
    chosen = (f"dataset.path={LOCOMO}", "dataset.conversations=[conv-26,conv-30]")
    ended = run_main(folder, cache, "dataset=locomo", *chosen, "strategy=bm25", "reader=none")
    assert ended.code == 0, ended.err
    (found,) = runs_in(folder)
    return load_run(found.folder)


@pytest.mark.parametrize("unit", ["turn", "session"])
def test_every_question_scores_as_in_ir_measures(run, unit):
    questions = {}
    for id_, ranked in run.rankings.items():
        ranking = ranked.turns if unit == "turn" else ranked.sessions
        if (wanted := evidence_of(run.records[id_], unit)) and ranking is not None:
            questions[id_] = Judged(ranking.ids, wanted)
    assert len(questions) > 250
    assert max(differences(questions).values()) < 1e-9


@pytest.mark.parametrize("name", RECORDED)
def test_records_have_the_same_score(run, name):
    measure = parse(name)
    scores = {id_: recorded(record, name) for id_, record in run.records.items()}
    assert scores == {id_: value(run, id_, measure) for id_ in run.records}
    found = by_type(run, [measure], seed=0)["overall"][name]
    known = [scores[one["id"]] for one in run.counted if one["category"] != 5]
    known = [score for score in known if score is not None]
    assert (found.n, found.value) == (len(known), pytest.approx(sum(known) / len(known)))
