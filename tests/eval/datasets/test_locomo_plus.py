"""Reading LoCoMo-Plus's layout, stitching it into conversations, and runs without gold answers."""

import json
import shutil
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.compare.__main__ import main as compare
from eval.analyse.diagnose.__main__ import main as diagnose
from eval.analyse.retrieval.__main__ import main as measure
from eval.audit_judge.__main__ import main as audit
from eval.datasets.files import load_sources, shared_folder
from eval.datasets.locomo_plus import LOCOMO_PLUS_TYPES, LoCoMoPlus
from eval.datasets.reload import config_of, load_dataset_of
from eval.datasets.types import Dataset, Question
from eval.exchange.export.__main__ import main as export
from eval.imports.rescore.__main__ import main as rescore
from eval.pages.report.__main__ import main as report
from memsys.core.errors import InputError
from tests.eval.commands import Run, run_main, runs_in
from tests.eval.datasets.conftest import cue_sample, spring, write_cues
from tests.shared import made_once

_REAL = [
    shared_folder() / "locomo_plus" / "locomo_plus.json",
    shared_folder() / "locomo" / "locomo10.json",
]
_ASKED = datetime(2023, 4, 8, 9)


def load(tmp_path: Path, *samples: Any, **options: Any) -> Dataset:
    plus, locomo = write_cues(tmp_path, *samples)
    return LoCoMoPlus(name="made", path=str(plus), locomo=str(locomo), **options).load()


def test_a_cue_is_a_session_of_its_conversation_and_the_evidence(tmp_path):
    data = load(tmp_path, cue_sample())
    (stitched,), (question,) = data.conversations, data.questions
    assert stitched.id == "ash"
    assert [one.id for one in stitched.sessions] == ["session_1", "cue_0", "session_2"]
    cue = stitched.sessions[1]
    assert cue.time == datetime(2023, 3, 25, 9)
    assert [(turn.id, turn.speaker, turn.text) for turn in cue.turns] == [
        ("C0:1", "Ada", "Since the flood I store the piano upstairs."),
        ("C0:2", "Bo", "A wise place for it."),
    ]
    text = "Ada: Every heavy rain makes me look at the stairs."
    expected = ("ash/0", "ash", 17, "causal", text, None, ("C0:1", "C0:2"))
    cue_said = "\n".join(f"{turn.speaker}: {turn.text}" for turn in cue.turns)
    assert question == Question(*expected, asked_at=_ASKED, cue=cue_said)
    assert data.types == LOCOMO_PLUS_TYPES
    assert data.repairs == ()
    assert [file.name for file in data.files] == ["locomo_plus.json", "locomo10.json"]


def test_all_cues_of_a_conversation_or_a_conversation_a_sample(tmp_path):
    gaps = ["one week later", "a month later", "two weeks later", "one year later"]
    gaps.append(gaps[0])
    samples = [cue_sample(time_gap=gap) for gap in gaps]
    together = load(tmp_path, *samples)
    assert [one.id for one in together.conversations] == ["ash", "elm"]
    assert [[s.id for s in one.sessions] for one in together.conversations] == [
        ["session_1", "cue_2", "session_2", "cue_0", "cue_4"],
        ["cue_3", "session_1", "cue_1", "session_2"],
    ]
    assert [one.id for one in together.questions] == ["ash/0", "ash/2", "ash/4", "elm/1", "elm/3"]
    apart = load(tmp_path, *samples, stitch="one")
    names = ["ash+0", "ash+2", "ash+4", "elm+1", "elm+3"]
    assert [one.id for one in apart.conversations] == names
    assert [one.conversation for one in apart.questions] == names
    assert apart.questions[1].id == "ash+2/2"
    assert [s.id for s in apart.conversations[1].sessions] == ["session_1", "cue_2", "session_2"]
    assert [one.text for one in apart.questions] == [one.text for one in together.questions]


@pytest.mark.parametrize(
    ("gap", "days"),
    [
        ("one week later", 7),
        ("about three weeks later", 21),
        ("around Two Months later", 60),
        ("twelve months later", 360),
        ("a year after", 365),
        ("3 weeks later", 21),
        ("an hour later", None),
        ("several months later", None),
        ("a few weeks later", None),
        ("a couple of months later", None),
        ("thirteen weeks later", None),
    ],
)
def test_gaps_as_published(tmp_path, gap, days):
    """Without a number before its unit a gap is 0 days, which is reported."""
    data = load(tmp_path, cue_sample(time_gap=gap))
    (cue,) = [one for one in data.conversations[0].sessions if one.id == "cue_0"]
    assert cue.time == _ASKED - timedelta(days=days or 0)
    expected = f"locomo_plus.json: sample 0: time_gap: {gap!r} has no number: counted as 0 days"
    assert data.repairs == (() if days else (expected,))


