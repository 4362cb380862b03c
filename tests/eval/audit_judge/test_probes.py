"""Probes: right ones mean the same as the gold, wrong ones never do."""

from collections import Counter

from eval.audit_judge.probes import (
    KINDS,
    RIGHT,
    WrongAnswers,
    buried,
    make_probes,
    reformatted,
    vague,
)
from eval.datasets.locomo import LoCoMo
from eval.datasets.types import Question
from eval.judges.gold_recall import gold_recall
from eval.metrics.abstention import abstains
from eval.metrics.normalise import terms
from memsys.core.terms import is_cjk

SAMPLE = LoCoMo(name="sample_hard", path="data/sample_hard").load()
PROBES = make_probes(SAMPLE.questions, {}, None, seed=3)


def of(kind: str) -> list:
    return [probe for probe in PROBES if probe.kind == kind]


def question(text: str, gold: str, number: int = 0, type_: str = "single_hop") -> Question:
    return Question(f"s/{number}", "s", 4, type_, text, gold, ())


def test_every_kind_is_made_of_the_hard_sample_and_none_of_type_5():
    assert {probe.kind for probe in PROBES} == set(KINDS)
    assert all(probe.type != "adversarial" for probe in PROBES)
    assert len(of("wrong_specific")) > 200
    assert len(of("gold_reformatted")) > 40


def test_wrong_probes_never_hold_the_gold():
    for probe in of("wrong_specific") + of("wrong_vague"):
        assert not set(terms(probe.gold)) <= set(terms(probe.answer)), probe
        assert gold_recall(probe.answer, probe.gold) < 1, probe
    # specific ones are golds of the same type
    golds = {(q.type, q.gold) for q in SAMPLE.questions}
    for probe in of("wrong_specific"):
        assert (probe.type, probe.answer) in golds


def test_right_probes_hold_the_gold_and_refusals_refuse():
    for probe in PROBES:
        if probe.kind in RIGHT:
            assert gold_recall(probe.answer, probe.gold) == 1 or not terms(probe.gold), probe
    for probe in of("gold_long") + of("wrong_long"):
        assert len(probe.answer) > 150
    for probe in of("gold_reformatted"):
        assert probe.answer != probe.gold
        assert Counter(terms(probe.answer)) == Counter(terms(probe.gold))
    for probe in of("refusal"):
        assert abstains(probe.answer)
        assert is_cjk(probe.answer) == is_cjk(probe.question)
    assert {probe.answer for probe in of("empty")} == {""}


def test_the_limit_is_of_each_kind_and_the_order_is_the_seeds():
    few = make_probes(SAMPLE.questions, {}, 5, seed=3)
    assert Counter(probe.kind for probe in few) == dict.fromkeys(KINDS, 5)
    ids = [[p.question_id for p in few if p.kind == kind] for kind in ("gold", "gold_long")]
    assert ids[0] == ids[1]  # pairs for the sensitivity to length
    assert few == make_probes(SAMPLE.questions, {}, 5, seed=3)
    assert few != make_probes(SAMPLE.questions, {}, 5, seed=4)


def test_given_answers_take_the_place_of_made_ones():
    id_ = next(q.id for q in SAMPLE.questions if q.gold)
    given = {"wrong_specific": {id_: "a zeppelin"}}
    probes = make_probes(SAMPLE.questions, given, None, 0)
    specific = [probe for probe in probes if probe.kind == "wrong_specific"]
    assert [(p.question_id, p.answer) for p in specific] == [(id_, "a zeppelin")]
    (long,) = (probe for probe in probes if probe.kind == "wrong_long")
    assert "a zeppelin" in long.answer
    assert make_probes(SAMPLE.questions, given, None, 0, by_rule=False) == specific


def test_other_forms_where_they_are_certain():
    for asked, gold, expected in (
        ("When?", "7 May 2023", "May 7th, 2023"),
        ("When?", "the week before 21 May 2023", "the week before May 21st, 2023"),
        ("When?", "May 7, 2023", "2023-05-07"),
        ("哪天？", "2024年3月8日", "2024-03-08"),
        ("How long?", "three weeks", "3 weeks"),
        ("How many?", "3", "three"),
        ("Which?", "Ash, Beech and Cedar", "Cedar, Ash and Beech"),
        ("Which?", "nuts, figs, and dates", "dates, nuts, and figs"),
        ("哪些？", "南宁、桂林、柳州", "柳州、南宁、桂林"),
        ("When?", "May 2023", None),
        ("Which game?", "Kestrel 3", None),  # the number of a title
        ("Which film?", "it takes two", None),
        ("Which?", "a bowl of nuts, figs, and dates", None),
        ("Which?", "tea, bread and butter", None),
        ("Which, in order?", "Ash, Beech and Cedar", None),
        ("先后去了哪里？", "南宁、桂林、柳州", None),
        ("Which?", "Ash and Beech", None),
        ("What time?", "3:30 pm", None),
        ("What?", "a kayak", None),
    ):
        assert reformatted(asked, gold) == expected, gold


def test_no_specific_wrong_answer_where_all_golds_say_the_same():
    asked = [question("a?", "a red kite"), question("b?", "the kite", 1), question("c?", "red", 2)]
    other = ("d?", "a blue kayak", 3)
    for more, wrong in (
        ([], None),
        ([question(*other)], "a blue kayak"),
        ([question(*other, "multi_hop")], None),
    ):
        assert WrongAnswers([*asked, *more], 0).specific(asked[0]) == wrong


def test_vague_answers_follow_the_first_asking_word():
    answer = vague(question("What did the man who left sell?", "a boat"))
    assert answer.startswith("They mentioned")
    assert vague(question("Who used to own Beetroot?", "Beetroot")) is None  # would hold the gold
    # long answers keep the words
    assert "a red kite." in buried("a red kite")
    assert "桂林。" in buried("桂林")
    assert buried("桂林。") == buried("桂林")
