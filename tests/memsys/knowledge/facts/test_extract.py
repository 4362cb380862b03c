"""What a model is shown of a conversation and its images, and what of its reply becomes a fact."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Session, Turn
from memsys.knowledge.facts.extract import ExtractSettings, FactExtractor
from memsys.knowledge.facts.fact import Event, Fact, as_memory
from memsys.llm.base import LLMError
from memsys.llm.pricing import input_tokens
from tests.memsys.build import session
from tests.memsys.knowledge.facts.models import Planned, fact, facts
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import Behaviour, FaultyServer

WORDS = [("Mara" if i % 2 else "Theo", f"word{i}") for i in range(1, 7)]
FIRST = session(1, datetime(2024, 3, 2, 10, 0), *WORDS)
SHOWN = Turn("D2:1", "Mara", "Look at this!", "a cracked bowl on a kiln shelf")
SAID = Turn("D2:2", "Theo", "Kiln accidents happen.")
LATER = Session("2", datetime(2024, 4, 10, 18, 30), (SHOWN, SAID))


def settings(**own: Any) -> ExtractSettings:
    return ExtractSettings(**{"prompt": "facts_extract", "summary_prompt": "facts_summary", **own})


def extracted(llm: Planned, **own: Any) -> tuple[list[Fact], list[Event], FactExtractor]:
    """The facts of the last exchange, after everything before it."""
    extractor, log, found = FactExtractor(llm, settings(**own)), [], []
    for one in (FIRST, LATER):
        for turns in extractor.exchanges(one):
            log.clear()
            found = extractor.facts(turns, one.time, log)
        extractor.refresh(one, [])
    return found, log, extractor


def between(text: str, mark: str) -> str:
    return text.partition(f"<{mark}>")[2].partition(f"</{mark}>")[0].strip()


def test_a_model_sees_the_summary_the_last_messages_and_the_new_ones():
    llm = Planned([facts()], summary=["Mara and Theo count words."])
    extracted(llm, recent=3)
    shown = llm.asked["extract"]
    assert len(shown) == 4
    assert between(shown[0], "summary_so_far") == between(shown[0], "earlier_messages")
    second = "[2 March 2024, 10:00]\n3. Mara: word3\n4. Theo: word4"
    assert between(shown[1], "new_messages") == second
    assert between(shown[3], "summary_so_far") == "Mara and Theo count words."
    assert between(shown[3], "earlier_messages").splitlines() == [
        *("[2 March 2024, 10:00]", "1. Theo: word4", "2. Mara: word5", "3. Theo: word6")
    ]
    assert between(shown[3], "new_messages").splitlines() == [
        "[10 April 2024, 18:30]",
        "4. Mara: Look at this! [image: a cracked bowl on a kiln shelf]",
        "5. Theo: Kiln accidents happen.",
    ]
    assert "Today is 10 April 2024, 18:30" in shown[3]


def test_the_times_of_forgotten_turns_are_returned_and_the_summary_goes_with_them():
    *_, extractor = extracted(Planned([facts()], summary=["They count."]))
    assert (extractor.forget(["D9:9"]), extractor.summary) == (set(), "They count.")
    assert (extractor.forget(["D2:1"]), extractor.summary) == ({LATER.time}, "")


def test_a_summary_that_fails_or_is_cut_off_leaves_the_old_one_and_is_logged():
    llm, log = Planned(summary=["one", LLMError("refused"), "on and on and"]), list[Event]()
    extractor = FactExtractor(llm, settings())
    extractor.refresh(FIRST, log)
    extractor.refresh(LATER, log)
    llm._finish = "length"
    extractor.refresh(LATER, log)
    assert extractor.summary == "one"
    assert [one.get("fault") for one in log] == [None, "no_answer", "cut_off"]
    assert log[-1]["tokens"]["output_tokens"] == 10
    llm = Planned([facts()])
    extracted(llm, summary_prompt=None)
    assert llm.asked["summary"] == []


def test_a_fact_has_title_text_event_speaker_and_sources():
    row = fact("A bowl cracked in the kiln", "mara", 7, when="yesterday", title=" cracked  bowl ")
    found, log, _ = extracted(Planned([facts(row)]))
    assert found == [
        Fact("cracked bowl", "A bowl cracked in the kiln", "2024-04-09", "Mara", ("D2:1",))
    ]
    cost = {"input_tokens": 100, "output_tokens": 10}
    assert log == [{"step": "extract", "turns": ["D2:1", "D2:2"], "facts": 1, "tokens": cost}]
    memory = as_memory("f1", found[0], LATER.time)
    assert memory.content == "Mara: A bowl cracked in the kiln (2024-04-09)"
    assert memory.index_text.startswith("cracked bowl\n")
    expected = "cracked bowl", LATER.time, ("D2:1",)
    assert (memory.title, memory.time, memory.turns) == expected


def test_sources_that_were_not_shown_are_dropped_and_logged():
    rows = fact("Mara has a kiln", "Mara", 7.0, 70, 0), fact("Theo knows kilns", "Nobody", -1)
    more = fact(" ", "Mara", 7), fact("mara has a  kiln!", "Mara")  # empty, and repeated
    before = fact("Theo has word6", "Theo", 6, when="yesterday")
    found, log, _ = extracted(Planned([facts(*rows, *more, before)]))
    assert [one.turns for one in found] == [("D2:1",), (), ("D1:6",)]
    assert found[1].speaker == "Theo"  # of the last message, for want of a better one
    assert found[2].event == "2024-03-01"  # the day before the session of its message
    assert [one.get("fault") for one in log] == ["unknown_turn", "unknown_turn", None]


EXAMPLE = """On {time} write notes on {messages}
<example>
1. Quimby: Guess who got a zebra-striped unicycle yesterday?
{"facts": [{"content": "Quimby got a zebra-striped unicycle"}]}
</example>
"""


@pytest.fixture
def with_example(tmp_path: Path) -> str:
    (tmp_path / "example.txt").write_text(EXAMPLE, encoding="utf-8")
    return str(tmp_path / "example.txt")


@pytest.mark.parametrize(
    "echo",
    [
        *("Quimby got a zebra-striped unicycle", "Mara got a striped unicycle"),
        "Quimby got a zebra-strippeduniclamped.",  # as a small model wrote it
        "Quimby lives in Bergen with two cats",
    ],
)
def test_an_example_of_the_prompt_never_becomes_a_fact(with_example, echo):
    rows = fact(echo, "Mara", 1), fact("Mara cracked a bowl", "Mara", 7)
    found, log, _ = extracted(Planned([facts(*rows)]), prompt=with_example)
    assert [one.content for one in found] == ["Mara cracked a bowl"]
    assert (log[0]["fault"], log[0]["detail"]) == ("prompt_example", echo)


def test_nor_a_title_but_what_was_said_is_no_echo(with_example):
    row = fact("Mara cracked a bowl", "Mara", 7, title="striped unicycle")
    found, *_ = extracted(Planned([facts(row)]), prompt=with_example)
    assert (found[0].title, found[0].content) == ("", "Mara cracked a bowl")
    llm = Planned([facts(fact("Quimby has a unicycle", "Mara", 1))])
    extractor = FactExtractor(llm, settings(prompt=with_example))
    said = session(1, datetime(2024, 3, 2), ("Mara", "Quimby has a new unicycle."))
    (turns,) = extractor.exchanges(said)
    assert extractor.facts(turns, said.time, [])


def test_a_prompt_of_one_s_own(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("On {time}: {messages}", encoding="utf-8")
    llm = Planned([facts()])
    extracted(llm, prompt=str(path))
    assert llm.asked["extract"][0].startswith("On 2 March 2024, 10:00: [2 March 2024, 10:00]\n1. ")
    path.write_text("{messages}", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine.txt: the place \{time\} is missing"):
        extracted(llm, prompt=str(path))


@pytest.mark.parametrize("wrong", [{"exchange": 0}, {"recent": -1}, {"images": "eyes"}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(InputError, match=f"^strategy.facts.{min(wrong)}: "):
        settings(**wrong)


DATA = "data:image/png;base64," + "iVBORw0KGgo" * 3000
WEB = "https://example.org/kiln.jpg"
SEEN = "A blue bowl\nwith a crack."


def talk(image: str | None, caption: str | None = "a bowl") -> Session:
    turn = Turn("D1:1", "Mara", "Look!", caption, image)
    return Session("1", datetime(2024, 3, 2), (turn, Turn("D1:2", "Theo", "Oh no.")))


class Seeing:
    """A server's script: `eye` is what it does to a request with an image."""

    def __init__(self, eye: Behaviour) -> None:
        self.eye = eye
        self.images: list[Any] = []
        self.texts: list[str] = []

    def __call__(self, body: Body) -> Behaviour:
        content = body["messages"][0]["content"]
        if isinstance(content, list):
            self.images.append(content)
            return self.eye
        self.texts.append(content)
        return faults.says(json.dumps({"facts": []}) if "response_format" in body else "Bowls.")