def test_filters_leave_the_other_cues_in_the_conversation(tmp_path):
    kinds = ["causal", "state", "goal", "value", "goal", "value"]
    samples = [cue_sample(relation_type=kind) for kind in kinds]

    def ids(**options: Any) -> list[str]:
        data = load(tmp_path, *samples, **options)
        assert {len(one.sessions) for one in data.conversations} == {5}
        return [question.id for question in data.questions]

    assert ids(limit=1) == ["ash/0", "elm/1"]
    assert ids(conversations=["elm"]) == ["elm/1", "elm/3", "elm/5"]
    assert ids(conversations=["elm"], types=["value"], limit=1) == ["elm/3"]
    assert ids(conversations=["elm", "ash", "elm"], limit=1) == ["ash/0", "elm/1"]
    assert ids(types=["goal"]) == ["ash/2", "ash/4"]
    with pytest.raises(InputError, match="no question is left"):
        ids(conversations=["elm"], types=["goal"])
    for option, message in (
        ({"conversations": ["oak"]}, r"dataset\.conversations: 'oak' is not one of ash, elm"),
        ({"types": ["temporal"]}, r"dataset\.types: 'temporal' is not one of causal, state"),
        ({"stitch": "some"}, r"dataset\.stitch: 'some'; use one of all, one"),
    ):
        with pytest.raises(InputError, match=message):
            ids(**option)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"relation_type": "moral"}, "sample 1: relation_type: 'moral' is unknown; use one of"),
        ({"cue_dialogue": "A: Hm.\n\nC: Oh."}, "sample 1: cue_dialogue: line 3: 'C: Oh.' is no"),
        ({"cue_dialogue": "A: "}, "sample 1: cue_dialogue: line 1"),
        ({"trigger_query": "Well"}, "sample 1: trigger_query: line 1: 'Well' is no line"),
        ({"time_gap": None}, "sample 1: time_gap: must be a text"),
        ({"time_gap": "9999 years later"}, "sample 1: time_gap: goes back"),
        ("x", "sample 1: must be an object"),
    ],
)
def test_errors_name_file_sample_and_field(tmp_path, changed, message):
    given = cue_sample(**changed) if isinstance(changed, dict) else changed
    with pytest.raises(InputError, match=rf"^locomo_plus\.json: {message}"):
        load(tmp_path, cue_sample(), given)


def test_files_of_another_shape(tmp_path):
    with pytest.raises(InputError, match="must be a list of LoCoMo-Plus samples"):
        load(tmp_path)
    plus, locomo = write_cues(tmp_path, cue_sample())
    alone = spring("ash", speaker_b=None)
    alone["conversation"] |= {"session_2": [], "speaker_b": " "}
    locomo.write_text(json.dumps([alone]))
    with pytest.raises(InputError, match=r"locomo10\.json: sample ash: conversation\.speaker_b"):
        LoCoMoPlus(name="made", path=str(plus), locomo=str(locomo)).load()


@pytest.mark.parametrize("wrong", ["path", "locomo"])
def test_the_setting_of_a_missing_file_is_named(tmp_path, wrong):
    plus, locomo = write_cues(tmp_path, cue_sample())
    paths = {"path": str(plus), "locomo": str(locomo), wrong: str(tmp_path / "none.json")}
    with pytest.raises(InputError, match=rf"no such file or folder; correct dataset\.{wrong}$"):
        LoCoMoPlus(name="made", **paths).load()  # type: ignore[arg-type]


@pytest.mark.skipif(
    not all(path.is_file() for path in _REAL),
    reason="locomo_plus.json and locomo10.json are not in $MEMSYS_SHARED",
)
@pytest.mark.parametrize(("stitch", "conversations", "turns"), [("all", 10, 6640), ("one", 401, 0)])
def test_the_published_file(stitch, conversations, turns):
    plus, locomo = map(str, _REAL)
    data = LoCoMoPlus(name="locomo_plus", stitch=stitch, path=plus, locomo=locomo).load()
    published = load_sources()["locomo_plus"]
    assert (data.files[0].bytes, data.files[0].sha256) == (published.bytes, published.sha256)
    assert (len(data.conversations), len(data.questions)) == (conversations, 401)
    assert Counter(one.type for one in data.questions) == {
        **{"causal": 101, "state": 100, "goal": 100, "value": 100}
    }
    assert sum(len(one.evidence) for one in data.questions) == 758
    assert sum("time_gap" in line for line in data.repairs) == 15
    found = {c.id: [t.id for s in c.sessions for t in s.turns] for c in data.conversations}
    assert all(set(one.evidence) <= set(found[one.conversation]) for one in data.questions)
    assert all(len(set(ids)) == len(ids) for ids in found.values())
    assert not turns or sum(map(len, found.values())) == turns
    for one in data.conversations:
        assert all(a.time <= b.time for a, b in pairwise(one.sessions))
    ends = {one.id: one.sessions[-1].time for one in data.conversations}
    assert all(q.asked_at and ends[q.conversation] <= q.asked_at for q in data.questions)


