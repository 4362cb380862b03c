"""A memory ranks by the classes that were benchmarked: same order, same scores, real accesses."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra.utils import instantiate

from baselines.libraries.memory import names
from memsys.core.errors import InputError
from memsys.core.trusted import CONF
from memsys.core.types import Candidate, Query
from memsys.graph.build import build_graph
from memsys.graph.score import access_frequency, recency
from memsys.llm.base import LLMError
from memsys.llm.client import NoModel
from memsys.service.configuration import composed, resolved
from memsys.service.configuration_source import NUMBERS, OPTIONS
from memsys.service.memory import Memory
from memsys.service.setup import load_setup
from memsys.strategies.strategy import Strategy
from tests.memsys.build import BagOfTokens, ingest_all, query, session
from tests.memsys.service.made import fill, messages, texts
from tests.memsys.service.test_relations import model
from tests.memsys.service.test_setup import run

WORDS = ("Where did Mara sell a bowl?", "What other news of the tomato seedlings?", "kiln", "")
BAG = "embedder: {_target_: tests.memsys.build.BagOfTokens}\n"
OTHERS = {*names(), "given", "mcp", "no_memory", "oracle", "rest"}
FACTS = {"mem0", "mem0_graph", "mem0_graph_follow"}  # of a model
RANKING = sorted({f.stem for f in (CONF / "strategy").glob("*.yaml")} - OTHERS - FACTS)
ZERO = {"access": 0.0, "recency": 0.0}  # of a benchmark they are derived from the text


pytestmark = pytest.mark.usefixtures("trusting", "composed_once")


@cache
def option(**groups: str) -> str:
    """The settings of options of conf/, as JSON."""
    return json.dumps(resolved(composed({**NUMBERS, **groups}, "test"), "test"))


def settings_of(strategy: str) -> dict[str, Any]:
    """The settings of an option, without the terms that need accesses."""
    chosen: dict[str, Any] = json.loads(option(**{**OPTIONS, "strategy": strategy}))["strategy"]
    if "weights" in chosen:
        chosen["weights"] |= ZERO
    return chosen


def opened(folder: Path, strategy: Mapping[str, Any] | str, **more: Any) -> Memory:
    path = folder / "mine.yaml"
    path.write_text(BAG + yaml.safe_dump({"strategy": strategy, "memory": "turns", **more}))
    return Memory.from_config(path, folder / "memories")


def strategy_of(chosen: Any, parts: Any, *given: Any, **own: Any) -> Strategy:
    """The benchmark's, over turns."""
    own = {"memory": instantiate(json.loads(option(memory="turns"))["memory"]), **own}
    made: Strategy = instantiate(chosen, _convert_="all")(parts=parts(*given, **own))
    return made


@pytest.mark.parametrize("strategy", RANKING)
def test_every_strategy_ranks_as_in_the_benchmark(tmp_path, parts, strategy):
    chosen = settings_of(strategy)
    benchmarked = ingest_all(strategy_of(chosen, parts, BagOfTokens()))
    time = datetime(2024, 7, 1)
    with opened(tmp_path, chosen) as store:
        fill(store)
        for text in WORDS:
            expected = benchmarked.rank(query(text, time=time))[0][: benchmarked.k]
            scores = [one.score for one in expected]
            if strategy == "bm25":  # whose scores are scaled, so that they can be weighted
                relevance = benchmarked.store.relevance(text, "lexical")
                scores = sorted(relevance.tolist(), reverse=True)[: len(expected)]
            found = store.search(text, user_id="talk", time=time)
            assert [f.record.turns for f in found] == [c.memory.turns for c in expected]
            assert [f.score for f in found] == pytest.approx(scores, abs=1e-6)
            assert texts(found) == [c.memory.content for c in expected]


def test_fusion_has_the_scale_of_the_other_terms_of_a_score(tmp_path):
    weights = {"relevance": 0.5, "recency": 2.0, "decay_per_day": 0.0}
    with opened(tmp_path, settings_of("fusion"), weights=weights) as store:
        fill(store)
        found = store.search(WORDS[0], user_id="talk", time=datetime(2024, 7, 1), top_k=100)
        relevances = [one.relevance for one in found]
        assert (max(relevances), min(relevances)) == (1.0, 0.0)
        assert [f.score for f in found] == pytest.approx([0.5 * r + 2 for r in relevances])


@pytest.mark.parametrize("strategy", ["bm25", "hybrid_rank"])
def test_a_score_of_every_memory_needs_neither_an_approximate_index_nor_a_graph(
    tmp_path, monkeypatch, strategy
):
    monkeypatch.setattr("memsys.strategies.store.LargeVectors", None)
    if strategy == "bm25":
        monkeypatch.delattr("memsys.service.database.MemoryDatabase.vectors_of")
    with opened(tmp_path, strategy, index="large", graph={"max_share": None}) as store:
        fill(store)
        assert store.search(WORDS[0], user_id="talk")