def described(
    make: Make, script: Seeing, session: Session, images: str = "endpoint", detail: str = "low"
) -> tuple[list[Event], FactExtractor]:
    prompts: Any = {"prompt": "facts_extract", "summary_prompt": "facts_summary", "exchange": 1}
    settings = ExtractSettings(**prompts, images=images, image_detail=detail)
    log: list[Event] = []
    with FaultyServer(script) as server:
        extractor = FactExtractor(make(server, retries=0), settings)
        for turns in extractor.exchanges(session):
            extractor.facts(turns, session.time, log)
        extractor.refresh(session, log)
    return log, extractor


@pytest.mark.parametrize(
    ("address", "detail"), [(WEB, "low"), (WEB, "high"), (DATA, "auto")], ids=["1", "2", "data"]
)
def test_the_description_takes_the_caption_s_place(make, address, detail):
    script = Seeing(faults.says(SEEN))
    log, _ = described(make, script, talk(address), detail=detail)
    (parts,) = script.images
    assert [part["type"] for part in parts] == ["text", "image_url"]
    assert "Mara: Look!" in parts[0]["text"]
    assert parts[1]["image_url"] == {"url": address, "detail": detail}
    assert len(script.texts) == 3  # two exchanges and the summary
    for text in script.texts:
        assert "Mara: Look! [image: A blue bowl with a crack.]" in text
        assert "a bowl" not in text
    (event,) = [one for one in log if one["step"] == "image"]
    assert (event["turn"], event["shown"]) == ("D1:1", "A blue bowl with a crack.")
    assert event["tokens"]["output_tokens"] == 2


