"""Descriptions of shared images, written by a vision model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from memsys.facts.fact import Event, fault, tokens
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt
from memsys.types import Turn

Images = Literal["caption", "endpoint"]
_ADDRESSES = ("http://", "https://", "data:image/")


class ImageDescriber:
    """Has each image described once. Only the address is sent: the model's server fetches it."""

    def __init__(self, llm: LLM, prompt: Prompt) -> None:
        """`prompt` has the placeholder {message}."""
        self._llm, self._prompt = llm, prompt
        self._described: dict[str, str] = {}  # by turn

    def described(self, turn: Turn, log: list[Event]) -> Turn:
        """Return `turn` with a description as its caption, or unchanged if it has no image or none
        could be described, which is logged.
        """
        if turn.image is None:
            return turn
        if turn.id not in self._described:
            description = self._describe(turn, turn.image, log)
            if description is None:
                return turn
            self._described[turn.id] = description
        return replace(turn, caption=self._described[turn.id])

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
        description, cost = " ".join(reply.text.split()), tokens(reply.usage)
        if not description:
            log.append(fault("image", "empty", "no description", turn=turn.id, tokens=cost))
            return None
        log.append({"step": "image", "turn": turn.id, "shown": description, "tokens": cost})
        return description


def content(text: str, image: str) -> list[dict[str, Any]]:
    """Return a message's content of two parts, text and image, as in OpenAI's chat protocol.

    `detail` is low: it suffices for one sentence and bounds the cost of an image.
    """
    return [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": image, "detail": "low"}},
    ]
