"""The rules by which tools and their arguments are recognised: words of names, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

Role = Literal["add", "search", "delete"]

# Points of a tool's name: its best verb, 1 for a noun, and -1 for each other word.
VERBS: Mapping[Role, Mapping[str, int]] = MappingProxyType(
    {
        "add": {"add": 3, "store": 3, "save": 3, "remember": 3, "memorize": 3, "insert": 3}
        | {"write": 2, "create": 2, "record": 2, "put": 2, "upsert": 2, "ingest": 1},
        "search": {"search": 3, "recall": 3, "retrieve": 3, "find": 3, "query": 3, "lookup": 2}
        | {"get": 1},
        "delete": {"delete": 3, "forget": 3, "remove": 3},
    }
)
NOUNS = frozenset(
    "memory memories memo memos mem note notes fact facts node nodes entity entities observation "
    "observations information knowledge".split()
)

# Arguments by name, with what fills them. The first text, query and owner that a tool has is used.
TEXT = (
    "text content memory fact note observation information message body episode_body data value "
    "input statement thought document texts contents memories facts notes observations messages "
    "documents entities items"
).split()
QUERY = "query q question search search_query query_text text prompt".split()
OWNERS = (
    "user_id userid user owner_id owner namespace tenant_id tenant project_id project group_id "
    "group collection_name collection bank_id bank container_tag workspace space"
).split()
_TIMES = "time timestamp date datetime occurred_at reference_time valid_at".split()
_LIMITS = (
    "limit k top_k topk n n_results num_results max_results count size page_size max_nodes "
    "max_facts"
).split()
OPTIONAL: Mapping[Role, Mapping[str, str]] = MappingProxyType(
    {
        "add": {
            **dict.fromkeys(TEXT, "{text}"),
            **dict.fromkeys(_TIMES, "{time}"),
            "speaker": "{speaker}",
        },
        "search": {
            **dict.fromkeys(QUERY, "{query}"),
            **dict.fromkeys(_LIMITS, "{k}"),
            **dict.fromkeys(("keywords", "terms"), "{words}"),
        },
        "delete": {},
    }
)
# Filled only if the schema requires them.
REQUIRED: Mapping[Role, Mapping[str, Any]] = MappingProxyType(
    {
        "add": {
            **dict.fromkeys(("name", "title", "key", "label", "id", "subject"), "{turn}"),
            **dict.fromkeys(("entity_type", "type", "category", "memory_type", "kind"), "memory"),
            **dict.fromkeys(("path", "folder", "directory"), "memory"),
            **dict.fromkeys(("keywords", "tags"), "{words}"),
            "role": "user",
            "source": "memsys",
        },
        "search": {},
        "delete": {},
    }
)
# Arguments that name what to delete, and the fields of a result (or of an addition) with the value.
IDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("id", "memory_id", "uuid"), ("id", "memory_id", "uuid")),
        **dict.fromkeys(("content_hash", "hash"), ("content_hash", "hash")),
        **dict.fromkeys(("name", "entity_name", "key", "title"), ("name", "key", "title")),
    }
)

# Fields of results: a list of them, the text of one, its score and the turns it names.
LISTS = "results memories items entities nodes facts notes observations data hits matches".split()
TEXTS = (
    "text memory content fact note observations observation information body value document summary"
).split()
SCORES = "score similarity relevance_score relevance similarity_score".split()
