"""Questions by rule: each has one right answer, and its evidence is known."""

from collections import Counter
from datetime import date, datetime

import pytest

from eval.transcripts.history import values
from eval.transcripts.questions import RULES, Silver, questions
from memsys.core.types import Conversation, Session, Turn

SAYINGS = (
    (
        "2 March 2025",
        ("Ines", "I left my blue kettle in the harbour."),
        ("Oskar", "Which guide do you use for the mountain hut?"),
        ("Ines", "I use `trailmap` and a paper chart."),
        ("Oskar", "The kettle at home is old, and the hut has a stove and a garden."),
    ),
    (
        "9 March 2025",
        ("Ines", "The harbour festival is next Friday. I set the oven to 210 degrees."),
        ("Oskar", "My port is 8080. I asked for a quiet cabin by the sea."),
        ("Ines", "The festival has a train, and the road over the mountain has a fence."),
        ("Oskar", "I read about the garden fence on a blue chart of the village."),
    ),
    (
        "20 March 2025",
        ("Ines", "I changed the oven to 190 degrees. The build runs on 3.11.4 for the exporter."),
        ("Oskar", "My port is now 9090. The winter cabin in the village was warm."),
        ("Ines", "We ate in the mountain cabin with a stove. The notes are in ops/notes.md now."),
        ("Oskar", "The old village had a winter fair, and I went to the garden fence."),
    ),
)


def conversation(sayings: tuple = SAYINGS) -> Conversation:
    sessions = []
    for number, (day, *rows) in enumerate(sayings, 1):
        turns = tuple(
            Turn(f"D{number}:{place}", who, text) for place, (who, text) in enumerate(rows, 1)
        )
        time = datetime.strptime(day, "%d %B %Y")
        sessions.append(Session(f"session_{number}", time, turns))
    return Conversation("garden", ("Ines", "Oskar"), tuple(sessions))


@pytest.fixture(scope="module")
def made() -> list[Silver]:
    return questions(conversation(), 500, 0)


def only(rule: str, *words: str) -> Silver:
    """The question of `rule` with these words, of all that the rules make."""
    found = {
        one.question: one
        for seed in range(12)
        for one in questions(conversation(), 500, seed)
        if one.rule == rule and all(word in one.question for word in words)
    }
    assert len(found) == 1, found
    return next(iter(found.values()))


WHEN = "When did Ines mention mountain cabin?"
BOTH = "9 March 2025 and 20 March 2025"
VALUE = "Which version did Ines give together with exporter?"
DATE = "Which date or time did Ines give together with harbour festival?"
REPLY = "Which identifier did Ines give when Oskar asked about mountain hut?"


@pytest.mark.parametrize(
    ("rule", "word", "question", "answer", "evidence", "category"),
    [
        ("who", "mountain cabin", "Who mentioned mountain cabin?", "Ines", ["D3:3"], 4),
        ("when", "mountain cabin", WHEN, "20 March 2025", ["D3:3"], 2),
        ("value", "exporter", VALUE, "3.11.4", ["D3:1"], 4),
        ("date", "harbour festival", DATE, "the Friday after 9 March 2025", ["D2:1"], 2),
        ("reply", "mountain hut", REPLY, "trailmap", ["D1:3"], 4),
        ("twice", "garden", "On which days was garden fence mentioned?", BOTH, ["D2:4", "D3:4"], 1),
    ],
)
def test_each_rule_asks_for_what_only_these_turns_say(
    rule, word, question, answer, evidence, category
):
    one = only(rule, word)
    assert one.question == question
    assert (one.answer, list(one.evidence), one.category) == (answer, evidence, category)


def test_a_path_is_asked_for_and_a_reply_is_the_one_next_turn_of_the_other_speaker():
    path = only("value", "file or path")
    assert (path.answer, path.evidence) == ("ops/notes.md", ("D3:3",))
    # an answer of several turns may have a second value
    asked = ("Oskar", "Which guide do you use for the mountain hut?")
    parts = (("Ines", "I use `trailmap`."), ("Ines", "Or `hutfinder`."))
    whole = questions(conversation((("2 March 2025", asked, parts[0]),)), 500, 0)
    assert "reply" in {one.rule for one in whole}
    divided = ("2 March 2025", asked, *parts)
    other_day = ("2 March 2025", asked), ("9 March 2025", parts[0])
    same_speaker = ("2 March 2025", asked, ("Oskar", "I use `trailmap`."))
    for sayings in ((divided,), other_day, (same_speaker,), (("2 March 2025", asked),)):
        found = questions(conversation(sayings), 500, 0)
        assert "reply" not in {one.rule for one in found}


