"""A corpus of overrides: each is accepted, or refused with one line that names the setting. Wrong
input of a command: exit code 2, one clear line, and nothing left behind.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from eval.rendering.errors import blame
from eval.run.build import build
from eval.run.compatible import without_effect
from eval.run.composing import composed
from memsys.core.errors import InputError
from tests.eval import faulty
from tests.eval.commands import FAULTY, PROJECT, runs_in

_SAMPLE = f"dataset.path={PROJECT / 'data' / 'sample'}"
_BASE = ("strategy=bm25", "dataset.limit=1", "embedder=wordllama", _SAMPLE)
_OF_OTHERS = "has no such setting; these have it"
_WHOLE = "use a whole number of"
_WRONG = ("true", "1.5", "[1]", "1e400", "99999999999999999999")
_LLM = "reader=llm llm=openai llm.base_url=http://127.0.0.1:9/v1"
_OF_LLM = (
    ("budget_usd=nan", "budget_usd"),
    ("model=5", "model"),
    ("key_variable=sk-0123456789abcdef0123", "key_variable"),
    ("base_url=http://127.0.0.1:99999/v1", "base_url"),
    ("extra=5", "extra"),
    ("cache=sometimes", "cache"),
)
_EXPAND = "strategy=graph_expand strategy."
_NOTHING = "similarity:0,access:0,recency:0,importance:0,graph:0"
_ACCEPTED = (
    "k=1 budget=1 seed=0 resamples=2 questions=1 only=[harbour/0,harbour/0] concurrency=16",
    "k=null budget=null questions=null failures.stop_after=null failures.tolerated=1",
    "k=2147483647 only=harbour/0 failures.tolerated=0 estimate=false cache=elsewhere",
    "scoring.protocols=[locomo,mem0] context=layered memory=windows index.alpha=1",
    "debug=default strategy=graph_expand graph.max_share=1",
    "+rounds=3 strategy.k=${rounds}",
    "strategy=graph_expand strategy.expansion.hops=2 strategy.expansion.edge_weight=1",
    "strategy=hybrid_gate strategy.gate.similarity=0.5 strategy.gate.domains=null",
)
_REFUSED = (
    *((f"k={value}", "k: ") for value in _WRONG),
    *((f"{name}=-1", f"{name}: -1") for name in ("budget", "seed", "questions")),
    ("questions=0", f"questions: 0; {_WHOLE} 1 or more, or null"),
    ("+k.x=1", "k: {'x': 1}"),
    ("k=range(1,2)", "--multirun"),
    ("k=1,2", "Ambiguous value for argument 'k=1,2'"),
    ("k=${nope}", "nope"),
    ("~k", "'k' not found"),
    ("~seed", f"seed: missing; {_WHOLE} 0 or more"),
    ("resamples=1", "resamples: 1; use a whole number from 2 to 100,000"),
    ("estimate=1", "estimate: 1; use true or false"),
    ("instructions=''", "instructions: ''; use a text that is not empty, or null"),
    ("cache=", "cache: ''; use a path"),
    ("pricing=5", "pricing: 5; use a path, or null"),
    ("pricing=nowhere.yaml", "nowhere.yaml"),
    ("resume=1.5", "resume: 1.5; use a text or a whole number, or null"),
    ("only=5", "only: 5; use a text or a list, each of it a text, or null"),
    ("only=[]", "only: []; use one or more different values"),
    ("only=nobody/7", "only=nobody/7: "),
    ("only=[failed]", "only=failed: sample has no such question"),
    ("scoring=null", "scoring: None; set scoring.protocols"),
    ("scoring.protocols=5", "scoring.protocols: 5; use a list, each of it a text"),
    ("failures=5", "failures: 5; set failures.stop_after"),
    ("failures.tolerated=2", "failures.tolerated: 2; use a number from 0 to 1"),
    ("failures.x=1", "failures.x: no such setting"),
    ("=5", "=5: no setting is named"),
    ("hydra.searchpath=[/nowhere]", "hydra.searchpath /nowhere: no such folder"),
    ("hydra.searchpath=[pkg://x,file:///nowhere]", "hydra.searchpath /nowhere: no such folder"),
    ("hydra.searchpath=5", "hydra.searchpath"),
    ("hydra.run.dir=", "hydra.run.dir: ''; use a folder"),
    ("hydra.launcher=joblib", "hydra.launcher=joblib: write hydra/launcher=NAME"),
    ("~failures", "failures: missing; use settings by name"),
    ("~strategy._target_", "strategy._target_: missing"),
    ("+index._partial_=true", "index._partial_: is of strategies alone"),
    ("judge=panel judge.members=[1]", "judge.members: [1]; use a list, each of it settings of"),
    ("judge_llm=openai", "judge_llm: 'openai'; write llm@judge_llm=openai"),
    ("judge_llm=gpt", "judge_llm: 'gpt'; write llm@judge_llm=NAME, one of grammar, local"),
    ("strategy=null", "strategy: None is no option of this group; its options are auto, bm25, "),
    ("strategy=graph_walkk", "strategy=graph_walkk: no such option; did you mean graph_walk?"),
    ("dataset.types=[tempral]", "dataset.types: 'tempral' is not one of multi_hop, temporal,"),
    ("dataset.conversations=[oak]", "'oak' is not one of "),
    ("dataset.limit=0", f"dataset.limit: 0; {_WHOLE} 1 or more, or null"),
    ("dataset.path=away.json", "away.json: no such file or folder; correct dataset.path"),
    ("dataset.limmit=3", "dataset.limmit: no such setting; did you mean dataset.limit?"),
    ("dataset.hops=2", f"dataset.hops: the chosen dataset {_OF_OTHERS}: synth"),
    (
        "strategy.gate.similarity=1",
        f"similarity: the chosen strategy {_OF_OTHERS}: hybrid_gate, hy",
    ),
    ("stratagy=bm25", "stratagy: no such setting; did you mean strategy?"),
    ("zzzzzz=1", "zzzzzz: no such setting (python -m eval.run --cfg job prints all"),
    ("debug=null", "debug: None is no option of this group; its options are default"),
    ("+kk=3", "kk: no such setting; did you mean k?"),
    ("+strategy@foo=bm25", "foo: no such setting"),
    ("dataset.path=5", "dataset.path: 5; use a path, or null (in two"),
    ("+strategy.foo=3", "strategy=bm25: Strategy.__init__() got an unexpected keyword argument"),
    ("strategy._target_=nowhere.Nothing", "nowhere"),
    ("+memory.foo=1", "foo"),
    ("index.k1=nan", "index.k1: nan; use a number from 0 to 1,000,000"),
    ("+index.expected=1.5", "index.expected: 1.5"),
    ("+index.vectors=annoy", "index.vectors: 'annoy'; use one of exact, flat"),
    ("strategy=graph_expand strategy.start=5", "strategy.start: 5; use one of vector, lexical"),
    ("strategy=graph_expand strategy.expansion=5", "strategy"),
    ("strategy=graph_expand strategy.expansion.hops=3", "expansion.hops: 3"),
    ("strategy=graph_expand +strategy.expansion.foo=1", "unexpected keyword argument 'foo'"),
    *((f"{_LLM} llm.{setting}", f"llm.{field}") for setting, field in _OF_LLM),
    (f"{_LLM} judge=llm judge.model=5", "judge.model"),
    ("embedder.typical_similarity=5", "embedder.typical_similarity: 5; use a number from -1 to 1"),
    ("reader.weights.reply=-1", "reader.weights.reply: -1; use a number from 0 to 1,000,000"),
    (f"{_EXPAND}expansion.reserved=11", "strategy.expansion.reserved: 11; use at most k=10"),
    (
        f"{_EXPAND}expansion.edge_weight=0 strategy.expansion.relevance_weight=0",
        "strategy.expansion.edge_weight: 0, as relevance_weight; set one of them above 0",
    ),
    (f"{_EXPAND}weights=null", "strategy.weights: None; use settings by name"),
    (f"{_EXPAND}weights={{{_NOTHING}}}", "strategy.weights: all are 0"),
    ("strategy=hybrid_gate strategy.gate.english=['']", "strategy.gate.english: ['']; use a list"),
    ("strategy=graph_walk strategy.damping=1", "strategy.damping: 1; use a number from 0 to 0.999"),
    ("graph.max_share=1e-12", "graph.max_share: 1e-12; use a number from 1e-06 to 1"),
    ("embedder=minilm embedder.max_tokens=7", "use a whole number from 8 to 512"),
    ("context.longer_than=-1", f"context.longer_than: -1; {_WHOLE} 1 or more"),
    *((f"dataset.name={one}", "use a name without slashes") for one in ("null", "../x")),
    ("~dataset.name", "dataset.name: missing; use a name without slashes"),
    ("strategy=graph_score ~strategy.k", f"strategy.k: missing; {_WHOLE} 1 or more, or null"),
    ("scoring.protocols=[locomo,locomo]", "protocols: ['locomo', 'locomo']; use one or more"),
    ("+metric=x", "metric: 'x' is no option"),
    ("strategy=[bm25,vector_only]", "strategy: ['bm25', 'vector_only'] is no option"),
    ("--config-dir=nowhere", "--config-dir nowhere: no such folder"),
    ("strategy=bm25,5", "strategy: 5 is no option"),
)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _begin(overrides: str) -> None:
    """Do what `python -m eval.run` does before it writes anything."""
    config, choices = composed([*_BASE, *_split(overrides)])
    build(config, choices)


def _split(overrides: str) -> Sequence[str]:
    parts = overrides.split(" ")
    return parts if all("=" in part or part[0] == "~" for part in parts) else [overrides]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ("dataset=planted dataset.kinds=[]", "dataset.kinds: []; use a list, such as [absent], or"),
        ("dataset=planted dataset.deletion=foo", "dataset.deletion: 'foo'; use one of done, said"),
        (
            "dataset=beir dataset.path=x",
            "reader=extractive: dataset=beir has no gold answers, only relevant documents; add "
            "reader=none",
        ),
    ],
)
def test_settings_of_other_data_are_refused(overrides, expected):
    with pytest.raises(InputError, match=re.escape(expected)):
        build(*composed(["embedder=wordllama", *overrides.split()]))


@pytest.mark.parametrize(
    ("overrides", "idle"),
    [
        ("strategy=full_context k=3", "k=3 has no effect: strategy=full_context does not use it"),
        ("relation_store=neo4j", "relation_store=neo4j has no effect: strategy=vector_only does"),
        ("vector_store.path=x", "vector_store.path=x has no effect: strategy=vector_only does"),
        ("graph=topics", "graph=topics has no effect: strategy=vector_only uses no su"),
        ("reader=none judge=gold_recall", "judge=gold_recall has no effect: with reader=none"),
        ("reader.name=foo", "reader.name=foo has no effect: records name the option, reader=ext"),
        ("context.longer_than=5", "context.longer_than=5 has no effect: with context.summarise=nu"),
        (f"{_EXPAND}pool=50", "strategy.pool=50 has no effect: with strategy.use_graph_"),
        (f"{_EXPAND}expansion.judge_prompt=x", "has no effect: with strategy.expansion.judge=null"),
        ("strategy=graph_score strategy.pool=50 graph=topics k=5 judge=none context=xml", None),
        ("strategy=mem0 relation_store.path=null vector_store.path=x", "relation_store.path=null"),
    ],
)
def test_a_setting_without_effect_is_named(overrides, idle):
    given = overrides.split(" ")
    notes = list(without_effect(*composed(given), given))
    assert [note.startswith("note: ") for note in notes] == ([] if idle is None else [True])
    assert idle is None or idle in notes[0]


def test_a_pool_below_k_is_refused_where_it_is_not_used_either():
    given = ["strategy=graph_expand", "strategy.pool=5"]
    with pytest.raises(InputError, match=r"strategy\.pool: 5; use a whole number of k=10 or more"):
        list(without_effect(*composed(given), given))


@pytest.mark.parametrize("overrides", _ACCEPTED)
def test_accepted(overrides):
    _begin(overrides)


@pytest.mark.parametrize(("overrides", "expected"), _REFUSED)
def test_refused_with_one_line(overrides, expected):
    with pytest.raises((InputError, HydraException, OmegaConfBaseException)) as raised:
        _begin(overrides)
    message = blame(raised.value)
    assert expected in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("strategy=nope", "strategy=nope: no such option; its options are auto, bm25, cognee, dec"),
        ("k=0", "k: 0; use a whole number of 1 or more"),
        ("dataset.path=broken.json", "broken.json: not JSON (column 2"),
        ("embedder=openai", "embedder=openai: set the variable OPENAI_API_KEY to your key"),
        ("k=${kk}", "Interpolation key 'kk' not found"),
    ],
)
def test_one_line_and_no_folder(start, tmp_path, small, argument, said):
    (tmp_path / "broken.json").write_text("[oops")
    ended = start("strategy=vector_only", *small, argument).one_line(said)
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert runs_in(tmp_path) == []


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ((*FAULTY, "strategy=faulty", "strategy.fault=construct"), "RuntimeError: cannot be made"),
        (
            ("strategy=bm25", "dataset._target_=tests.eval.faulty.FaultyDataset"),
            "KeyError: 'sessions'",
        ),
    ],
)
@pytest.mark.usefixtures("fault")
def test_a_fault_of_code_is_not_called_bad_input(start, tmp_path, small, choice, message):
    ended = start(*small, *choice)
    assert ended.code == 1
    assert ended.err.startswith(f"error: {message} (")
    assert ended.err.count("\n") == 1
    place = re.search(r"faulty\.py:(\d+)\); traceback: (.*)", ended.err)
    assert place, ended.err
    line = (Path(faulty.__file__)).read_text().splitlines()[int(place[1]) - 1]
    assert "raise" in line or "[" in line
    text = (tmp_path / place[2]).read_text()
    assert text.startswith("Traceback")
    assert message in text


def test_blame_finds_the_input_error_that_another_error_wraps():
    wrapped = RuntimeError("Error in call to target")
    wrapped.__cause__ = InputError("k: 0")
    assert blame(wrapped) == "k: 0"
    assert blame(RuntimeError("k: 0")) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"x: [", "cannot be read: while parsing a flow node"),
        (b"a: \xff", "cannot be read: 'utf-8' codec can't decode byte 0xff"),
        (b"defaults: [bad]", "cannot be read: it names itself in its defaults"),
        (b"a: 1", "strategy._target_: missing; name the class of the option"),
    ],
)
def test_a_broken_option_of_the_user_is_one_line(start, tmp_path, small, text, said):
    (tmp_path / "own" / "strategy").mkdir(parents=True)
    (tmp_path / "own" / "strategy" / "bad.yaml").write_bytes(text)
    start("--config-dir=own", "strategy=bad", *small).one_line(said)
