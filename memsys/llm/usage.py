"""Tokens of a request and of its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memsys.text.tokens import count_tokens
from memsys.types import Usage

_READ = ("messages", "tools", "response_format", "input")  # fields that a model is given to read
_IMAGE = 2_833  # gpt-4o-mini; gpt-4o bills 85


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    """What the endpoint says that it used; None where it says nothing usable.

    An answer to an embedding request has no output tokens.
    """
    told = answer.get("usage")
    if not isinstance(told, Mapping):
        return None
    tokens = [told.get("prompt_tokens"), told.get("completion_tokens", 0)]
    if any(type(count) is not int or count < 0 for count in tokens):
        return None
    return Usage(1, *tokens)


def input_tokens(body: Mapping[str, Any]) -> int:
    """At least what `body` gives a model to read: o200k tokens of its JSON, brackets and all; of
    an image the most that OpenAI's models bill at low detail.
    """
    read = {name: body[name] for name in _READ if name in body}
    images: list[str] = []

    def without(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if found.get("type") == "image_url":
            images.append(str(found.pop("image_url", "")))
        return found

    # An address may be the image itself: no words, and one of a million letters.
    text = json.dumps(read, ensure_ascii=False)
    if '"image_url"' in text:
        text = json.dumps(json.loads(text, object_pairs_hook=without), ensure_ascii=False)
    return count_tokens(text) + _IMAGE * len(images)


def output_limit(body: Mapping[str, Any]) -> int | None:
    """The most tokens that the answer to `body` may have; None if it says none.

    A request for embeddings has no `messages` and gets no output tokens.
    """
    if "messages" not in body:
        return 0
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    return limit if type(limit) is int else None
