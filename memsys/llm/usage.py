"""Token counts of a request and of its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memsys.text.tokens import count_tokens
from memsys.types import Usage

_READ = ("messages", "tools", "response_format", "input")  # fields that the model reads
_IMAGE = 2_833  # gpt-4o-mini; gpt-4o bills 85


def usage_of(answer: Mapping[str, Any]) -> Usage | None:
    """Return the usage that the endpoint reports; None if it reports none that is usable.

    An answer to an embedding request has no output tokens.
    """
    reported = answer.get("usage")
    if not isinstance(reported, Mapping):
        return None
    tokens = [reported.get("prompt_tokens"), reported.get("completion_tokens", 0)]
    if any(type(count) is not int or count < 0 for count in tokens):
        return None
    return Usage(1, *tokens)


def input_tokens(body: Mapping[str, Any]) -> int:
    """Return an upper bound of the input tokens of a request: the o200k tokens of its JSON.

    An image counts as the most that OpenAI's models bill at low detail.
    """
    read = {name: body[name] for name in _READ if name in body}
    images: list[str] = []

    def without(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if value.get("type") == "image_url":
            images.append(str(value.pop("image_url", "")))
        return value

    # A URL may contain the image itself, a million characters that are not text.
    text = json.dumps(read, ensure_ascii=False)
    if '"image_url"' in text:
        text = json.dumps(json.loads(text, object_pairs_hook=without), ensure_ascii=False)
    return count_tokens(text) + _IMAGE * len(images)


def output_limit(body: Mapping[str, Any]) -> int | None:
    """Return the largest number of output tokens that `body` allows; None if it sets no limit.

    A request for embeddings has no `messages` and no output tokens.
    """
    if "messages" not in body:
        return 0
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    return limit if type(limit) is int else None
