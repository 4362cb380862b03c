import re

import pytest

from eval.analyse.diagnose.__main__ import main
from tests.eval.analyse.diagnose.made_runs import record, write_run
from tests.eval.commands import Run, run_main
from tests.eval.factory import error

EXCLUDED = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}
TITLES = ["Retrieval and reading", "Direct and expanded", "Gate", "Abstention"]
DIRECT = [record("a/1", "a", "axy", f1=1.0), record("b/1", "b", "xyz")]
# Two questions of two hops, of which the graph finds more, and two of type 5.
TINY = (
    *("dataset=synthetic", "dataset.conversations=2", "dataset.sessions=3", "dataset.turns=8"),
    *("dataset.hops=2", "k=3"),
)


def test_real_runs_are_diagnosed_by_what_they_recorded(tmp_path, cache, said):
    runs = {}
    for strategy in ("hybrid_gate", "vector_only", "graph_expand"):
        folder = tmp_path / strategy
        run_main(tmp_path, cache, *TINY, f"strategy={strategy}", f"hydra.run.dir={folder}").ok()
        runs[strategy] = Run(folder)
    gated, direct, always = (run.folder for run in runs.values())
    out = said(main, gated, "--direct", direct, "--expanded", always, "--wide")
    assert re.findall(r"^(.+)\n=+$", out, re.MULTILINE) == TITLES
    counted = [row for row in runs["hybrid_gate"].records if row["category"] != 5]
    some = [row for row in counted if 0 < row["scores"]["evidence_recall"] < 1]
    right = sum(row["scores"]["locomo_f1"] >= 0.5 for row in some) / len(some)
    row = re.search(r"^overall \(types 1-4\) +some +(\d+) .* (\d\.\d{3}) \[\S+ \S+\]$", out, re.M)
    assert (int(row[1]), row[2]) == (len(some), f"{right:.3f}")
    gates = [row["trace"]["gate"]["rule"] for row in runs["hybrid_gate"].records]
    assert set(gates) == {"closed", "similarity"}
    for rule in set(gates):
        assert re.search(rf"^{rule} +{gates.count(rule)} +\d", out, re.M)
    reached = {}
    for name, run in runs.items():
        recalls = [r["scores"]["evidence_recall"] for r in run.records if r["category"] != 5]
        reached[name] = f"{sum(recalls) / len(recalls):.3f}"
    assert reached["vector_only"] < reached["graph_expand"]
    (line,) = re.findall(r"never +this gate +always.*?^overall.*?$", out, re.M | re.S)
    shown = re.findall(r"(\d\.\d{3}) \[", line.splitlines()[-1])
    assert shown[:3] == [reached[name] for name in ("vector_only", "hybrid_gate", "graph_expand")]


def test_what_is_in_no_figure_is_counted(tmp_path, said):
    scores = {"locomo_f1": None, "judge": None}
    rows = [
        *DIRECT,
        record("b/2", "a", "a", key=EXCLUDED, scores=scores, abstained=True),
        record("b/3", "a", "a", scores=scores) | error(),
    ]
    out = said(main, str(write_run(tmp_path / "run", rows)))
    assert "4 questions of 2 conversations; not counted: 1 failed, 1 excluded by the answer" in out
    assert re.search(r"^single_hop +\(any\) +2 +0\.500", out, re.M)
    assert re.search(r"^all +0 +2 +0\.0%", out, re.M)


def test_score_and_threshold(tmp_path, said):
    rows = [
        record(f"a/{i}", "a", "a", scores={"locomo_f1": 0.6, "strict_f1": f1, "judge": None})
        for i, f1 in enumerate((0.2, 0.4))
    ]
    run = str(write_run(tmp_path / "run", rows, scoring=["strict"]))
    for options, told in (
        ([], r"^single_hop +all +2 +0\.300 .* 0\.000 "),
        (["--correct", "0.4"], r"^single_hop +all +2 +0\.300 .* 0\.500 "),
        (["--score", "f1_locomo"], r"^single_hop +all +2 +0\.600 .* 1\.000 "),
    ):
        assert re.search(told, said(main, run, *options), re.M)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{run} --expanded {run}", "--expanded: needs --direct RUN"),
        ("{run} --direct {run}", "have no trace.expansion"),
        ("{run} --correct 0", "--correct 0: scores are 0 to 1"),
        ("{run} --correct nan", "--correct nan"),
        ("{run} --score bleu2", "use --score with one of locomo_f1"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments, told, tmp_path, refused):
    run = write_run(tmp_path / "run", DIRECT)
    assert told in refused(main, *arguments.format(run=run).split())
