import pytest

from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from memsys.strategies.hybrid_gate import Decision, Gate, spans_domains
from tests.memsys.strategies.asked import Asked
from tests.memsys.strategies.make import settings

GATE = Gate(
    english=["suggest", "other", "also", "how about"], chinese=["建议", "其他"], similarity=0.7
)
FOUND = (0.9, 0.8)  # mean .85: similarity keeps the gate shut


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("What other sport did she try?", "word:other"),
        ("OTHER sports", "word:other"),
        ("Which others? Otherwise another bother", "closed"),
        ("It was suggested", "closed"),  # a whole word, not a form of it
        ("How about dinner?", "word:how about"),
        ("How, about noon? Somehow about it", "word:how about"),
        ("About how many? How was it about?", "closed"),
        ("", "closed"),
        ("她有其他爱好吗", "word:其他"),  # within a run of characters
        ("有什么建议吗", "word:建议"),
        ("她also喜欢什么", "word:also"),
        ("其他, also this", "word:also"),  # English first
        ("also suggest", "word:suggest"),  # then in the order of the list
        ("其他建议", "word:建议"),
    ],
)
def test_association_words(query, rule):
    decision = GATE.decide(query, FOUND, typical=0.1)
    assert decision == Decision(rule != "closed", rule, pytest.approx(0.85))


def test_a_low_mean_similarity_or_nothing_found_opens_after_the_words():
    assert GATE.decide("Where?", [0.9, 0.4], 0.1) == Decision(True, "similarity", 0.65)
    assert GATE.decide("Where?", [0.7, 0.7], 0.1) == Decision(False, "closed", 0.7)
    assert GATE.decide("Where?", [], 0.1) == Decision(True, "similarity", 0.0)
    assert GATE.decide("Which other one?", [0.1], 0.9).rule == "word:other"


def test_without_a_number_the_embedder_s_typical_similarity_decides():
    gate = Gate(english=[], chinese=[], similarity=None)
    assert gate.decide("also", [0.5], typical=0.6).rule == "similarity"
    assert gate.decide("also", [0.5], typical=0.4).rule == "closed"
    zero = Gate(english=[], chinese=[], similarity=0.0)  # a number, although it is 0
    assert zero.decide("also", [0.5], typical=0.6).rule == "closed"


def test_the_words_that_are_shipped_can_match():
    shipped = settings("hybrid_gate")["gate"]
    gate = Gate(**shipped)
    for word in shipped["english"]:
        assert gate.decide(f"So {word.capitalize()}, then?", FOUND, 0.1).rule == f"word:{word}"
    for word in shipped["chinese"]:
        assert gate.decide(f"她{word}？", FOUND, 0.1).rule == f"word:{word}"
    assert gate.decide("When did Theo plant the beans?", FOUND, 0.1).rule == "closed"


@pytest.mark.parametrize("reply", ["", [], {}])
def test_a_reply_without_a_decision_is_an_error(reply):
    with pytest.raises(LLMError, match="the reply is not"):
        spans_domains("Why?", Asked(lambda _: reply), load_prompt("gate_domains", ["question"]))
