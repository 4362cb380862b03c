"""`python -m eval rescore` as a user calls it."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from eval.imports.rescore.__main__ import main
from eval.records.files import write_lines
from eval.records.manifest import load_manifest
from tests.eval.commands import Run, Said
from tests.eval.sample import SAMPLE, Rows, sample_answers, sample_questions


@pytest.fixture
def answers() -> Rows:
    return sample_answers()


@pytest.fixture
def rescore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> Said:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments, code=0: said(main, "--dataset", "sample", *arguments, code=code)


def _write(rows: Rows, name: str = "mine.jsonl") -> str:
    write_lines(Path(name), rows)
    return name


def _run(folder: str = "run") -> Run:
    return Run(Path(folder))


def test_an_import_is_a_run_folder(rescore, answers):
    path = _write(answers[::-1])
    out = rescore(path)
    [folder] = Path("results/runs").iterdir()
    assert folder.name.endswith("_mine")
    assert f"Run folder: {folder}" in out
    assert f"mine.jsonl: {len(answers)} rows at lines" in out
    assert re.search(r"^prediction +answer +100%  ", out, re.MULTILINE)
    assert f"Matched: {len(answers)} of {len(answers)} rows by qa_index, checked" in out

    manifest = load_manifest(folder)
    fields = {"kind": "imported", "status": "complete", "strategy": "mine"}
    fields |= {"choices": {"strategy": "mine"}}
    fields |= {"command": "python -m eval rescore mine.jsonl --dataset sample --name mine"}
    assert fields.items() <= manifest.items()
    file = Path(path).read_bytes()
    sha256 = hashlib.sha256(file).hexdigest()
    described = {"name": "mine.jsonl", "bytes": len(file), "sha256": sha256}
    assert manifest["import"]["file"] == described
    assert len(manifest["data"]) == 3
    assert manifest["matching"]["matched"] == len(answers)

    expected = [f"{row['sample_id']}/{row['qa_index']}" for row in answers]
    assert [record["id"] for record in Run(folder).records] == expected  # the data set's order
    overall = Run(folder).summary["by_type"]["overall"]
    assert overall["f1"] == pytest.approx(1.0)
    unknown = ("judge", "evidence_recall", "context_tokens_mean", "cost_usd", "retrieve_ms_p95")
    assert {name: overall[name] for name in unknown} == dict.fromkeys(unknown)
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "no judge" in report
    assert "ingest.jsonl" not in report
    assert "- Not in the file: judge verdicts, context tokens, retrieval latency" in report


def test_answers_that_are_something_else_are_pointed_out(rescore, answers):
    for answer, says in (
        (lambda row, _: row["prediction"], "are the gold answer word for word"),
        (lambda _, n: n / len(answers), "the column read as the answer may be a score"),
        (lambda _, n: f"something else {n}", ""),
    ):
        rows = [row | {"prediction": answer(row, n)} for n, row in enumerate(answers)]
        rescore(_write(rows), "--out", f"run {says[:9]}")
        warnings = _run(f"run {says[:9]}").manifest["warnings"]
        assert [says in one for one in warnings] == [True] * bool(says)


def test_a_message_of_an_error_is_no_answer(rescore, answers):
    messages = [
        *("Request timed out.", "Error code: 429 - rate limit", "ERROR", "[ERROR]"),
        'Traceback (most recent call last):\n  File "a.py", line 3',
        *("openai.RateLimitError: Error code: 429", "HTTP 502 Bad Gateway", "Connection error."),
        *("Rate limit exceeded", "Service Unavailable", "TimeoutError", "{'error': 'quota'}"),
    ]
    written = [*messages, "503: HTTP", "pie"]  # an answer that only resembles one, and another
    rows = [row | {"prediction": one} for row, one in zip(answers, written, strict=False)]
    rescore(_write(rows), "--out", "run")
    failed = [record["error"]["message"] for record in _run().records if record["error"]]
    assert sorted(failed) == sorted(messages)


@pytest.mark.parametrize("answer", ["N/A", "nan", "None", "the same"])
def test_answers_that_may_be_none_stop_until_they_are_meant(answer, rescore, answers):
    every = 1 if answer == "the same" else 3
    for row in answers[::every]:
        row["prediction"] = answer
    [line] = rescore(_write(answers), "--out", "run", code=2).splitlines()
    assert "say so in a column `error`; if they are answers, add --as-written" in line
    assert not Path("run").exists()
    rescore(_write(answers), "--out", "run", "--as-written")
    assert _run().summary["errors"] == 0


@pytest.mark.parametrize("reply", ['{"answer": "%s"}', "```json\n%s\n```", "<think>so</think>%s"])
def test_replies_in_place_of_answers_stop_until_they_are_meant(reply, rescore, answers):
    wrapped = [row | {"prediction": reply % row["prediction"]} for row in answers]
    assert "answers are whole replies, such as" in rescore(_write(wrapped), "--out", "run", code=2)
    rescore(_write(wrapped), "--out", "run", "--as-written")


def test_times_beyond_belief_stop_until_their_unit_is_known(rescore, answers):
    def written(column: str) -> str:
        return _write([row | {column: 1234} for row in answers])

    [line] = rescore(written("latency"), "--out", "run", code=2).splitlines()
    assert "latency, read as seconds, has a median of 1,234 s a question; write the unit" in line
    given = {  # column, arguments, milliseconds
        "named": ("latency", ["--columns", "total_seconds=latency"], 1_234_000),
        "left": ("latency", ["--columns", "total_seconds=none"], None),
        "ms": ("latency_ms", [], 1234),
        "s": ("latency_seconds", [], 1_234_000),
    }
    for name, (column, arguments, milliseconds) in given.items():
        rescore(written(column), "--out", name, *arguments)
        assert _run(name).summary["by_type"]["overall"]["total_ms_p50"] == milliseconds


def test_judged_partial_and_failed_rows(rescore, answers):
    kept = [row for row in answers if row["category"] == 4][:4]
    for row, (verdict, error) in zip(
        kept, [("CORRECT", None), ("WRONG", None), ("correct", None), (None, "429")], strict=True
    ):
        row |= {"judge": verdict, "error": error, "context_tokens": 100, "total_seconds": 2}
    stray = {**kept[0], "qa_index": 0, "question": "Who is that?"}
    out = rescore(_write([*kept, stray]), "--out", "run", "--name", "A B", "--partial")
    cell = _run().summary["by_type"]["single_hop"]
    expected = {"n": 4, "errors": 1, "judge": pytest.approx(2 / 3), "judge_errors_as_zero": 0.5}
    expected |= {"judge_source": "as reported", "evidence_recall_errors_as_zero": None}
    expected |= {"context_tokens_mean": 100, "total_ms_p50": 2000, "retrieve_ms_p50": None}
    assert {name: cell[name] for name in expected} == expected
    assert "0.667 [" in out
    assert "] as reported" in out
    assert "Not scored: 1 of 5 rows (the question at its qa_index is another: 1)" in out
    assert "line 5: the question at its qa_index is another: 'Who is that?'" in out
    assert "Failed, in no mean: 1 of 4 questions." in out
    manifest = _run().manifest
    assert manifest["models"]["judge"] == "as reported"
    assert any("Not scored: 1 of 5 rows" in line for line in manifest["warnings"])
    assert any("single_hop have no row" in line for line in manifest["warnings"])


def test_permuted_labels_and_positions_of_mem0(rescore):
    labels, sample = {1: 3, 2: 2, 3: 4, 4: 1, 5: 5}, sample_questions()
    keys = dict(zip(sample, ("1", "2", "0"), strict=True))
    value = {
        keys[name]: [
            {
                "question": qa["question"],
                "answer": qa.get("answer", ""),
                "response": f"x{index}",
                "category": str(labels[qa["category"]]),
                "llm_score": index % 2,
                "f1_score": 0.0,
            }
            for index, qa in enumerate(questions)
        ]
        for name, questions in sample.items()
    }
    Path("mem0.json.gz").write_bytes(gzip.compress(json.dumps(value).encode()))
    out = rescore("mem0.json.gz", "--out", "run")
    assert "a permutation of the official categories: 1 is 4 single_hop" in out
    assert "label in the file" in out
    assert f"0 is {list(sample)[2]}" in out
    assert "The file's f1_score equals the mem0_f1 computed here in" in out
    cells = _run().summary["by_type"]
    official = [qa["category"] for questions in sample.values() for qa in questions]
    assert cells["single_hop"]["n"] == official.count(4)
    assert cells["multi_hop"]["n"] == official.count(1)
    assert "| label in the file |" in Path("run/report.md").read_text(encoding="utf-8")


def test_several_files_end_in_one_table(rescore, answers):
    files = [_write(answers, "one.jsonl"), _write(answers[:5], "two.jsonl")]
    table = rescore(*files).split("Types 1-4, mean with 95% interval:")[1]
    *rows, over = table.strip().splitlines()[2:]
    assert [line.split()[0] for line in rows] == ["one", "two"]
    assert over.startswith("Intervals are over the questions of ")
    assert len(list(Path("results/runs").iterdir())) == 2
    rescore(files[0], "--name", "沈" * 50, "--out", "run")  # of 150 bytes
    assert _run().manifest["strategy"] == "沈" * 50


def test_a_run_folder_is_scored_anew_but_not_on_other_data(rescore, answers):
    rescore(_write(answers), "--out", "run")
    out = rescore("run")
    assert f"run: 0 of {len(answers)} records have a new score" in out
    assert "overall (types 1-4)" in out
    assert f"Matched: {len(answers)} of {len(answers)} rows" in out
    Path("other.json").write_bytes((SAMPLE / "harbour.json").read_bytes())
    before = Path("run/manifest.json").read_text()
    says = "not the files of other; name the same files by --dataset"
    assert says in rescore("run", "--dataset", "other.json", code=2)
    assert Path("run/manifest.json").read_text() == before


def test_a_fifth_of_the_rows_is_no_table(rescore, answers, capsys):
    rows = [
        {"query": row["question"] if n % 5 == 0 else f"Which {n}?", "pred": "x", "conv": "1"}
        for n, row in enumerate(answers)
    ]
    path = "strange.json"
    Path(path).write_text(json.dumps({"out": {"rows": rows}}), encoding="utf-8")
    assert main([path, "--dataset", "sample"]) == 2
    out, err = capsys.readouterr()
    assert re.search(r"^query +question +\d+%  ", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 100
    assert err.count("\n") == 1
    assert "95% are needed; correct --dataset, name the columns or the list by --columns" in err
    assert not Path("results").exists()
    out = rescore(path, "--partial", "--out", "run")
    assert "have no row" in out + str(_run().manifest["warnings"])
    assert _run().manifest["command"].endswith(" --partial")


def test_a_saved_layout_is_used_again_and_in_the_command(rescore, answers):
    rows = [{"q": row["question"], "a": f"{row['prediction']}, or so"} for row in answers]
    Path("mine.json").write_text(json.dumps({"all": [{"rows": rows}]}), encoding="utf-8")
    rescore("mine.json", "--out", "one", "--save-layout", "mine.yaml")
    rescore("mine.json", "--layout", "mine.yaml", "--out", "two")
    assert _run("one").records == _run("two").records
    assert "--layout mine.yaml" in _run("two").manifest["command"]
    options = ("--rows", "all[].rows", "--columns", "answer=a", "question=q")
    rescore("mine.json", *options, "--out", "three")
    assert "--columns answer=a question=q --rows 'all[].rows'" in _run("three").manifest["command"]
    assert _run("three").records == _run("one").records


def test_runs_of_the_judge_have_statistics(rescore, answers):
    for row in answers:
        row["llm_judgments"] = [True, row["qa_index"] % 2 == 0, True]
    rescore(_write(answers), "--out", "run")
    judge = _run().summary["judge"]
    assert judge["name"] == "as reported"
    assert judge["members"]["as reported"]["runs"][0] == 1.0
    assert _run().records[1]["judge"] == {"as reported": [True, False, True]}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, of a complete and of an interrupted run; commands that fail leave it."""
    folder = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        _write(sample_answers())
        _write([{"sample_id": "harbour", "question": "Who?", "said": "x"}], "said.jsonl")
        _write([{"sample_id": "harbour", "question": "Who?", "answer": "x"}], "strange.jsonl")
        Path("full").mkdir()
        Path("full/note.txt").touch()
        for name in ("done", "stopped"):
            assert main(["mine.jsonl", "--dataset", "sample", "--out", name]) == 0
    path = folder / "stopped" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"status": "interrupted"}))
    return folder


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (["said.jsonl"], "no column for the answer; name it"),
        (["strange.jsonl"], "strange.jsonl: none of the 1 rows matches a question of sample"),
        (["mine.jsonl", "--rows", "results"], "mine.jsonl: no list of objects at 'results'"),
        (["mine.jsonl", "--layout", "nobody"], "--layout nobody: no such file; name a YAML file"),
        (["mine.jsonl", "--columns", "answers=x"], "--columns: 'answers' is no field"),
        (["mine.jsonl", "--columns", "answer=said"], "no column 'said' for answer"),
        (["mine.jsonl", "--save-layout", "mine.jsonl"], "--save-layout mine.jsonl: exists"),
        (
            ["mine.jsonl", "--out", "full"],
            "full: exists and is not empty; name another folder by --out",
        ),
        (["mine.jsonl", "--name", "a/b"], "--name 'a/b': give a name without a slash"),
        (["mine.jsonl", "mine.jsonl", "--name", "x"], "--name and --out are for one FILE"),
        (["mine.jsonl", "--dataset", "other.json"], "--dataset: other.json: no such file"),
        (["full"], "full: no file of answers in this folder"),
        (
            ["done", "--name", "x"],
            "done: --name, --out, --partial, --as-written and options on columns do not apply",
        ),
        (["stopped"], "stopped: the run is interrupted; resume it to its end first"),
        (["mine.jsonl", "--name", "a" * 151], "at most 150 bytes that can be printed"),
        (["mine.jsonl", "--name", "沈" * 51], "at most 150 bytes"),
        (["mine.jsonl", "--name", "a\nb"], "that can be printed"),
        (["mine.jsonl", "--name", "\udc80"], "that can be printed"),
        (["mine.jsonl", "--name", " "], "give a name without a slash"),
        (["mine.jsonl", "--out", "/dev/null/x"], "Not a directory"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(
    arguments, says, prepared, rescore, monkeypatch
):
    monkeypatch.chdir(prepared)
    [line] = rescore(*arguments, code=2).splitlines()
    assert line.startswith("error: ")
    assert says in line
    assert not Path("results").exists()
