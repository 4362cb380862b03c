"""Answers to the prompts of hipporag 2.0.0a4: the named entities of a passage, its triples, and the
facts that a question needs. The prompts have no time, so relative days remain as stated.
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

_ENTITIES: Final = "Your task is to extract named entities from the given paragraph."
_TRIPLES: Final = "Your task is to construct an RDF (Resource Description Framework) graph"
_FILTER: Final = "Your input fields are:\n1. `question` (str)"
_PARAGRAPH: Final = re.compile(r"Paragraph:\n```\n(.*?)\n```", re.DOTALL)
_CANDIDATES: Final = re.compile(
    r"\[\[ ## question ## \]\]\n(.*?)\n\n\[\[ ## fact_before_filter ## \]\]\n(.*?)\n\nRespond",
    re.DOTALL,
)
_MOST_FACTS: Final = 4  # as the prompt demands


def message_of(body: Mapping[str, Any], misses: float) -> dict[str, Any] | None:
    """Return the answer to a request of the library, else None.

    Entities and triples are asked for by separate calls, which overlook messages independently.
    """
    contents = [str(message["content"]) for message in body["messages"]] or [""]
    if contents[0].startswith(_ENTITIES):
        said = lines_as_messages(contents[-1], ANY_DAY)
        facts = stated(said, "hipporag entities", misses)
        names = dict.fromkeys(name for _, _, fact in facts for name in entities_of(fact))
        return json_message({"named_entities": list(names)})
    if contents[0].startswith(_TRIPLES) and (found := _PARAGRAPH.search(contents[-1])):
        facts = stated(lines_as_messages(found[1], ANY_DAY), "hipporag triples", misses)
        return json_message({"triples": [triple(language, fact) for _, language, fact in facts]})
    if contents[0].startswith(_FILTER) and (found := _CANDIDATES.search(contents[-1])):
        chosen = _relevant(found[1], json.loads(found[2])["fact"])
        fields = f"[[ ## fact_after_filter ## ]]\n{json.dumps({'fact': chosen})}\n\n"
        return {"role": "assistant", "content": f"{fields}[[ ## completed ## ]]"}
    return None


def _relevant(question: str, candidates: list[list[str]]) -> list[list[str]]:
    """Return the candidates about the subject of a generated question and, from there on, about
    the value of each relation that it names. The library writes facts in lower case.
    """
    if (parsed := parse_question(question)) is None:
        return []
    language, (subject, chain, _) = parsed
    subjects, chosen = {subject.lower()}, list[list[str]]()
    for relation in chain:
        visited = relation.startswith(VISIT)
        name = "visited" if visited else language.names[relation]
        found = [one for one in candidates if one[0] in subjects and one[1] == name]
        chosen += [one for one in found if not visited or one[2] == relation[len(VISIT) :].lower()]
        subjects = {one[2] for one in found}
    return chosen[:_MOST_FACTS]
