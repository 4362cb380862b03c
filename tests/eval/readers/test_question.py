"""What a question asks for, and who says what in a memory's content."""

from __future__ import annotations

from datetime import date

import pytest

from eval.readers.parsing import Kind, ParsedQuestion, analyse, roots_by_speaker, sentences


def asked(text: str) -> ParsedQuestion:
    return analyse(text, ("Alexandra Voss", "Ruben", "林月"), date(2024, 5, 1))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did Ruben leave?", Kind.WHEN),
        ("In which month did Ruben leave?", Kind.WHEN),
        ("How does Ruben feel when he rows?", Kind.MOOD),
        ("How does Ruben mend a boat?", Kind.HOW),
        ("How long did Ruben row?", Kind.DURATION),
        ("How often does Ruben row?", Kind.OFTEN),
        ("How many boats has Ruben?", Kind.COUNT),
        ("Who rows with Ruben?", Kind.WHO),
        ("Which city did Ruben leave?", Kind.WHERE),
        ("Why did Ruben leave?", Kind.WHY),
        ("Does Ruben row?", Kind.YES_NO),
        ("Would Ruben rather row or swim?", Kind.CHOICE),
        ("What does Ruben row?", Kind.WHAT),
        ("林月是什么时候走的？", Kind.WHEN),
        ("林月是哪天走的？", Kind.WHEN),
        ("林月学了多久？", Kind.DURATION),
        ("林月多久去一次码头？", Kind.OFTEN),
        ("林月有几条船？", Kind.COUNT),
        ("林月去了哪里？", Kind.WHERE),
        ("谁陪林月？", Kind.WHO),
        ("林月为什么走？", Kind.WHY),
        ("林月喜欢茶还是咖啡？", Kind.CHOICE),
        ("林月喝茶吗？", Kind.YES_NO),
        ("林月买了什么？", Kind.WHAT),
    ],
)
def test_kind(text, kind):
    assert asked(text).kind is kind


def test_people_by_first_name_and_nickname_and_a_date_are_read_and_are_no_evidence():
    found = asked("What did Alex buy Ruben?")
    assert found.people == ("Alexandra Voss", "Ruben")
    assert found.roots == {"bui"}
    found = asked("What did Ruben sell on 3 May 2023?")
    assert [m.period.text for m in found.dates] == ["3 May 2023"]
    assert found.roots == {"sell"}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("What hobbies does Ruben have?", "many", True),
        ("What boat does Ruben have?", "many", False),
        ("林月有哪些爱好？", "many", True),
        ("Would Ruben likely sail?", "hedged", True),
        ("How many wooden boats has Ruben?", "unit", "wooden boats"),
        ("What year did Ruben leave?", "unit", "year"),
        ("On which date did Ruben leave?", "unit", "day"),
        ("林月是哪个月走的？", "unit", "month"),
    ],
)
def test_lists_likelihoods_and_units(text, field, value):
    assert getattr(asked(text), field) == value


def test_lines_captions_and_questions():
    content = (
        "Ines: It works! Dr. Moll agrees. Will you come? "
        "[image: a photo of a green kite]\nRuben: Yes."
    )
    found = sentences(content, "Ines")
    assert [(s.speaker, s.text, s.asks, s.addresses, s.caption) for s in found] == [
        ("Ines", "It works!", False, False, False),
        ("Ines", "Dr. Moll agrees.", False, False, False),
        ("Ines", "Will you come?", True, True, False),
        ("Ines", "green kite", False, False, True),
        ("Ruben", "Yes.", False, False, False),
    ]
    # A line without a speaker belongs to the memory.
    line = "Ines wants two things: a kite and a boat."
    assert [(s.speaker, s.text) for s in sentences(line, "Ines")] == [("Ines", line)]
    chinese = [("我卖了船。", False), ("你来吗？", True), ("一条船", False)]
    found = sentences("林月：我卖了船。你来吗？[image: 一条船]", "林月")
    assert [(s.text, s.asks) for s in found] == chinese


def test_questions_and_words_to_the_listener_are_no_claims():
    said = roots_by_speaker("Ines: I sold the kite. Did Ruben sail? You won the regatta!", "Ines")
    everything, claimed = said["Ines"]
    assert {"kite", "sail", "regatta"} <= everything
    assert "kite" in claimed
    assert not {"sail", "regatta"} & claimed