_OF_ANSWERS = ("locomo_f1", "bleu1", "f1_strict", "judge")


def options(folder: Path) -> tuple[str, ...]:
    """Options for a data set that is written into `folder`."""
    kinds = ("causal", "state", "goal", "value", "goal", "state")
    plus, locomo = write_cues(folder, *(cue_sample(relation_type=kind) for kind in kinds))
    return ("dataset=locomo_plus", f"dataset.path={plus}", f"dataset.locomo={locomo}", "k=2")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> list[Run]:
    """Runs of three strategies: read only."""

    def make(folder: Path) -> None:
        chosen = ("-m", *options(folder), "strategy=oracle,bm25,hybrid_rank")
        run_main(folder, cache, *chosen).ok()

    return runs_in(made_once(tmp_path_factory, "locomo-plus-runs", make))


def test_answers_without_gold_have_no_score(answered):
    for run in answered:
        for record in run.records:
            assert (record["gold"], record["status"]) == (None, "ok")
            assert record["answer"] is not None
            assert all(record["scores"].get(name) is None for name in _OF_ANSWERS)
            assert record["asked_at"] == "2023-04-08T09:00:00"
        cells = run.summary["by_type"]
        assert [cells[name]["n"] for name in ("causal", "state", "goal", "value")] == [1, 2, 2, 1]
        known = {"n": 6, "errors": 0, "f1": None, "bleu1": None, "judge": None}
        assert known.items() <= cells["overall"].items()
        assert cells["overall"]["evidence_recall"] is not None
        protocol = run.summary["protocols"]["locomo"]["by_type"]["overall"]
        assert (protocol["n"], protocol["f1"]) == (6, None)
    first = next(run for run in answered if run.manifest["strategy"] == "oracle")
    assert first.summary["by_type"]["overall"]["evidence_recall"] == 1.0


def test_commands_know_the_types_and_that_there_is_no_gold(answered, tmp_path, said):
    shutil.copytree(answered[0].folder.parent, tmp_path / "results" / "runs")
    runs = {run.manifest["strategy"]: run for run in runs_in(tmp_path)}
    bm25, hybrid = (runs[name].folder for name in ("bm25", "hybrid_rank"))
    for command, given, parts in (
        (compare, (bm25, hybrid), ("recall@10", "overall (all but type 5)")),
        (diagnose, (bm25,), ("no gold answers, so that no answer has locomo_f1",)),
        (measure, (bm25,), ("6 questions of all but type 5",)),
        (report, (bm25, hybrid), ()),
    ):
        shown = said(command, *given).replace("\n", " ")
        assert "types 1-4 " not in shown.replace("n, types 1-4", "")
        assert all(part in shown for part in parts), shown
    text = next(bm25.glob("comparison.md")).read_text(encoding="utf-8")
    assert "Scores of all but type 5, unless another type is named." in text
    assert "phrase match; abstention" not in text
    before = runs["bm25"].records
    said(rescore, bm25)
    assert runs["bm25"].records == before
    said(export, bm25, "--to", "trec", "--out", tmp_path / "trec")
    qrels = (tmp_path / "trec" / "qrels.trec").read_text().splitlines()
    assert qrels[:2] == ["ash/0 0 ash:C0:1 1", "ash/0 0 ash:C0:2 1"]
    assert len(qrels) == 12


def test_judges_and_audits_of_gold_answers_are_refused(start, tmp_path, said):
    given = options(tmp_path)
    ended = start(*given, "strategy=bm25", "judge=gold_recall")
    ended.refused("dataset=locomo_plus has none, only cues; use judge=llm")
    assert "locomo_plus: has no gold answers" in said(audit, *given[:3], code=2)


def test_rankings_of_others_find_the_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr("eval.datasets.files.DATA", tmp_path)
    write_cues(tmp_path, cue_sample())
    data = load_dataset_of(config_of("locomo_plus", "original", None))
    assert (data.name, [one.id for one in data.questions]) == ("locomo_plus", ["ash/0"])
