"""What went wrong with a server, in plain words, and whose fault it is."""

from __future__ import annotations

import re

import httpx2
import openai

from memsys.errors import InputError
from memsys.llm.base import LLMError
from memsys.text.addresses import without_secrets

_SHOWN = 200  # characters of a server's own words
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
    """`error`, as an InputError where the configuration or the account is to blame.

    The message holds no secret, though a server may repeat one.
    """
    tries = f"{attempts} attempt{'s' if attempts != 1 else ''}"
    if isinstance(error, openai.APITimeoutError):
        return LLMError(f"{model}: no whole answer within {timeout_s:g} s ({tries})")
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        told = _shown(f"{type(cause).__name__}: {cause}" if cause else str(error), key_variable)
        return LLMError(f"{model}: the connection failed ({told}; {tries})")
    if not isinstance(error, openai.APIStatusError):
        return LLMError(f"{model}: {type(error).__name__}: {_shown(str(error), key_variable)}")
    status, told = error.status_code, _words(error, key_variable)
    if status in _REMEDIES:
        remedy = _REMEDIES[status].format(variable=key_variable)
        return InputError(f"{model}: HTTP {status}: {remedy} ({told})")
    if _NO_CREDIT in (error.code, error.type):
        return InputError(f"{model}: the account has no credit left ({told}); resume when it has")
    if error.code == "context_length_exceeded" or (status in (400, 413) and _TOO_LONG.search(told)):
        return LLMError(f"{model}: the request is longer than the model's context ({told})")
    return LLMError(f"{model}: HTTP {status} ({told}; {tries})")


def status_to_keep(error: openai.OpenAIError) -> int | None:
    """The status that a failure after all retries is recorded under: the server's, 0 where none of
    its answers came whole. None: nobody was there, so there is nothing to replay.
    """
    if isinstance(error, openai.APIStatusError):
        return error.status_code
    return None if isinstance(error.__cause__, _NOBODY) else 0


def _words(error: openai.APIStatusError, key_variable: str) -> str:
    """The server's own words, on one line and shortened."""
    body = error.body
    told = body.get("message") if isinstance(body, dict) else None
    return _shown(" ".join(str(told or error.message).split()), key_variable)


def _shown(text: str, key_variable: str) -> str:
    return without_secrets(text, key_variable)[:_SHOWN]  # shortened first, half a key would stay