def test_asks_when_two_things_were_spoken_of_that_only_one_session_has_together():
    rows = (
        ("1 May 2025", ("Ines", "The stove is off."), ("Oskar", "I saw the stove.")),
        ("2 May 2025", ("Ines", "It is for the garden."), ("Oskar", "I like the garden.")),
        ("3 May 2025", ("Ines", "I lit the stove."), ("Ines", "I went to see the garden.")),
    )
    (one,) = (one for one in questions(conversation(rows), 500, 0) if one.rule == "session")
    assert one.question == "When did Ines speak of both stove and garden?"
    assert (one.answer, one.evidence, one.category) == ("3 May 2025", ("D3:1", "D3:2"), 1)
    again = ("4 May 2025", ("Oskar", "It is a stove."), ("Oskar", "I went to the garden."))
    made = questions(conversation((*rows, again)), 500, 0)
    assert not [one for one in made if one.rule == "session"]


def test_the_last_value_of_an_attribute_is_right_and_the_earlier_are_stale():
    oven = only("last", "oven")
    assert oven.question == "What is the oven according to the last statement?"
    assert (oven.answer, oven.stale, oven.evidence) == ("190", ("210",), ("D3:1",))
    port = only("last", "port")
    assert port.question == "What is Oskar's port according to the last statement?"
    assert (port.answer, port.stale) == ("9090", ("8080",))
    # a value that returns is not asked for
    rows = [("9 March 2025", ("Oskar", f"My port is {port}.")) for port in (8080, 9090)]
    (one,) = questions(conversation(rows), 500, 0)
    assert one.rule == "last"
    assert not questions(conversation((*rows, rows[0])), 500, 0)


def test_asks_the_other_speaker_who_never_said_it():
    one = only("absent", "mountain hut")
    assert one.question == "When did Ines mention mountain hut?"
    assert (one.answer, one.wrong, one.category) == (None, "2 March 2025", 5)
    assert "answer" not in one.row()
    # Oskar speaks of the kettle near Ines's turn, so it is not certain that he does not mean hers.
    every = {one.question for seed in range(12) for one in questions(conversation(), 500, seed)}
    assert "When did Oskar mention blue kettle?" not in every


def test_every_question_names_existing_turns_that_contain_its_answer(made):
    turns = {turn.id: turn for one in conversation().sessions for turn in one.turns}
    assert {one.rule for one in made} <= set(RULES)
    for one in made:
        texts = " ".join(turns[id_].text for id_ in one.evidence)
        if one.rule in ("value", "reply", "last"):
            assert one.answer in texts
        if one.rule == "who":
            assert turns[one.evidence[0]].speaker == one.answer


def test_the_choice_follows_the_seed_and_each_turn_is_evidence_once(made, monkeypatch):
    assert questions(conversation(), 500, 0) == made
    assert any(questions(conversation(), 5, seed) != made[:5] for seed in range(1, 5))
    monkeypatch.setattr("eval.transcripts.questions._POOL", 1)  # of each rule, a random candidate
    assert len({questions(conversation(), 1, seed)[0].question for seed in range(9)}) > 1
    cited = Counter(id_ for one in made for id_ in one.evidence)
    assert max(cited.values()) == 1
    few = questions(conversation(), 4, 0)
    assert len(few) == len({one.rule for one in few}) == 4


def test_finds_values_of_each_kind_but_no_speakers_months_and_small_numbers():
    day, speakers = date(2025, 3, 9), ("Ines", "Oskar")
    for sentence, kind, text in (
        ("It runs on Python 3.11.4 here", "version", "3.11.4"),
        ("We pinned v2 of it", "version", "v2"),
        ("See src/app/main.py for more", "path", "src/app/main.py"),
        ("It is in ~/notes/may today", "path", "~/notes/may"),
        (r"Open C:\Users\ines\notes.txt please", "path", r"C:\Users\ines\notes.txt"),
        ("It costs $1,250.50 a year", "number", "$1,250.50"),
        ("There were twelve of them", "number", "twelve"),
        ("We met Ada Lovelace there", "name", "Ada Lovelace"),
        ('She read "The Red Barn" twice', "name", "The Red Barn"),
        ("Call `fit_model` first", "identifier", "fit_model"),
    ):
        assert (kind, text) in [(one.kind, one.text) for one in values(sentence, day, speakers)]
    for sentence in ("You two met Ines", "Hello there", "I said OK on Monday"):
        found = values(sentence, day, speakers)
        assert not [one for one in found if one.kind in ("name", "number")], sentence