def test_graph_score_counts_the_searches_that_returned_a_memory(tmp_path):
    weights = {"similarity": 0.0, "access": 1.0, "recency": 1.0, "importance": 0.0, "graph": 0.0}
    chosen = settings_of("graph_score") | {"weights": weights}
    said, asked = datetime(2024, 6, 1), datetime(2030, 1, 1)
    with opened(tmp_path, chosen) as store:
        store.add("a kiln", user_id="mara", time=said)
        first, second, third = (
            store.search("kiln", user_id="mara", time=asked)[0] for _ in range(3)
        )
    assert first.score == pytest.approx(recency(said, asked, 0.01))
    for count, found in ((1, second), (2, third)):
        expected = access_frequency(count) + recency(found.record.accessed, asked, 0.01)
        assert found.score == pytest.approx(expected, abs=1e-3)
        assert found.score > first.score + 0.1


def test_a_graph_is_built_once_until_a_memory_of_the_owner_changes(tmp_path, monkeypatch):
    built: list[int] = []

    def counted(memories: Any, *rest: Any) -> Any:
        built.append(len(memories))
        return build_graph(memories, *rest)

    monkeypatch.setattr("memsys.strategies.store.build_graph", counted)
    with opened(tmp_path, "graph_expand") as store:
        (first, *_) = store.add("Mara fired the kiln", user_id="mara").changes
        store.add("Mara sold a bowl from the kiln", user_id="mara", run_id="r1")
        store.add("tomato seedlings", user_id="noor")
        for top_k in (1, 2, 2):
            assert store.search("kiln", user_id="mara", top_k=top_k)
        assert built == [2]
        store.add("more seedlings", user_id="noor")  # another owner's
        store.search("kiln", user_id="mara")
        assert built == [2]
        sold = ["Mara sold a bowl from the kiln"]
        assert texts(store.search("kiln", user_id="mara", run_id="r1")) == sold
        assert texts(store.search("kiln", user_id="mara", filters={"no": 1})) == []
        store.update(first.id, "Mara fired the raku kiln")
        assert "Mara fired the raku kiln" in texts(store.search("kiln", user_id="mara"))
        store.delete(first.id)
        assert texts(store.search("kiln", user_id="mara")) == sold
        with Memory(tmp_path / "memories", load_setup(tmp_path / "mine.yaml")) as other:
            other.add("the kiln of another process", user_id="mara")
        assert len(store.search("kiln", user_id="mara")) == 2


def test_stored_vectors_are_used_and_the_query_alone_is_embedded(tmp_path):
    with opened(tmp_path, "graph_expand_hybrid") as store:
        fill(store)
    (tmp_path / "memories" / "cache").rename(tmp_path / "elsewhere")
    for asked, owner, count in (("kiln", "talk", 1), ("of nobody", "nobody", 0)):
        setup = load_setup(tmp_path / "mine.yaml")
        with Memory(tmp_path / "memories", setup) as store:
            assert len(store.search(asked, user_id=owner, top_k=1)) == count
        embedded = [text for batch in setup.embedder.batches for text in batch]
        assert asked in embedded  # it is loaded for nobody, too
        assert set(embedded) <= {asked, "warm up"}


@pytest.mark.parametrize(
    ("strategy", "own"), [("graph_score", {"pool": 10}), ("hybrid_gate", {}), ("graph_follow", {})]
)
def test_more_or_fewer_results_than_a_strategy_is_set_to(tmp_path, strategy, own):
    with opened(tmp_path, settings_of(strategy) | own) as store:
        for number in range(12):
            store.add(f"kiln {number}", user_id="mara")
        five = store.search("kiln", user_id="mara", top_k=5)
        assert texts(store.search("kiln", user_id="mara", top_k=3)) == texts(five)[:3]
        assert len(store.search("kiln", user_id="mara", top_k=12)) == 12
        if strategy == "hybrid_gate":
            for text, rule in (("Can you recommend a kiln?", "word:recommend"), ("kiln", "closed")):
                for ask in (store.search, store.context):
                    assert ask(text, user_id="mara").trace["gate"]["rule"] == rule


def test_full_context_is_everything_in_order_or_the_newest(tmp_path):
    with opened(tmp_path, settings_of("full_context") | {"budget": 40}) as store:
        lines = [f"news {number}" for number in range(14)]
        for text in lines:
            store.add(text, user_id="mara")
        assert texts(store.search("anything", user_id="mara")) == lines
        assert texts(store.search("anything", user_id="mara", top_k=2)) == lines[-2:]


