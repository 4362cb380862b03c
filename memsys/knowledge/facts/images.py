"""Descriptions of images by a model that can see them."""

from __future__ import annotations

from typing import Literal

from memsys.core.types import Turn
from memsys.knowledge.facts.fact import Event, fault, tokens
from memsys.llm.base import LLM, LLMError
from memsys.llm.prompt import Prompt

Detail = Literal["low", "high", "auto"]  # of OpenAI's chat protocol
_ADDRESSES = ("http://", "https://", "data:image/")


def describe(llm: LLM, prompt: Prompt, turn: Turn, detail: Detail, log: list[Event]) -> str | None:
    """Return one sentence on the image of `turn`, None without one or after an error, which is
    logged. Only the address is sent: the model's server fetches the image. `detail`: resolution at
    which the server reads it, which determines its tokens.
    """
    if turn.image is None:
        return None
    if not turn.image.casefold().startswith(_ADDRESSES):
        scheme = turn.image.partition(":")[0][:20]  # what follows it may contain a password
        wrong = f"{scheme}: neither http(s) nor data:image/"
        log.append(fault("image", "bad_address", wrong, turn=turn.id))
        return None
    text = prompt.fill(message=f"{turn.speaker}: {turn.text}")
    parts = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": turn.image, "detail": detail}},
    ]
    try:
        reply = llm.complete([{"role": "user", "content": parts}])
    except LLMError as error:
        log.append(fault("image", "no_answer", error, turn=turn.id))
        return None
    description, cost = " ".join(reply.text.split()), tokens(reply.usage)
    if not description:
        log.append(fault("image", "empty", "no description", turn=turn.id, tokens=cost))
        return None
    log.append({"step": "image", "turn": turn.id, "shown": description, "tokens": cost})
    return description
