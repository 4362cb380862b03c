"""Errors of a server as messages: of the configuration, or of one call."""

from __future__ import annotations

import re

import httpx2
import openai

from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.text.addresses import without_secrets

_SHOWN = 200  # characters of a server's message
_TOO_LONG = re.compile(
    r"context.?(length|size|window)|maximum context|too many tokens|prompt is too long",
    re.IGNORECASE,
)
_REMEDIES = {
    401: "the key is not accepted; check the variable {variable}",
    403: "the key may not use this model; check the variable {variable} and the account",
    404: "no such model or address; check llm.model and llm.base_url",
}
_NOBODY = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
_NO_CREDIT = "insufficient_quota"


def explain(
    error: openai.OpenAIError, model: str, key_variable: str, timeout_s: float, attempts: int
) -> LLMError | InputError:
    """Return `error` as an LLMError, or as an InputError if configuration or account cause it.

    The message contains no secret, although a server may repeat one.
    """
    tries = f"{attempts} attempt{'s' if attempts != 1 else ''}"
    if isinstance(error, openai.APITimeoutError):
        return LLMError(f"{model}: no whole answer within {timeout_s:g} s ({tries})")
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        message = _shown(f"{type(cause).__name__}: {cause}" if cause else str(error), key_variable)
        return LLMError(f"{model}: the connection failed ({message}; {tries})")
    if not isinstance(error, openai.APIStatusError):
        return LLMError(f"{model}: {type(error).__name__}: {_shown(str(error), key_variable)}")
    status, message = error.status_code, _message(error, key_variable)
    if status in _REMEDIES:
        remedy = _REMEDIES[status].format(variable=key_variable)
        return InputError(f"{model}: HTTP {status}: {remedy} ({message})")
    if _NO_CREDIT in (error.code, error.type):
        return InputError(
            f"{model}: the account has no credit left ({message}); add credit and resume"
        )
    if error.code == "context_length_exceeded" or (
        status in (400, 413) and _TOO_LONG.search(message)
    ):
        return LLMError(f"{model}: the request is longer than the model's context ({message})")
    return LLMError(f"{model}: HTTP {status} ({message}; {tries})")


def status_to_keep(error: openai.OpenAIError) -> int | None:
    """Return the status under which a failure after all retries is recorded.

    The server's status, or 0 if no answer was complete. None if no server was reached, so that
    there is nothing to replay.
    """
    if isinstance(error, openai.APIStatusError):
        return error.status_code
    return None if isinstance(error.__cause__, _NOBODY) else 0


def _message(error: openai.APIStatusError, key_variable: str) -> str:
    """Return the server's message, on one line and shortened."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return _shown(" ".join(str(message or error.message).split()), key_variable)


def _shown(text: str, key_variable: str) -> str:
    return without_secrets(text, key_variable)[:_SHOWN]  # shortening first could leave half a key
