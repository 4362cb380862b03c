"""A corpus of overrides: each is accepted, or refused with one line that names the setting."""

from __future__ import annotations

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
from tests.eval.commands import PROJECT

_SAMPLE = f"dataset.path={PROJECT / 'data' / 'sample'}"
_BASE = ("strategy=bm25", "dataset.limit=1", "embedder=wordllama", _SAMPLE)
_WHOLE = "use a whole number of"
_WRONG = ("true", "1.5", "[1]", "{a: 1}", "-1", "1e400", "nan", "99999999999999999999")
_LLM = "reader=llm llm=openai llm.base_url=http://127.0.0.1:9/v1"
_OF_LLM = (
    ("budget_usd=abc", "budget_usd"),
    ("budget_usd=nan", "budget_usd"),
    ("model=5", "model"),
    ("key_variable=null", "key_variable"),
    ("key_variable=sk-0123456789abcdef0123", "key_variable"),
    ("base_url=http://127.0.0.1:99999/v1", "base_url"),
    ("timeout_s=nan", "timeout_s"),
    ("retries=1.5", "retries"),
    ("concurrency=0", "concurrency"),
    ("requests_per_minute=nan", "requests_per_minute"),
    ("max_tokens=true", "max_tokens"),
    ("temperature=abc", "temperature"),
    ("seed=1.5", "seed"),
    ("extra=5", "extra"),
    ("cache=sometimes", "cache"),
)
_YES_OR_NO = "; use true or false"
_MINILM = "embedder=minilm embedder."
_LENGTHS = ("0", "7", "true", "null")
_EXPAND = "strategy=graph_expand strategy."
_NOTHING = "similarity:0,access:0,recency:0,importance:0,graph:0"
_ACCEPTED = (
    "k=1 budget=1 seed=0 resamples=2 questions=1 only=[harbour/0] concurrency=16",
    "k=null budget=null questions=null failures.stop_after=null failures.tolerated=1",
    "k=2147483647 only=harbour/0 failures.tolerated=0 estimate=false cache=elsewhere",
    "scoring.protocols=[locomo,mem0] context=layered memory=windows index.alpha=1",
    "cache='a b'",
    "debug=default strategy=graph_expand graph.max_share=1",
    "strategy=graph_score strategy.k=3",
    "k=${resamples}",
    "+rounds=3 strategy.k=${rounds}",
    "strategy=graph_expand strategy.expansion.hops=2 strategy.expansion.edge_weight=1",
    "strategy=hybrid_gate",
    "strategy=hybrid_gate strategy.gate.similarity=0.5 strategy.gate.domains=null",
)
_REFUSED = (
    *((f"k={value}", "k: ") for value in _WRONG),
    *((f"{name}=-1", f"{name}: -1") for name in ("budget", "seed", "resamples", "questions")),
    *((f"failures.stop_after={value}", "failures.stop_after: ") for value in ("true", "-1")),
    *((f"concurrency={value}", "concurrency: ") for value in ("true", "1e9")),
    *((f"{name}=0", f"{name}: 0; {_WHOLE} 1 or more") for name in ("k", "budget", "concurrency")),
    ("k=abc", f"k: 'abc'; {_WHOLE} 1 or more"),
    ("seed=abc", f"seed: 'abc'; {_WHOLE} 0 or more"),
    ("questions=0", f"questions: 0; {_WHOLE} 1 or more, or null"),
    ("k=", f"k: ''; {_WHOLE}"),
    ("+k.x=1", "k: {'x': 1}"),
    ("k=range(1,2)", "--multirun"),
    ("k=1,2", "Ambiguous value for argument 'k=1,2'"),
    ("k=${nope}", "nope"),
    ("~k", "'k' not found"),
    ("~seed", f"seed: missing; {_WHOLE} 0 or more"),
    ("seed=null", "seed: None"),
    ("resamples=1", f"resamples: 1; {_WHOLE} 2 or more"),
    ("estimate=1", "estimate: 1; use true or false"),
    ("cache=5", "cache: 5; use a folder"),
    ("cache=", "cache: ''; use a folder"),
    ("pricing=5", "pricing: 5; use a file of prices, or null"),
    ("pricing=nowhere.yaml", "nowhere.yaml"),
    ("resume=1.5", "resume: 1.5; use a run, or null"),
    ("from=1.5", "from: 1.5; use a run, or null"),
    ("only=5", "only: 5; use ids of questions"),
    ("only=[]", "only: []; use ids of questions"),
    ("only=nobody/7", "only=nobody/7: "),
    ("scoring=null", "scoring: None; set scoring.protocols"),
    ("scoring.protocols=5", "scoring.protocols: 5; use a list of different protocols"),
    ("scoring.protocols=[5]", "scoring.protocols: [5]"),
    ("+scoring.x=1", "scoring.x: no such setting"),
    ("failures=5", "failures: 5; set failures.stop_after"),
    ("failures.tolerated=2", "failures.tolerated: 2; use a share, 0 to 1"),
    ("+failures.x=1", "failures.x: no such setting"),
    ("failures.x=1", "failures.x: no such setting"),
    ("=5", "=5: no setting is named"),
    ("hydra.run.dir=", "hydra.run.dir: ''; use a folder"),
    ("hydra.searchpath=[file:///nowhere]", "hydra.searchpath /nowhere: no such folder"),
    ("k=glob(*)", "k=glob(*): glob lists options, and k has none"),
    ("hydra.launcher=joblib", "hydra.launcher: 'joblib'; write hydra/launcher=NAME"),
    ("hydra.sweeper.params={k:5}", "write NAME=A,B with -m"),
    ("~strategy._target_", "strategy._target_: missing"),
    ("+index._partial_=true", "index._partial_: is of strategies alone"),
    ("judge=panel judge.members=[1]", "judge.members: [1]; use a list, each of it settings of"),
    ("judge_llm=openai", "judge_llm: 'openai'; write llm@judge_llm=openai"),
    ("judge_llm=gpt", "judge_llm: 'gpt'; write llm@judge_llm=NAME, one of grammar, local"),
    ("strategy=null", "strategy: None is no option of this group; its options are auto, bm25, "),
    ("strategy={a: 1}", "strategy: {'a': 1} is no option"),
    ("~strategy", "strategy: None is no option"),
    ("strategy=graph_expnd", "graph_expnd"),
    *((f"{group}=null", f"{group}: None is no option") for group in ("dataset", "judge", "graph")),
    ("strategy=graph_walkk", "strategy=graph_walkk: no such option; did you mean graph_walk?"),
    ("dataset=locomoo", "dataset=locomoo: no such option; did you mean locomo?"),
    ("dataset.types=[tempral]", "dataset.types: 'tempral' is not one of multi_hop, temporal,"),
    ("dataset.types=temporal", "dataset.types: 'temporal'; use a list, each of it a text, or null"),
    ("dataset.conversations=[oak]", "'oak' is not one of "),
    ("dataset.limit=0", f"dataset.limit: 0; {_WHOLE} 1 or more, or null"),
    ("dataset.path=away.json", "away.json: no such file or folder; correct dataset.path"),
    ("dataset.limmit=3", "dataset.limmit: no such setting; did you mean dataset.limit?"),
    (
        "dataset.hops=2",
        "dataset.hops: the chosen dataset has no such setting; these have it: synth",
    ),
    ("context.x=1", "context.x: no such setting (python -m eval.run --help context=... lists"),
    (
        "strategy.gate.similarity=1",
        "strategy.gate.similarity: the chosen strategy has no such setting; these have it: "
        "hybrid_gate, hybrid_gate_hybrid",
    ),
    ("stratagy=bm25", "stratagy: no such setting; did you mean strategy?"),
    ("zzzzzz=1", "zzzzzz: no such setting (python -m eval.run --cfg job prints all"),
    ("experiment=null", "experiment: None is no option"),
    ("debug=null", "debug: None is no option of this group; its options are default"),
    ("kk=3", "kk: no such setting; did you mean k?"),
    ("+kk=3", "kk: no such setting; did you mean k?"),
    ("+strategy@foo=bm25", "foo: no such setting"),
    ("a b", "a b"),
    ("k==5", "k==5"),
    ("dataset.path=5", "dataset.path: 5; use a path, or null (in two"),
    ("+strategy.foo=3", "strategy.foo: strategy=bm25 has no such setting; it has k, budget"),
    ("strategy.foo=3", "strategy.foo"),
    ("strategy.k=true", "k: True; use a whole number of 1 or more"),
    ("strategy._target_=nowhere.Nothing", "nowhere"),
    ("memory.before=true", "memory.before: True"),
    ("memory.lead=-1", "memory.lead: -1"),
    ("+memory.foo=1", "foo"),
    ("index.k1=abc", "index.k1: 'abc'"),
    ("index.k1=nan", "index.k1: nan; use a number from 0 to 1,000,000"),
    ("+index.expected=1.5", "index.expected: 1.5"),
    ("+index.vectors=annoy", "index.vectors: 'annoy'; use one of exact, flat"),
    ("graph.max_entities=1.5", "graph.max_entities: 1.5"),
    ("graph.store=[1]", "graph.store"),
    ("strategy=graph_expand strategy.start=5", "strategy.start: 5; use one of vector, lexical"),
    ("strategy=graph_expand strategy.expansion=5", "strategy"),
    (
        "strategy=graph_expand strategy.expansion.seeds=0",
        f"strategy.expansion.seeds: 0; {_WHOLE} 1 or more",
    ),
    ("strategy=graph_expand strategy.expansion.threshold=inf", "strategy.expansion.threshold: inf"),
    ("strategy=graph_expand strategy.expansion.edges=5", "strategy.expansion.edges: 5"),
    ("strategy=graph_expand strategy.expansion.hops=3", "expansion.hops: 3"),
    (
        "strategy=graph_expand +strategy.expansion.foo=1",
        "strategy.expansion.foo: strategy=graph_expand has no such setting; it has seeds, ",
    ),
    ("strategy=graph_score strategy.pool=abc", "strategy.pool: 'abc'"),
    ("strategy=graph_score strategy.weights.graph=null", "strategy.weights.graph: None"),
    ("strategy=graph_score strategy.decay_per_day=nan", "strategy.decay_per_day: nan"),
    ("strategy=hybrid_gate strategy.gate.english=also", "strategy.gate.english: 'also'"),
    ("strategy=hybrid_gate strategy.gate.chinese=[1]", "strategy.gate.chinese: [1]"),
    ("strategy=hybrid_gate strategy.gate.domains=5", "strategy.gate.domains: 5"),
    *((f"{_LLM} llm.{setting}", f"llm.{field}") for setting, field in _OF_LLM),
    (f"{_LLM} judge=llm judge.model=5", "judge.model"),
    (f"{_LLM} judge=llm judge.runs=true", "judge.runs"),
    *((f"dataset.captions={value}", _YES_OR_NO) for value in ("no", "2", "'false'")),
    *((f"{_MINILM}max_tokens={one}", "use a whole number from 8 to 512") for one in _LENGTHS),
    (f"{_MINILM}threads=0", "embedder.threads: 0; use a whole number from 1 to 256"),
    ("embedder.typical_similarity=5", "embedder.typical_similarity: 5; use a number from -1 to 1"),
    *((f"reader.max_words={one}", f"{_WHOLE} 1 or more") for one in ("0", "null")),
    *((f"reader.{one}=0", f"{_WHOLE} 1 or more") for one in ("items", "reach")),
    *((f"reader.support={one}", "use a number from 0 to 1") for one in ("-1", "5")),
    ("reader.rival=-5", "reader.rival: -5; use a number from 0 to 1"),
    ("reader.weights.reply=-1", "reader.weights.reply: -1; use a number from 0 to 1,000,000"),
    (f"{_EXPAND}expansion.reserved=11", "strategy.expansion.reserved: 11; use at most k=10"),
    (f"{_EXPAND}expansion.threshold=-5", "strategy.expansion.threshold: -5; use a number from -1"),
    (f"{_EXPAND}expansion.edge_weight=-1", "strategy.expansion.edge_weight: -1; use a number"),
    (
        f"{_EXPAND}expansion.edge_weight=0 strategy.expansion.relevance_weight=0",
        "strategy.expansion.edge_weight: 0, as relevance_weight; set one of them above 0",
    ),
    (f"{_EXPAND}weights.similarity=1e308", "strategy.weights.similarity: 1e+308; use a number"),
    (f"{_EXPAND}weights=null", "strategy.weights: None; use settings by name"),
    (f"{_EXPAND}weights={{{_NOTHING}}}", "strategy.weights: all are 0"),
    ("strategy=graph_score strategy.weights.graph=-1", "strategy.weights.graph: -1; use a number"),
    ("strategy=hybrid_gate strategy.gate.similarity=5", "strategy.gate.similarity: 5; use"),
    ("strategy=hybrid_gate strategy.gate.english=['']", "strategy.gate.english: ['']; use a list"),
    ("strategy=graph_walk strategy.damping=1", "strategy.damping: 1; use a number from 0 to 0.999"),
    ("strategy=decompose strategy.whole=no", "strategy.whole: 'no'; use true or false"),
    ("graph.max_share=1e-12", "graph.max_share: 1e-12; use a number from 1e-06 to 1"),
    ("context.longer_than=-1", f"context.longer_than: -1; {_WHOLE} 1 or more"),
    ("judge=gold_recall judge.threshold=5", "judge.threshold: 5; use a number from"),
    ("tracker=mlflow tracker.artifacts=no", "tracker.artifacts: 'no'; use true or false"),
    *((f"dataset.name={one}", "use a name without slashes") for one in ("", "null", "../x", "a/b")),
    ("memory.name=", "memory.name: ''; use a name without slashes"),
    ("~dataset.name", "dataset.name: missing; use a name without slashes"),
    ("strategy=graph_score ~strategy.k", f"strategy.k: missing; {_WHOLE} 1 or more, or null"),
    ("resamples=1000000000", "resamples: 1000000000; use a whole number of 2 or more, at most 100"),
    ("scoring.protocols=[locomo,locomo]", "scoring.protocols: ['locomo', 'locomo']; use a list of"),
    ("k=10_0", "k: 10_0; write 100, or '10_0' for a text"),
    ("dataset.limit=1_0", "dataset.limit: 1_0; write 10"),
    ("+metric=x", "metric: 'x' is no option"),
    ("strategy=[bm25,vector_only]", "strategy: ['bm25', 'vector_only'] is no option"),
    ("--config-dir=nowhere", "--config-dir nowhere: no such folder"),
    ("k=1,0", "k: 0; use a whole number"),
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
        ("dataset.kinds=[]", "dataset.kinds: []; use a list, such as [absent], or null"),
        ("dataset.each=1000", "dataset.each: 1000; use a whole number from 1 to 50"),
        ("dataset.deletion=foo", "dataset.deletion: 'foo'; use one of done, said"),
        ("dataset.base_questions=no", "dataset.base_questions: 'no'; use true or false"),
    ],
)
def test_settings_of_planted_facts_are_refused(overrides, expected):
    with pytest.raises(InputError, match=re.escape(expected)):
        build(*composed(["dataset=planted", "embedder=wordllama", overrides]))


@pytest.mark.parametrize(
    ("overrides", "idle"),
    [
        ("strategy=full_context k=3", "k=3 has no effect: strategy=full_context does not use it"),
        (
            "relation_store=neo4j",
            "relation_store=neo4j has no effect: strategy=vector_only does not",
        ),
        ("vector_store.path=x", "vector_store.path=x has no effect: strategy=vector_only does"),
        ("graph=topics", "graph=topics has no effect: strategy=vector_only uses no su"),
        ("reader=none judge=gold_recall", "judge=gold_recall has no effect: with reader=none"),
        ("reader.name=foo", "reader.name=foo has no effect: records name the option, reader=ext"),
        ("context.longer_than=5", "context.longer_than=5 has no effect: with context.summarise=nu"),
        (
            f"{_EXPAND}pool=50",
            "strategy.pool=50 has no effect: with strategy.use_graph_expan",
        ),
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
    assert message is not None
    assert expected in message
    assert "\n" not in message
