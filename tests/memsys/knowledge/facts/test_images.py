"""Images are described by a model that can see, over the wire, or told by their captions."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from memsys.core.types import Session, Turn
from memsys.knowledge.facts.extract import ExtractSettings, FactExtractor
from memsys.knowledge.facts.fact import Event
from memsys.llm.pricing import input_tokens
from tests.memsys.llm import faults
from tests.memsys.llm.answers import Body
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import Behaviour, FaultyServer

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
