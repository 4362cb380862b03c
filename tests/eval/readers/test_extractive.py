"""The keyless reader: what a question asks for, one answer of each kind, and abstention."""

from datetime import date, datetime

import pytest

from eval.readers.extractive import UNKNOWN, UNKNOWN_ZH, ExtractiveReader
from eval.readers.parsing import Kind, ParsedQuestion, analyse, roots_by_speaker, sentences
from memsys.core.types import UNDATED, Candidate, Memory, Retrieval

Said = list[tuple[str, str, str]]  # day, speaker, words

WORKSHOP: Said = [
    ("2023-07-15", "Ines", "I finally repaired the accordion last Friday! It wheezed terribly."),
    ("2023-07-15", "Ruben", "Great news! What did you use for the bellows?"),
    ("2023-07-15", "Ines", "Goat leather and bone glue, it holds the air perfectly."),
    ("2023-08-02", "Ruben", "My sister Odile moved to Ghent because her firm opened an office."),
    ("2023-08-02", "Ines", "I have lived above the bakery for seven years now."),
    ("2023-08-20", "Ruben", "I bought four lathes at the auction yesterday."),
    ("2023-09-03", "Ines", "I go rowing twice a week before breakfast."),
    ("2023-09-03", "Ines", "I also practise juggling in the park to relax."),
    ("2023-09-05", "Ines", "The concert is on Sunday and I feel nervous."),
    ("2023-09-05", "Ruben", "The ladder broke. I mended it with copper wire."),
    ("2023-09-10", "Ruben", "The novel on my desk is called The Glass Orchard."),
]
TEA: Said = [
    ("2024-04-17", "林月", "上周五我在码头卖掉了那条旧渔船。"),
    ("2024-04-17", "高远", "我前天买了三把二胡，花光了积蓄。"),
    ("2024-05-02", "林月", "我妹妹去杭州学做龙井茶。"),
    ("2024-05-02", "高远", "我最怕的动物是鹅。"),
]


def retrieval(said: Said) -> Retrieval:
    memories = []
    before = ""
    for number, (day, speaker, words) in enumerate(said):
        content = f"{speaker}: {words}"
        index = f"{before}\n{content}" if before else content
        time = datetime.fromisoformat(day)
        memories.append(Memory(f"m{number}", content, index, time, speaker, (f"m{number}",)))
        before = content
    return Retrieval(tuple(Candidate(memory, 0.5) for memory in memories), "", 0)


def ask(question: str, said: Said = ()) -> str:
    """Of the workshop, or in Chinese of the tea, unless otherwise `said`."""
    said = said or (WORKSHOP if question.isascii() else TEA)
    answer = ExtractiveReader().read(question, retrieval(said))
    assert not answer.abstained
    return answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Ines repair the accordion?", "the Friday before 15 July 2023"),
        ("On what date did Ines repair the accordion?", "14 July 2023"),
        ("Which month did Ines repair the accordion?", "July 2023"),
        ("When did Ruben buy the lathes?", "19 August 2023"),
        ("When did Odile move to Ghent?", "2 August 2023"),
        ("How long has Ines lived above the bakery?", "seven years"),
        ("How many lathes did Ruben buy?", "four"),
        ("How often does Ines go rowing?", "twice a week"),
        ("Did Ruben buy lathes at the auction?", "Yes"),
        ("Did Ruben sell the novel in Paris?", "No"),
        ("Would Ines likely enjoy a submarine cruise?", "Likely no"),
        ("Does Ines go rowing or swimming?", "rowing"),
        ("林月是什么时候卖掉渔船的？", "2024年4月12日"),
        ("高远是哪天买二胡的？", "2024年4月15日"),
        ("高远买了几把二胡？", "三把"),
    ],
)
def test_typed_answers(question, expected):
    assert ask(question) == expected


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Where did Ruben's sister move?", "Ghent"),
        ("Who moved to Ghent?", "Odile"),
        ("What did Ines use for the bellows?", "leather"),
        ("What is the novel on Ruben's desk called?", "Glass Orchard"),
        ("How did Ines feel about the concert?", "nervous"),
        ("How did Ruben mend the ladder?", "wire"),
        ("Why did Ruben's sister move to Ghent?", "office"),
        ("What activities does Ines practise to relax?", "juggling"),
        ("林月的妹妹去哪里学做龙井茶？", "杭州"),
        ("高远最怕的动物是什么？", "鹅"),
    ],
)
def test_spans_hold_the_answer_and_are_short(question, words):
    answer = ask(question)
    assert words in answer
    assert all(len(part.split()) <= 10 for part in answer.split(", "))


def test_a_list_is_joined_over_memories():
    said: Said = [
        ("2023-01-01", "Ines", "My hobbies include rowing."),
        ("2023-02-01", "Ines", "Another of my hobbies is juggling."),
        ("2023-03-01", "Ruben", "The weather is dreadful."),
    ]
    parts = ask("What hobbies does Ines have?", said).split(", ")
    assert parts[:2] in (["rowing", "juggling"], ["juggling", "rowing"])


def test_abstains_where_nothing_bears_on_the_question():
    answer = ExtractiveReader().read("What volcano erupted near Quito?", retrieval(WORKSHOP))
    assert (answer.abstained, answer.text) == (True, UNKNOWN)
    chinese = ExtractiveReader().read("火星探测器几点降落？", retrieval(TEA))
    assert (chinese.abstained, chinese.text) == (True, UNKNOWN_ZH)
    assert ExtractiveReader().read("Who?", Retrieval((), "", 0)).abstained
    # What only somebody else said does not bear on it.
    question, found = "When did Ruben repair the accordion?", retrieval(WORKSHOP)
    assert ExtractiveReader().read(question, found).abstained
    assert not ExtractiveReader(support=0.0, rival=1.0).read(question, found).abstained


def test_a_window_of_several_lines_keeps_its_speakers_apart():
    content = "Ines: I sold the kite yesterday.\nRuben: I burnt the pancakes last week."
    window = Memory("w", content, "", datetime(2023, 5, 9), "Ines", ("a", "b"))
    found = Retrieval((Candidate(window, 1.0),), "", 0)
    reader, week = ExtractiveReader(), "the week before 9 May 2023"
    assert reader.read("When did Ines sell the kite?", found).text == "8 May 2023"
    assert reader.read("When did Ruben burn the pancakes?", found).text == week
    assert reader.read("When did Ruben sell the kite?", found).abstained


def test_is_deterministic_whatever_was_read_before():
    questions = ["Where did Ruben's sister move?", "What hobbies does Ines have?"]
    first = [ExtractiveReader().read(q, retrieval(WORKSHOP)) for q in questions]
    again = [ExtractiveReader().read(q, retrieval(WORKSHOP)) for q in reversed(questions)]
    assert first == again[::-1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Mara moved to Bergen on 8 May 2021", "8 May 2021"),
        ("Mara moved to Bergen last May", "Mara moved to Bergen last May"),
        ("Mara will move to Bergen tomorrow", "Mara will move to Bergen tomorrow"),
        ("Mara moved to Bergen", "Mara moved to Bergen"),
    ],
)
def test_a_memory_without_a_time_dates_nothing(content, expected):
    memory = Memory("m", content, content, UNDATED, "", ("D1:1",))
    found = Retrieval((Candidate(memory, 1.0),), "", 0)
    assert ExtractiveReader().read("When did Mara move to Bergen?", found).text in expected


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
