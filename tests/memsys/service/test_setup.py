"""The parts come from a run that was benchmarked, or from a file with the same groups."""

import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from memsys.core.errors import InputError
from memsys.core.trusted import CONF
from memsys.embed.minilm import MiniLM
from memsys.service.memory import Memory
from memsys.service.setup import Setup, load_setup
from memsys.stores.faiss_vectors import FaissVectors

BAG = "embedder: {_target_: tests.memsys.build.BagOfWords}\n"


pytestmark = pytest.mark.usefixtures("trusting")


def run(folder: Path, *overrides: str) -> Path:
    """A run's folder as far as its manifest's configuration goes."""
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
        config = compose("config", ["cache=cache", *overrides])  # its resolver is that of eval
    folder.mkdir(parents=True, exist_ok=True)
    kept = OmegaConf.to_container(config, resolve=True)
    (folder / "manifest.json").write_text(json.dumps({"config": kept}), encoding="utf-8")
    return folder


def start_of(made: Setup) -> str | None:
    """The ranking by words, or by both; None by vectors."""
    return made.strategy.make.keywords["start"] if made.strategy else None


@pytest.mark.parametrize(
    ("strategy", "start"), [("vector_only", None), ("bm25", "lexical"), ("hybrid_rank", "hybrid")]
)
def test_a_run_gives_its_ranking_its_k_and_its_parts(tmp_path, strategy, start):
    made = load_setup(run(tmp_path / "run", f"strategy={strategy}", "k=7", "index.alpha=0.25"))
    assert (start_of(made), made.k, made.index.alpha) == (start, 7, 0.25)
    assert (made.embedder.name, made.builder.name) == (load_setup(None).embedder.name, "turns")
    assert (made.llm, made.infer, made.vectors) == (None, False, None)


