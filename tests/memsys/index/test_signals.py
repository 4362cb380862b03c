"""Each signal of the fusion ranking, on stores small enough to compute it by hand."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pytest

from memsys.core.types import UNDATED, Memory, Vectors
from memsys.embed.base import unit_rows
from memsys.index.rank import Scores
from memsys.index.signals import Signals
from memsys.index.weights import SIGNALS
from tests.memsys.build import NOON, memory

# Two sessions: rows 0 to 2 on 2 March 2024, rows 3 and 4 on 9 March.
TALK = [
    memory("a", "My kiln is broken"),
    memory("b", "Two bowls cracked", speaker="Theo"),
    memory("c", "Was it hot?"),
    memory("d", "The council drained the allotment yesterday", 9, speaker="Theo"),
    memory("e", "Nice", 9),
]
QUESTION = "Which kiln was hot?"


def signals(
    memories: Sequence[Memory], question: str, vectors: Vectors | None = None, owners: str = ""
) -> dict[str, Scores]:
    """Of `memories`; the vector of the question is the first axis, and an owner a letter."""
    made = Signals(memories, list(owners) or [""] * len(memories), vectors, k1=0.9, b=0.4)
    cosines = None if vectors is None else vectors[:, 0].astype(np.float64)
    return made.of(question, cosines)


def random_vectors(n: int) -> Vectors:
    return unit_rows(np.random.default_rng(0).normal(size=(n, 5)).astype(np.float32))


def positive(scores: Scores) -> list[int]:
    return np.flatnonzero(scores > 0).tolist()


def test_every_signal_has_a_value_for_each_memory_and_all_but_a_cosine_lie_in_0_to_1():
    found = signals(TALK, "How long did Theo fire two bowls on 9 March?", random_vectors(5))
    assert set(found) == set(SIGNALS)
    for name, scores in found.items():
        assert scores.shape == (5,), name
        assert scores.dtype == np.float64, name
        assert scores.any(), name
        if name != "window_cosine":
            assert 0 <= scores.min() <= scores.max() <= 1, name


def test_words_are_of_the_memory_its_neighbours_and_its_session():
    found = signals(TALK, "kiln")
    assert positive(found["words"]) == [0]
    assert positive(found["window_words"]) == [0, 1]
    assert found["window_words"][0] > found["window_words"][1]
    assert positive(found["session_words"]) == [0, 1, 2]
    assert len(set(found["session_words"][:3])) == 1
    # Neighbours end with the session.
    assert positive(signals(TALK, "hot")["window_words"]) == [1, 2]
    assert positive(signals(TALK, "council")["window_words"]) == [3, 4]
    # A session is resumed by no later one.
    interrupted = signals([TALK[0], TALK[3], TALK[2]], "kiln")
    assert positive(interrupted["session_words"]) == [0]
    # Another owner begins a session, and documents without a time have none.
    same_time = [memory(one.id, one.content) for one in TALK]
    assert positive(signals(same_time, "hot")["window_words"]) == [1, 2, 3]
    apart = signals(same_time, "hot", owners="xxxyy")
    assert positive(apart["window_words"]) == [1, 2]
    assert positive(apart["session_words"]) == [0, 1, 2]
    documents = [memory(one.id, one.content, time=UNDATED, speaker="") for one in TALK]
    alone = signals(documents, QUESTION, random_vectors(5))
    assert positive(alone["window_words"]) == positive(alone["session_words"]) == [0, 2]
    assert not alone["speaker"].any()


def test_a_word_in_the_lead_counts_for_the_words_and_an_unknown_one_lowers_their_share():
    led = [memory("a", "Yes", index_text="Is the kiln new? Yes"), *TALK[3:]]
    found = signals(led, "kiln")
    assert positive(found["words"]) == [0]
    assert not found["window_words"].any()
    long = [memory("a", "kiln " * 60), *TALK[3:]]
    assert signals(long, "kiln")["words"][0] > 0.95
    assert signals(long, "kiln volcano")["words"][0] < 0.6


def test_the_window_cosine_is_that_of_the_summed_vectors():
    vectors = random_vectors(5)
    found = signals(TALK, QUESTION, vectors)["window_cosine"]
    v = vectors.astype(np.float64)
    halves = [(0, [1]), (1, [0, 2]), (2, [1]), (3, [4]), (4, [3])]  # neighbours in the session
    windows = np.stack([v[row] + v[near].sum(axis=0) / 2 for row, near in halves])
    cosines = windows[:, 0] / np.linalg.norm(windows, axis=1)
    assert found == pytest.approx((cosines - cosines.mean()) / cosines.std(), abs=1e-5)
    assert found.mean() == pytest.approx(0, abs=1e-9)
    assert found.std() == pytest.approx(1)


def test_equal_vectors_or_none_give_no_window_cosine():
    apart = [memory(str(i), "same", day=i + 1) for i in range(7)]
    vectors = unit_rows(np.ones((7, 5), dtype=np.float32))
    vectors[3, 0] += np.float32(1e-7)  # as another order of summation gives
    assert not signals(apart, QUESTION, vectors)["window_cosine"].any()
    without = signals(TALK, QUESTION)
    assert not without["window_cosine"].any()
    assert without["feedback"].any()


@pytest.mark.parametrize("owners", ["x", "xy"])
@pytest.mark.parametrize("content", ["kiln", "", "the of"])
def test_one_memory_and_memories_without_text(owners, content):
    n = len(owners)
    memories = [memory(str(i), content) for i in range(n)]
    found = signals(memories, QUESTION, random_vectors(n), owners)
    assert all(one.shape == (n,) and np.isfinite(one).all() for one in found.values())
    assert found["words"].any() == (content == "kiln")


def test_who_is_named_and_what_is_asked_for_speak_for_a_memory():
    assert signals(TALK, "What did Theo buy?")["speaker"].tolist() == [0, 1, 0, 1, 0]
    assert not signals(TALK, "What did Theo give Mara?")["speaker"].any()
    assert not signals(TALK, "What did she buy?")["speaker"].any()
    assert positive(signals(TALK, "When was it?")["time"]) == [3]
    assert positive(signals(TALK, "How many are there?")["count"]) == [1]
    neither = signals([*TALK, memory("f", "kiln " * 40, 9)], "Where is it?")
    assert not neither["time"].any()
    assert not neither["count"].any()
    # Questions and lengths are of the memories alone.
    assert positive(neither["question"]) == [2]
    assert neither["length"][0] == pytest.approx(np.log(3) / np.log(9))  # kiln, broken
    assert neither["length"][5] == 1
    assert signals([memory("a", "the")], "Where?")["length"].tolist() == [0]


def test_feedback_finds_what_shares_no_word_with_the_question():
    talk = [
        memory("a", "My kiln glazes porcelain", 1),
        memory("b", "The kiln cracked porcelain", 2),
        memory("c", "Porcelain is dear", 3),
        memory("d", "The allotment is wet", 4),
        *(memory(f"x{i}", f"An idle remark number{i}", 5 + i) for i in range(6)),
    ]
    found = signals(talk, "Where is the kiln?")
    assert found["feedback"][2] > found["feedback"][3]
    assert found["words"][2] == found["words"][3] == 0
    assert found["feedback"].max() == 1
    # It has no names of speakers, and does not depend on earlier questions.
    talk = [memory("a", "Theo fired the kiln"), memory("b", "Hello Theo", 5, speaker="Theo")]
    made = Signals(talk, ["", ""], None, 0.9, 0.4)
    for question in ("Where is the kiln?", "What about Theo?", "Where is the kiln?"):
        feedback = made.of(question, None)["feedback"].tolist()
    assert feedback == [1, 0]


DATED = [
    memory("a", "The kiln arrived", time=datetime(2023, 5, 7)),
    memory("b", "We had fun yesterday", time=datetime(2023, 5, 25)),
    memory("c", "It rained", time=datetime(2023, 6, 1)),
    memory("d", "I moved here in 2019", time=datetime(2023, 8, 20)),
    memory("e", "我上个月买了碗", time=datetime(2023, 11, 3)),
    memory("f", "No time at all", time=UNDATED),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What came on 7 May 2023?", [1, 0.5, 0, 0, 0, 0]),
        ("What came on 10 May 2023?", [1, 0.5, 0, 0, 0, 0]),  # within three days
        ("What came on 11 May 2023?", [0.5, 0.5, 0, 0, 0, 0]),
        ("What happened on 28 April 2023?", [0, 0, 0, 0, 0, 0]),
        ("What happened in May 2023?", [1, 1, 0, 0, 0, 0]),
        ("What happened in 2023?", [1, 1, 1, 1, 1, 0]),
        ("What happened in 2019?", [0, 0, 0, 1, 0, 0]),
        ("What happened in October 2023?", [0, 0, 0, 0, 1, 0]),
        ("2023年10月买了什么?", [0, 0, 0, 0, 1, 0]),
        ("2023年5月7日发生了什么?", [1, 0.5, 0, 0, 0, 0]),
        ("What happened last month?", [0, 0, 0, 0, 1, 0]),  # of 3 November, the last with a time
        ("What happens in 9999999 weeks?", [0, 0, 0, 0, 0, 0]),
    ],
)
def test_dates_of_a_question_meet_those_said_on_or_mentioned(question, expected):
    assert signals(DATED, question)["date"].tolist() == expected


@pytest.mark.parametrize(
    ("said", "time", "question", "date"),
    [
        # A month ends with its last day.
        ("It rained", datetime(2023, 7, 1), "What happened on 15 June 2023?", 0),
        # A time outside the calendar is none.
        ("9999999999 days ago, in 9999999 weeks; 9999999周前", NOON, "What was in March 2024?", 1),
        ("Yesterday", datetime(1, 1, 2), "What happened two weeks ago?", 0),
        ("My kiln is broken", UNDATED, "What was yesterday?", 0),
        ("My kiln is broken", UNDATED, "Who came on 7 May?", 0),
        ("My kiln is broken", UNDATED, "昨天谁来了?", 0),
    ],
)
def test_the_edges_of_dates(said, time, question, date):
    assert signals([memory("a", said, time=time)], question)["date"].tolist() == [date]
