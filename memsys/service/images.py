"""Images in messages: described by a model, so that a memory of text can contain them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from memsys.core.errors import InputError, check_choice
from memsys.core.types import Turn
from memsys.knowledge.facts.fact import Event
from memsys.knowledge.facts.images import Detail, describe
from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from memsys.service.records import NoModelError, check_text
from memsys.service.setup import Setup

_TYPES = "text", "image_url"


def as_texts(setup: Setup, messages: Sequence[Any], log: list[Event]) -> list[Any]:
    """Return `messages` of OpenAI's chat protocol with text in place of a content that is a part or
    a list of parts; an image becomes `[image: description]` by the model. The calls are logged.

    Contents with other parts than text and images are returned unchanged. Raises InputError on an
    invalid part, NoModelError on an image without a model, LLMError without a description.
    """
    return [_as_text(setup, one, f"messages[{i}]", log) for i, one in enumerate(messages)]


def _as_text(setup: Setup, message: Any, where: str, log: list[Event]) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list) or not parts or not all(map(_is_known, parts)):
        return message
    system = message.get("role") == "system"  # which is not stored
    images = [one for one in parts if one["type"] == "image_url" and not system]
    words = "\n".join(_words(one, where) for one in parts if one["type"] == "text")
    speaker = message.get("name") or message.get("role")
    turn = Turn(where, str(speaker), words)
    shown = [f"[image: {one}]" for one in _descriptions(setup, turn, images, log)]
    return {**message, "content": " ".join(filter(None, [words, *shown]))}


def _is_known(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _TYPES


def _words(part: Mapping[str, Any], where: str) -> str:
    words = part.get("text")
    if not isinstance(words, str):
        raise InputError(f"{where}.content: a part of type text has no text")
    check_text(words, f"{where}.content")
    return words


def _descriptions(
    setup: Setup, turn: Turn, images: Sequence[Mapping[str, Any]], log: list[Event]
) -> Iterator[str]:
    """Yield one sentence on each image. `turn`: the message that they came with."""
    for part in images:
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, Mapping) else None
        if not isinstance(image, Mapping) or not isinstance(url, str):
            raise InputError(f"{turn.id}.content: a part of type image_url has no image_url.url")
        if setup.llm is None or setup.facts is None:
            raise NoModelError(
                f"{turn.id}.content: there is no model to describe the image with; set llm= to "
                "one that sees images, or leave the image out"
            )
        detail = image.get("detail") or setup.facts.image_detail
        check_choice(f"{turn.id}.content.detail", detail, get_args(Detail))
        prompt = load_prompt(setup.facts.image_prompt, ["message"])
        sentence = describe(setup.llm, prompt, replace(turn, image=url), detail, log)
        if sentence is None:
            fault = log[-1]
            wrong = InputError if fault["fault"] == "bad_address" else LLMError
            raise wrong(f"{turn.id}.content: the image was not described ({fault['detail']})")
        yield sentence
