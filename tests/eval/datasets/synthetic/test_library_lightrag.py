"""What `llm=grammar` answers to LightRAG's requests."""

from __future__ import annotations

import json
from typing import Any

from eval.datasets.synthetic.libraries.lightrag import message_of
from eval.datasets.synthetic.served import reply

PASSAGE = """Ada: I heard that Velma Orr's cousin is Dar Sule.
Bo: My tea got cold while we were talking."""
ROWS = [
    "entity<|#|>Velma Orr<|#|>person<|#|>Velma Orr's cousin is Dar Sule.",
    "entity<|#|>Dar Sule<|#|>person<|#|>Velma Orr's cousin is Dar Sule.",
    "relation<|#|>Velma Orr<|#|>Dar Sule<|#|>has as cousin<|#|>Velma Orr's cousin is Dar Sule.",
]


def body(*contents: str) -> dict[str, Any]:
    roles = ("system", "user", "assistant", "user") if len(contents) > 1 else ("user",)
    pairs = zip(roles, contents, strict=False)
    return {"model": "grammar", "messages": [{"role": r, "content": c} for r, c in pairs]}


SYSTEM = "---Role---\n  - Entity row: `entity<|#|>entity_name<|#|>entity_type`"
FIRST = f"---Task---\nExtract.\n\n---Input Text---\n```\n{PASSAGE}\n```\n\n---Output---\n"
AGAIN = "---Task---\nBased on the last extraction task, identify what was missed.\n---Output---\n"


def said(*contents: str, misses: float = 0.0) -> str:
    message = message_of(body(*contents), misses)
    assert message is not None
    return str(message["content"])


def test_entities_come_before_their_relations():
    assert said(SYSTEM, FIRST).splitlines() == [*ROWS, "<|COMPLETE|>"]


def test_the_second_answer_has_only_what_the_first_overlooked():
    assert said(SYSTEM, FIRST, "entity<|#|>...", AGAIN) == "<|COMPLETE|>"
    found = []
    for name in ("Dar Sule", "Fen Varic", "Ros Nald", "Pia Tosk", "Ul Ton", "Per Vyn"):
        first = FIRST.replace("Dar Sule", name)
        rows = said(SYSTEM, first, misses=0.5), said(SYSTEM, first, "", AGAIN, misses=0.5)
        found.append(tuple(name in answer for answer in rows))
    assert {(True, False), (False, True)} <= {*found}
    assert (True, True) not in found


def test_a_question_has_its_relations_as_themes_and_its_subject_as_a_detail():
    prompt = "---Real Data---\nUser Query: {}\n\n---Output---\nOutput:"
    asked = json.loads(said(prompt.format("Who is Velma Orr's cousin?")))
    assert asked == {"high_level_keywords": ["has as cousin"], "low_level_keywords": ["Velma Orr"]}
    other = json.loads(said(prompt.format("How are you?")))
    assert other == {"high_level_keywords": [], "low_level_keywords": ["How are you?"]}


def test_a_merged_description_has_each_once():
    rows = "\n".join(json.dumps({"Description": one}) for one in ("A.", "B.", "A."))
    prompt = f"Your task is to synthesize a list of descriptions.\nDescription List:\n\n```\n{rows}"
    assert said(f"{prompt}\n```\n\n---Output---\n") == "A.\nB."


def test_the_server_answers_and_leaves_other_requests_to_others():
    assert "Dar Sule" in reply(body(SYSTEM, FIRST))["choices"][0]["message"]["content"]
    for contents in ((), ("Do.",), ("Do.", FIRST)):
        assert message_of(body(*contents), 0.0) is None