# Of the others, test_every_strategy_ranks_as_in_the_benchmark shows that settings are accepted.
RUNS = [*sorted(FACTS), "graph_walk", "hybrid_gate", "graph_expand graph=relations"]


@pytest.mark.parametrize("strategy", RUNS)
def test_the_run_of_every_strategy_configures_a_memory(tmp_path, monkeypatch, strategy):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    folder = run(tmp_path / "run", *f"strategy={strategy}".split(), "llm=openai")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["config"]["embedder"] = {"_target_": "tests.memsys.build.BagOfTokens"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with Memory.from_config(folder, tmp_path / "memories") as store:
        assert store.enable_graph == strategy.startswith("mem0_graph")
        assert store.search("nothing yet", user_id="mara", enable_graph=False) == []


@pytest.mark.parametrize("strategy", ["graph_expand", "hybrid_gate", "graph_score"])
def test_relations_that_a_model_wrote_link_memories(tmp_path, monkeypatch, parts, strategy):
    llm, chosen = model(), settings_of(strategy)
    chosen |= {"gate": OPEN} if strategy == "hybrid_gate" else {}
    relations = json.loads(option(**{**OPTIONS, "graph": "relations"}))["graph"] | {"exchange": 1}
    benchmarked = strategy_of(chosen, parts, graph=instantiate(relations), llm=llm)
    monkeypatch.setattr(NoModel, "open", lambda *_: llm)
    lines = [f"Mara - {verb} - {what}" for what in ("kiln", "kelp") for verb in ("owns", "sold")]
    with opened(tmp_path, chosen, graph=relations) as store:
        assert not store.enable_graph
        for number, text in enumerate(lines, 1):
            day = datetime(2024, 6, number)
            one = session(number, day, ("Mara", text), ("Noor", f"Good news {number}"))
            benchmarked.ingest(one)
            added = store.add(messages(one), user_id="mara", time=day)
            assert len(added.relations) == 1
            expected = benchmarked.rank(query("Who owns a kiln?"))[0][: benchmarked.k]
            found = store.search("Who owns a kiln?", user_id="mara", time=datetime(2024, 7, 1))
            assert [f.record.turns for f in found] == [c.memory.turns for c in expected]
            assert [f.score for f in found] == pytest.approx([c.score for c in expected])
        asked = {kind: len(prompts) for kind, prompts in llm.asked.items()}
        store.add("no model is asked", user_id="mara", infer=False)
        assert {kind: len(prompts) for kind, prompts in llm.asked.items()} == asked
        assert store.search("kiln", user_id="mara", enable_graph=False).relations == ()


def test_nothing_is_stored_verbatim_if_no_relations_could_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(NoModel, "open", lambda *_: model(entities=[LLMError("down")]))
    with opened(tmp_path, "graph_expand", graph="relations") as store:
        with pytest.raises(LLMError, match="none of 1 exchanges"):
            store.add("a kiln", user_id="mara")
        assert store.get_all(user_id="mara") == []


OPEN = {"english": ["who"], "chinese": [], "similarity": None, "domains": None}
REASONS = {
    **dict.fromkeys(
        ("oracle", "no_memory", "given", "rest", "mem0ai", "cognee", "mcp"),
        "it does not rank stored memories",
    ),
    "mem0_graph": "no model to write relations with; set llm=",
    "graph_expand\ngraph: relations": "no model to write relations with; set llm=",
    "{_target_: memsys.strategies.graph_expand.GraphExpand}": "missing .* name an option",
}


@pytest.mark.parametrize("strategy", REASONS)
def test_what_a_strategy_lacks_is_named(tmp_path, strategy):
    path = tmp_path / "mine.yaml"
    path.write_text(BAG + f"strategy: {strategy}\n")
    with pytest.raises(InputError, match=REASONS[strategy]) as caught:
        Memory.from_config(path, tmp_path / "memories")
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_trusted_strategy_of_your_own_ranks(tmp_path, monkeypatch):
    own = f"{__name__}.Newest"
    with pytest.raises(InputError, match="not trusted"):
        opened(tmp_path, {"_target_": own, "k": 1})
    monkeypatch.setenv("MEMSYS_TRUSTED", f"tests.memsys.build,{__name__}")
    with opened(tmp_path, {"_target_": own, "k": 1}) as store:
        for text in ("old", "new"):
            store.add(text, user_id="mara")
        assert texts(store.search("anything", user_id="mara")) == ["new"]


class Newest(Strategy):
    """Every memory, newest first."""

    def rank(self, query: Query) -> tuple[Sequence[Candidate], Mapping[str, Any]]:
        return [Candidate(memory, 1.0) for memory in reversed(self.store.memories)], {}
