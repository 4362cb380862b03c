"""What a shared image shows, told by a model that can see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from memsys.facts.base import Event, fault, tokens
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt
from memsys.types import Turn

Images = Literal["caption", "endpoint"]
_ADDRESSES = ("http://", "https://", "data:image/")


class Eyes:
    """Has images described, each once. The address goes to the model's own server, which fetches
    it; nothing is fetched here.
    """

    def __init__(self, llm: LLM, prompt: Prompt) -> None:
        """`prompt` has the place {message}."""
        self._llm, self._prompt = llm, prompt
        self._told: dict[str, str] = {}  # by turn

    def see(self, turn: Turn, log: list[Event]) -> Turn:
        """`turn` with a description in the caption's place. Where there is no image it stays as it
        is, and so it does where none can be had, which goes into `log`.
        """
        if turn.image is None:
            return turn
        if turn.id not in self._told:
            told = self._describe(turn, turn.image, log)
            if told is None:
                return turn
            self._told[turn.id] = told
        return replace(turn, caption=self._told[turn.id])

    def _describe(self, turn: Turn, image: str, log: list[Event]) -> str | None:
        if not image.casefold().startswith(_ADDRESSES):
            detail = f"{image[:60]}: neither http(s) nor data:image/"
            log.append(fault("image", "bad_address", detail, turn=turn.id))
            return None
        text = self._prompt.fill(message=f"{turn.speaker}: {turn.text}")
        try:
            reply = self._llm.complete([{"role": "user", "content": content(text, image)}])
        except LLMError as error:
            log.append(fault("image", "no_answer", error, turn=turn.id))
            return None
        told, cost = " ".join(reply.text.split()), tokens(reply.usage)
        if not told:
            log.append(fault("image", "empty", "no description", turn=turn.id, tokens=cost))
            return None
        log.append({"step": "image", "turn": turn.id, "shown": told, "tokens": cost})
        return told


def content(text: str, image: str) -> list[dict[str, Any]]:
    """A message's content as parts, in the form of OpenAI's chat protocol: words and an image.

    `detail` is low: one sentence needs no more, and an image's cost is then bounded.
    """
    return [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": image, "detail": "low"}},
    ]