def test_a_run_of_mem0_gives_its_facts_and_its_model(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    own = ["strategy=mem0", "llm=openai", "llm.model=tiny", "strategy.facts.exchange=5"]
    own += ["strategy.update.calls=schema", "strategy.update.similar=4"]
    made = load_setup(run(tmp_path / "run", *own))
    assert (made.llm.name, made.infer, made.strategy) == ("tiny", True, None)
    prompts = made.facts.prompt, made.facts.assistant_prompt
    assert (made.facts.exchange, *prompts) == (5, "facts_user", "facts_assistant")
    assert (made.update.calls, made.update.similar) == ("schema", 4)
    assert load_setup(run(tmp_path / "raw", "strategy=mem0", "strategy.infer=false")).infer is False


def test_a_file_can_change_single_settings_of_facts_and_their_update(tmp_path):
    path, prompt = tmp_path / "mine.yaml", tmp_path / "mine.txt"
    prompt.write_text("On {time}: {messages}", encoding="utf-8")
    path.write_text(
        f"{BAG}strategy: mem0\nfacts: {{prompt: {prompt}}}\n"
        "update: {compare: owner, similar: 5}\nsummary: {background: true}\n",
        encoding="utf-8",
    )
    made = load_setup(path)
    assert (made.facts.prompt, made.facts.assistant_prompt) == (str(prompt), None)
    assert (made.update.compare, made.update.similar) == ("owner", 5)
    assert (made.facts.exchange, made.update.calls) == (2, "tools")  # as in the strategy
    assert (made.summary.background, made.summary.searchable) == (True, False)


def test_a_run_can_be_named_by_its_id(tmp_path, monkeypatch):
    run(tmp_path / "results" / "runs" / "mine", "k=3")
    monkeypatch.chdir(tmp_path)
    assert load_setup("mine").k == 3


def test_a_file_names_options_or_settings(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        BAG + "memory: windows\nstrategy: hybrid_rank\nk: 4\n"
        "vector_store: {_target_: memsys.stores.faiss_vectors.FaissVectors, "
        f"path: {tmp_path}/v}}\n"
        "weights: {recency: 0.5}\nindex: {_target_: memsys.index.rank.IndexSettings, k1: 1, b: 0, "
        "alpha: 1}\n"
    )
    made = load_setup(path)
    named = made.embedder.name, made.builder.name, start_of(made), made.k
    assert named == ("bag", "windows", "hybrid", 4)
    assert (made.weights.relevance, made.weights.recency) == (1.0, 0.5)
    assert isinstance(made.vectors, FaissVectors)
    made.vectors.close()
    with Memory.from_config(path, tmp_path / "memories") as store:
        store.add("kiln", user_id="mara")
        assert len(store.search("kiln", user_id="mara")) == 1


def test_a_group_may_change_single_settings_of_an_option(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    llm = {"option": "openai", "max_tokens": 4096, "extra": {"top_p": 0.5}}
    strategy = {"option": "graph_expand", "k": 4, "expansion": {"hops": 2}}
    made = load_setup({"embedder": "wordllama", "llm": llm, "strategy": strategy})
    settings = made.llm._settings
    assert (settings.max_tokens, settings.model, settings.timeout_s) == (4096, "gpt-4o-mini", 60)
    assert settings.extra == {"top_p": 0.5}
    expansion = made.strategy.make.keywords["expansion"]
    assert (made.k, expansion["hops"], expansion["seeds"]) == (4, 2, 5)
    # of the default option, or openai
    made = load_setup({"llm": {"model": "gpt-4o"}, "index": {"alpha": 0.25}, "k": 3})
    assert (made.llm.name, made.index.alpha, made.k) == ("gpt-4o", 0.25, 3)


MEM0_LLM = {"llm": {"provider": "openai", "config": {"model": "gpt-4o", "temperature": 0.2}}}


def test_groups_may_be_written_as_in_mem0(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    address = "http://127.0.0.1:9/v1"
    chat = {**MEM0_LLM["llm"]["config"], "openai_base_url": address, "api_key": None}
    groups = {"llm": chat, "embedder": {"openai_base_url": address}}
    config = {name: {"provider": "openai", "config": own} for name, own in groups.items()}
    faiss = {"provider": "faiss", "config": {"path": str(tmp_path / "v")}}
    made = load_setup({"version": "v1.1", **config, "vector_store": faiss})
    settings = made.llm._settings
    assert (settings.model, settings.temperature, settings.base_url) == ("gpt-4o", 0.2, address)
    assert made.embedder.name.startswith("text-embedding-3-small")
    assert (made.infer, made.relations) == (True, None)
    assert isinstance(made.vectors, FaissVectors)
    made.vectors.close()
    graph = {"provider": "neo4j", "config": {"uri": "x"}}
    with pytest.raises(InputError, match=r"graph_store|relation_store"):
        load_setup({**MEM0_LLM, "graph_store": graph})
    assert load_setup({**MEM0_LLM, "strategy": "vector_only"}).infer is False


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"llm": {"provider": "azure"}}, "llm: 'azure' is none of grammar, local, none, openai"),
        ({"llm": {"provider": "openai", "config": "sk-secret"}}, "llm: config: Input should be"),
        ({"llm": {"provider": "openai", "config": {"api_key": "sk-secret"}}}, "environment var"),
        ({"llm": {"provider": "openai", "key": "sk-secret"}}, "llm: key: Extra inputs are not"),
        ({"version": "v1.0"}, "version: Input should be 'v1.1'"),
        ({"custom_fact_extraction_prompt": "a", "facts": 3}, "give it or facts, not both"),
        ({"custom_fact_extraction_prompt": " "}, "facts.system: ' '; use a text that is"),
        ({"custom_instructions": "a", "instructions": "b"}, "give it or instructions, not both"),
    ],
)
def test_what_is_wrong_in_mem0_s_form_is_named_without_a_key(more, message):
    with pytest.raises(InputError) as caught:
        load_setup(more)
    assert message in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_nothing_named_is_the_default():
    for source in (None, {"llm": {}, "embedder": {}}):  # a group without settings is named by none
        made = load_setup(source)
        assert isinstance(made.embedder, MiniLM)
        assert (made.strategy, made.k, made.weights.plain, made.llm) == (None, 10, True, None)


