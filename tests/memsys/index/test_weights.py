"""Cues of the fusion ranking in English and Chinese, and the weights of its signals."""

from functools import partial
from typing import Any, Literal

import numpy as np
import pytest
import yaml

from memsys.core.errors import InputError
from memsys.index.weights import (
    SETS,
    SIGNALS,
    WEIGHTS,
    Cue,
    FusionWeights,
    ends_as_question,
    has_cue,
    load_weights,
    named_speaker,
)

ROLES = ("user", "assistant")
FRIENDS = ("Mara Lind", "Theo")


CUES: dict[Cue | Literal["ends_as_question"], tuple[str, str]] = {  # what is one and what is not
    "asks": (
        "Where is it | where's it? | Tell me of it | It is? | 你喜欢什么 | 他来了吗 | ؟",
        "My knee hurts again. | I wonder |  | 膝盖又疼了。",
    ),
    "asks_time": (
        "When did it end? | In what year was it? | How long was it? | 他什么时候来? | 几月几号",
        "Whenever did end it | Where was it when it ended? | 他在哪里? | ",
    ),
    "asks_count": (
        "How many are there? | how often | How old is she? | 有多少只? | 他去了几次?",
        "How is she? | Where? | 他怎么样? | ",
    ),
    "states_time": (
        "I came last Friday | two weeks ago | in May | just now | 我昨天来 | 三个月前",
        "I may come | The lastly named | 我喜欢茶 | ",
    ),
    "states_count": (
        "I have 3 | two of them | a dozen | 我有三只猫 | 去了两次",
        "I have often | none | 我有猫 | ",
    ),
    "ends_as_question": (
        "Is it?  | 真的吗？ | It is. Is it?\n",
        "Is it? It is. |  | 它是。",
    ),
}


@pytest.mark.parametrize("cue", CUES)
def test_cues(cue):
    yes, no = (texts.split(" | ") for texts in CUES[cue])
    found = ends_as_question if cue == "ends_as_question" else partial(has_cue, cue)
    assert [text for text in yes if not found(text)] == []
    assert [text for text in no if found(text)] == []


@pytest.mark.parametrize(
    ("question", "speakers", "named"),
    [
        ("What did Mara's kiln do?", FRIENDS, "Mara Lind"),
        ("What did Lind buy?", FRIENDS, None),
        ("What did Tamara buy?", FRIENDS, None),
        ("What did Mara give Theo?", FRIENDS, None),
        ("What did Mara buy?", ("Mara", "Mara"), "Mara"),
        ("What did J. buy?", ("J. Doe", "Theo"), "J. Doe"),
        ("李雷买了什么?", ("李雷", "韩梅梅"), "李雷"),
        ("李雷给了韩梅梅什么?", ("李雷", "韩梅梅"), None),
        ("Where did I buy it?", ROLES, "user"),
        ("Where did you buy it?", ROLES, "assistant"),
        ("Where did I tell you to buy it?", ROLES, None),
        ("我在哪里买的?", ROLES, "user"),
        ("你推荐了什么?", ROLES, "assistant"),
        ("What did I say?", FRIENDS, None),
        ("What of it?", ("",), None),
    ],
)
def test_the_speaker_named(question, speakers, named):
    assert named_speaker(question, speakers) == named


SHIPPED: dict[str, Any] = yaml.safe_load(WEIGHTS.read_text("utf-8"))
QUESTION, REMARK = "Where is the kiln?", "My knee hurts again."


def test_the_shipped_weights_are_read_as_written():
    weights = load_weights()
    for name, signals in SETS.items():
        assert getattr(weights, name) == SHIPPED[name]
        assert tuple(getattr(weights, name)) == signals
    assert list(weights.coverage) == SHIPPED["coverage"]


def changed(name: str, **signals: Any) -> dict[str, Any]:
    return {**SHIPPED, name: {**SHIPPED[name], **signals}}


WITHOUT = {name: value for name, value in SHIPPED.items() if name != "without_vectors"}
FEWER = {name: value for name, value in SHIPPED["all"].items() if name != "words"}


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (None, "all: must give a weight to each of words, "),
        (WITHOUT, "without_vectors: must give a weight to each of words, "),
        ({**SHIPPED, "all": FEWER}, "all: must give a weight to each"),
        (changed("all", walk=1.0), "all: must give a weight to each"),
        (changed("without_words", speaker=True), "without_words.speaker: True"),
        (changed("all", words=1e9), "all.words: 1000000000.0"),
        (changed("all", words=float("nan")), "not YAML: .*"),
        *(
            ({**SHIPPED, "coverage": wrong}, "coverage: must be two numbers of 0 to 1")
            for wrong in (None, [0.1], ["low", 0.3], [0.1, 1.3], [0.3, 0.3], [0.1, 0.2, 0.3])
        ),
    ],
)
def test_an_unusable_file_and_its_field_are_named(tmp_path, content, named):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    with pytest.raises(InputError, match=rf"^{path}: {named}"):
        load_weights(path)
    with pytest.raises(InputError, match=rf"^index\.fusion={tmp_path}: no such file"):
        load_weights(tmp_path)


# In `all` only words count, and in the others one more signal each.
OWN = FusionWeights(
    all={**dict.fromkeys(SIGNALS, 0.0), "words": 1.0},
    without_words={"window_cosine": 10.0, "speaker": 0.0},
    without_vectors={"words": 100.0},
    coverage=(0.2, 0.6),
)


def scored(question: str, coverage: float, understood: bool = True) -> list[float]:
    """Of two memories, the first with the words, the second with the vectors."""
    signals = {name: np.zeros(2) for name in SIGNALS} | {
        "words": np.array([1.0, 0.0]),
        "window_words": np.array([coverage, 0.0]),
        "window_cosine": np.array([0.0, 1.0]),
    }
    found = OWN.score(signals, question, understood=understood)
    assert found.shape == (2,)
    return found.tolist()


@pytest.mark.parametrize(
    ("question", "coverage", "expected"),
    [
        *((QUESTION, coverage, [1, 0]) for coverage in (0.0, 0.4, 1.0)),
        *(
            (REMARK, coverage, [trust, 10 * (1 - trust)])
            for coverage, trust in {0.0: 0, 0.2: 0, 0.3: 0.25, 0.4: 0.5, 0.6: 1, 0.9: 1}.items()
        ),
    ],
)
def test_a_question_trusts_words_and_a_remark_as_far_as_a_memory_has_them(
    question, coverage, expected
):
    assert scored(question, coverage) == pytest.approx(expected)
    # An embedder that does not know the language does not count.
    assert scored(question, coverage, understood=False) == [100, 0]
