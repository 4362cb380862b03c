"""What a question asks for."""

from datetime import date

import pytest

from eval.readers.question import Kind, ParsedQuestion, analyse


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
def test_kind(text: str, kind: Kind) -> None:
    assert asked(text).kind is kind


def test_people_are_found_by_first_name_and_nickname_and_are_no_evidence() -> None:
    found = asked("What did Alex buy Ruben?")
    assert found.people == ("Alexandra Voss", "Ruben")
    assert found.roots == {"bui"}


def test_a_date_in_the_question_is_read_and_is_no_evidence() -> None:
    found = asked("What did Ruben sell on 3 May 2023?")
    assert [m.period.text for m in found.dates] == ["3 May 2023"]
    assert found.roots == {"sell"}


def test_lists_and_likelihoods() -> None:
    assert asked("What hobbies does Ruben have?").many
    assert not asked("What boat does Ruben have?").many
    assert asked("林月有哪些爱好？").many
    assert asked("Would Ruben likely sail?").hedged


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("How many wooden boats has Ruben?", "wooden boats"),
        ("What year did Ruben leave?", "year"),
        ("On which date did Ruben leave?", "day"),
        ("林月是哪个月走的？", "month"),
    ],
)
def test_unit(text: str, unit: str) -> None:
    assert asked(text).unit == unit
