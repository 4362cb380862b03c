import sys

from tests.eval.commands import run_main, runs_in
from tests.eval.examples import EXAMPLES, write_examples

FILES = ("first_memory.py", "conf/reader/first_memory.yaml")
LINES = 22


def test_own_reader_answers(tmp_path, cache, small, monkeypatch):
    assert all(len(EXAMPLES[name].splitlines()) < LINES for name in FILES)
    write_examples(tmp_path, *FILES)
    monkeypatch.syspath_prepend(tmp_path)
    chosen = ("--config-dir", "conf", "reader=first_memory", "strategy=vector_only")
    ended = run_main(tmp_path, cache, *chosen, *small)
    sys.modules.pop("first_memory")
    assert ended.code == 0, ended.err
    (run,) = runs_in(tmp_path)
    assert run.manifest["models"]["reader"] == "first_memory"
    assert len(run.records) == 21
    assert all(record["answer"].startswith(("Ada: ", "Bo: ")) for record in run.records)
    assert not any(record["abstained"] for record in run.records)