def test_relations_may_come_in_the_reply_that_has_the_facts():
    config = {"strategy": "mem0_graph", "llm": "grammar", "embedder": "wordllama"}
    made = load_setup({**config, "facts": {"relations": "same_reply"}})
    assert (made.facts.relations, made.relations.max_share) == ("same_reply", None)


@pytest.mark.parametrize("strategy", ["bm25", "fusion"])
def test_a_graph_that_the_strategy_does_not_use_needs_no_model(strategy):
    made = load_setup({"strategy": strategy, "graph": "relations", "embedder": "wordllama"})
    assert (made.relations, made.llm) == (None, None)


LAUGHS = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("embeder: minilm\n", "embeder: no such setting; there are budget, context"),
        ("embedder: ../config\n", "embedder: '../config' is none of minilm"),
        ("strategy: mem0_graph\n", "no model to write relations with; set llm="),
        ("strategy: {_target_: builtins.dict}\n", "strategy: builtins.dict is not trusted"),
        ("embedder: {_target_: no.such.Class}\n", "no.such.Class"),
        ("llm: {_target_: memsys.llm.local.LocalServer}\n", "llm: LocalServer is no chat model"),
        ("strategy: {_target_: baselines.mem0.Mem0}\n", "facts: give names with values, or name"),
        ("llm: {tokens: 9}\n", "llm: tokens: no such setting; there are base_url"),
        (
            "strategy: {option: graph_expand, expansion: {hop: 2}}\n",
            "strategy.expansion: hop: no such setting; there are edge_weight",
        ),
        ("facts: {prompt: nowhere.txt}\n", "prompt nowhere.txt: no such file; name one of"),
        ("update: {prompt: facts_user}\n", "the place {memories} is missing"),
        ("procedure: {prompt: no.txt}\n", "prompt no.txt: no such file"),
        ("facts: {promt: x}\n", "facts: promt: no such setting; there are a"),
        ("facts: 3\n", "facts: give names with values, or name"),
        ("facts: {relations: same_reply}\n", "same_reply: needs strategy=mem0_graph"),
        (
            "strategy: mem0_graph\nllm: grammar\nfacts: {relations: same_reply, exchange: 4}\n",
            "same_reply: needs strategy=mem0_graph or graph=relations, with the same exchange",
        ),
        (
            "strategy: graph_expand\ngraph: {option: relations, relation_store: null}\n",
            "graph.relation_store: None; leave it out, or give all settings",
        ),
        (
            "strategy: {option: mem0_graph, store: {path: r.sqlite}}\n",
            "strategy.store: {'path': 'r.sqlite'}; leave it out",
        ),
        (
            "strategy: graph_expand\nllm: grammar\ngraph: {option: relations, max_share: 2}\n",
            "graph.max_share: 2; use a number from 0 to 1",
        ),
        ("summary: {background: 1}\n", "summary.background: 1; use true or false"),
        ("memory: observations\n", "memory=observations: messages are stored verbatim"),
        ("memory: facts\n", "memory=facts: messages are stored verbatim"),
        ("weights: {recency: -1}\n", "weights.recency: -1; use a number"),
        ("weights: {relevence: 1}\n", "relevence: no such setting; there are access, "),
        ("weights: {pool: 0}\n", "weights.pool: 0; use a whole number"),
        ("k: 0\n", "k: 0; use a whole number"),
        ("budget: 0\n", "budget: 0; use a whole number"),
        ("index: {b: 9}\n", "index.b: 9; use"),
        ("procedure: {max_tokens: 0}\n", "procedure.max_tokens: 0; use"),
        ("k: [\n", "mine.yaml: not YAML"),
        (LAUGHS, "mine.yaml: not YAML: more than 200,000 values once its aliases are"),
        pytest.param("x" * 10_000_001, "mine.yaml: has 10,000,001 bytes", id="long"),
        ("- k\n", "cannot be read as a configuration"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_setup(path)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("content", [None, "{", "{}", '{"config": 3}', '{"config": {"k": NaN}}'])
def test_a_folder_without_a_run_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError, match=r"manifest\.json: cannot be read"):
        load_setup(tmp_path)
