"""Who says what in a memory's content."""

from eval.readers.sentences import roots_by_speaker, sentences


def test_lines_captions_and_questions() -> None:
    content = (
        "Ines: It works! Dr. Moll agrees. Will you come? "
        "[image: a photo of a green kite]\nRuben: Yes."
    )
    found = sentences(content, "Ines")
    assert [(s.speaker, s.text) for s in found] == [
        ("Ines", "It works!"),
        ("Ines", "Dr. Moll agrees."),
        ("Ines", "Will you come?"),
        ("Ines", "green kite"),
        ("Ruben", "Yes."),
    ]
    assert [s.asks for s in found] == [False, False, True, False, False]
    assert [s.addresses for s in found] == [False, False, True, False, False]
    assert [s.caption for s in found] == [False, False, False, True, False]


def test_a_line_without_a_speaker_belongs_to_the_memory() -> None:
    found = sentences("Ines wants two things: a kite and a boat.", "Ines")
    assert [(s.speaker, s.text) for s in found] == [
        ("Ines", "Ines wants two things: a kite and a boat.")
    ]


def test_chinese_sentences() -> None:
    found = sentences("林月：我卖了船。你来吗？[image: 一条船]", "林月")
    assert [(s.text, s.asks) for s in found] == [
        ("我卖了船。", False),
        ("你来吗？", True),
        ("一条船", False),
    ]


def test_questions_and_words_to_the_listener_are_no_claims() -> None:
    said = roots_by_speaker("Ines: I sold the kite. Did Ruben sail? You won the regatta!", "Ines")
    everything, claimed = said["Ines"]
    assert {"kite", "sail", "regatta"} <= everything
    assert "kite" in claimed
    assert not {"sail", "regatta"} & claimed