def test_captions_send_no_image(make):
    script = Seeing(faults.says(SEEN))
    _, extractor = described(make, script, talk(WEB), images="caption")
    assert script.images == []
    assert "[image: a bowl]" in script.texts[0]
    assert WEB not in "".join(script.texts)
    assert "image" not in extractor.prompts


BLIND = faults.status(400, "no eyes")


@pytest.mark.parametrize(
    ("eye", "caption"), [(BLIND, "a bowl"), (BLIND, None), (faults.says("  "), "a bowl")]
)
def test_a_failure_falls_back_to_the_caption_and_is_logged(make, eye, caption):
    script = Seeing(eye)
    log, _ = described(make, script, talk(WEB, caption))
    (event,) = [one for one in log if "fault" in one]
    assert (event["step"], event["fault"], event["turn"]) == ("image", "no_answer", "D1:1")
    shown = "Mara: Look! [image: a bowl]" if caption else "Mara: Look!\n"
    assert shown in script.texts[0]


@pytest.mark.parametrize("address", ["file:///etc/hosts", "data:text/html,x", "x"])
def test_other_addresses_are_not_sent(make, address):
    script = Seeing(faults.says(SEEN))
    log, _ = described(make, script, talk(address))
    assert script.images == []
    assert [one["fault"] for one in log if "fault" in one] == ["bad_address"]
    assert "[image: a bowl]" in script.texts[0]


def test_an_estimate_counts_an_image_and_not_the_letters_of_its_address():
    def tokens(image: str) -> int:
        url = {"url": image, "detail": "low"}
        parts = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": url}]
        return input_tokens({"messages": [{"role": "user", "content": parts}]})

    assert tokens(DATA) == tokens(WEB)
    assert 2833 < tokens(DATA) < 3000
