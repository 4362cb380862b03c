"""Answers to the prompts of LightRAG 1.5.7: entities and relations of a passage, what the first
answer missed, a merged description, and the keywords of a question. The prompts have no time, so
relative days remain as stated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from eval.datasets.synthetic.languages import VISIT, parse_question
from eval.datasets.synthetic.reading import (
    ANY_DAY,
    entities_of,
    json_message,
    lines_as_messages,
    stated,
    triple,
)

_INPUT: Final = re.compile(r"---Input Text---\n```\n(.*?)\n```\n\n---Output---", re.DOTALL)
_AGAIN: Final = "---Task---\nBased on the last extraction task"
_SUMMARY: Final = re.compile(r"Description List:\n\n```\n(.*?)\n```\n\n---Output---", re.DOTALL)
_QUERY: Final = re.compile(r"---Real Data---\nUser Query: (.*?)\n\n---Output---", re.DOTALL)
_END: Final = "<|COMPLETE|>"


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    What the first answer overlooked is added by the second, which overlooks independently.
    """
    contents = [str(message["content"]) for message in body["messages"]] or [""]
    last = contents[-1]
    if query := _QUERY.search(last):
        return json_message(_keywords(query[1]))
    if (described := _SUMMARY.search(last)) and "synthesize a list of descriptions" in last:
        return _text(_merged(described[1]))
    passage = next((found for one in contents if (found := _INPUT.search(one))), None)
    if passage is None or "entity<|#|>" not in contents[0]:
        return None
    rows = _rows(passage[1], "lightrag", misses)
    if last.startswith(_AGAIN):
        rows = [row for row in _rows(passage[1], "lightrag again", misses) if row not in rows]
    return _text("\n".join([*rows, _END]))


def _rows(passage: str, step: str, misses: float) -> list[str]:
    """Return the rows of entities, then those of relations, each once."""
    entities, relations = dict[str, None](), dict[str, None]()
    for message, language, fact in stated(lines_as_messages(passage, ANY_DAY), step, misses):
        source, name, target = triple(language, fact)
        said = language.restate(fact) if not fact.relation.startswith(VISIT) else message.text
        for entity, kind in entities_of(fact).items():
            entities["<|#|>".join(("entity", entity, kind, said))] = None
        relations["<|#|>".join(("relation", source, target, name, said))] = None
    return [*entities, *relations]


def _merged(descriptions: str) -> str:
    """Return all descriptions, each once: nothing is left out, as the prompt demands."""
    rows = (json.loads(line)["Description"] for line in descriptions.splitlines())
    return "\n".join(dict.fromkeys(rows))


def _keywords(question: str) -> dict[str, list[str]]:
    """Return the relations of a generated question as themes and its subject as a detail."""
    if (parsed := parse_question(question)) is None:
        return {"high_level_keywords": [], "low_level_keywords": [question]}
    language, (subject, chain, _) = parsed
    themes = [language.names.get(relation, relation) for relation in chain]
    return {"high_level_keywords": themes, "low_level_keywords": [subject]}


def _text(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content}
