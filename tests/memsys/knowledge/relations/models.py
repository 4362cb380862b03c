"""A scripted model for facts and relations, and the small graphs that tests tell it to write."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memsys.core.types import Session
from memsys.embed.cache import CachedEmbedder
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.relations.extract import RelationExtractor
from memsys.knowledge.relations.forms import RelationGraphSettings
from memsys.knowledge.relations.graph_writer import GraphWriter
from memsys.knowledge.relations.relation_graph import RelationGraph
from memsys.llm.base import LLM, LLMError
from memsys.stores.networkx_relations import NetworkxRelations
from memsys.stores.relations import Relation, RelationStore
from tests.memsys.build import session
from tests.memsys.knowledge.facts.models import Planned

DAY = datetime(2024, 3, 2, 10, 0)
TOOLS = {
    "extract_entities": "entities",
    "establish_relationships": "relations",
    "delete_graph_memory": "conflicts",
}
Rows = list[Any]  # in the form that was asked for
Reply = Rows | str | tuple[tuple[str, str], ...] | LLMError  # rows, a text, tool calls, or nothing
Plan = Sequence[Reply] | Callable[[str], Reply]


def entity(name: str, kind: str = "thing") -> dict[str, Any]:
    return {"entity": name, "entity_type": kind}


def relation(source: str, name: str, destination: str, *turns: int) -> dict[str, Any]:
    return {
        "source": source,
        "relationship": name,
        "destination": destination,
        "turns": list(turns or (1,)),
    }


def conflict(number: int, why: str = "not any more") -> dict[str, Any]:
    return {"relation": number, "why": why}


BADMINTON: Reply = [entity("badminton", "activity")]
LIKES: Reply = [relation("Mara", "likes", "badminton")]
NO_MORE: Reply = [relation("Mara", "does not like", "badminton")]


class Scripted(Planned):
    """Answers calls by kind (facts, operations, entities, relations, conflicts) from lists, the
    last entry for ever, or by a function of the prompt. Rows are replied in the form asked for.
    """

    name = "scripted"

    def __init__(self, **plans: Plan) -> None:
        super().__init__()
        self.plans = {"facts": [[]], "operations": [[]], "conflicts": [[]], **plans}
        self.asked = {}

    def kind_of(self, schema: Mapping[str, Any], tools: Sequence[str]) -> str:
        return TOOLS.get(tools[0], "operations") if tools else str(schema["title"])


def settings(**own: Any) -> RelationGraphSettings:
    numbers = {"exchange": 1, "threshold": 0.7, "merge": 0.9, "nodes": 10, "shown": 20}
    return RelationGraphSettings(**{"calls": "tools", "on_conflict": "delete", **numbers, **own})


class Written:
    """A keeper with its graph, store and log, over a scripted model."""

    def __init__(
        self,
        llm: LLM,
        embedder: CachedEmbedder,
        store: RelationStore | None = None,
        owner: str = "us",
        others: Sequence[str] = (),
        self_name: str | None = None,
        **own: Any,
    ) -> None:
        chosen = settings(**own)
        self.log: list[Event] = []
        self.store = store or NetworkxRelations()
        self.graph = RelationGraph(self.store, owner, embedder, chosen, others)
        self.extractor = RelationExtractor(llm, chosen, self_name)
        self.writer = GraphWriter(self.extractor, self.graph, chosen)

    def read(self, number: int, *texts: str, speaker: str = "Mara") -> Session:
        """Keep a session of one speaker on that day of March 2024."""
        said = talk(number, *texts, speaker=speaker)
        self.writer.write(said, self.log)
        return said

    @property
    def relations(self) -> dict[str, Relation]:
        """By their sentences."""
        found = self.graph.related(self.graph.relations())
        return {one.sentence: one.relation for one in found}

    @property
    def faults(self) -> list[str]:
        return [event["fault"] for event in self.log if "fault" in event]

    @property
    def applied(self) -> list[tuple[str, str]]:
        steps = [event for event in self.log if event["step"] == "apply_relation"]
        return [(event["operation"], event["text"]) for event in steps]


def talk(number: int, *texts: str, speaker: str = "Mara") -> Session:
    return session(number, DAY.replace(day=number), *((speaker, text) for text in texts))


def changed(embedder: CachedEmbedder, on_conflict: str, calls: str = "tools") -> Written:
    """Told of a liking, and a day later of its end."""
    llm = Scripted(entities=[BADMINTON], relations=[LIKES, NO_MORE], conflicts=[[conflict(1)]])
    written = Written(llm, embedder, on_conflict=on_conflict, calls=calls)
    written.read(2, "I like badminton.")
    written.read(3, "I do not like badminton any more.")
    return written
