"""What went wrong with a server, in plain words, and whose fault it is."""

from __future__ import annotations

import re

import openai

from memsys.errors import InputError
from memsys.llm.base import LLMError

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
_NO_CREDIT = "insufficient_quota"


def explain(
    error: openai.OpenAIError, model: str, key_variable: str, timeout_s: float, attempts: int
) -> LLMError | InputError:
    """`error`, as an InputError where the configuration or the account is to blame.

    The caller has to take the key out of the message: a server may repeat it.
    """
    tries = f"{attempts} attempt{'s' if attempts != 1 else ''}"
    if isinstance(error, openai.APITimeoutError):
        return LLMError(f"{model}: no whole answer within {timeout_s:g} s ({tries})")
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__
        told = f"{type(cause).__name__}: {cause}" if cause else str(error)
        return LLMError(f"{model}: the connection failed ({told[:_SHOWN]}; {tries})")
    if not isinstance(error, openai.APIStatusError):
        return LLMError(f"{model}: {type(error).__name__}: {str(error)[:_SHOWN]}")
    status, told = error.status_code, _words(error)
    if status in _REMEDIES:
        remedy = _REMEDIES[status].format(variable=key_variable)
        return InputError(f"{model}: HTTP {status}: {remedy} ({told})")
    if _NO_CREDIT in (error.code, error.type):
        return InputError(f"{model}: the account has no credit left ({told}); resume when it has")
    if error.code == "context_length_exceeded" or (status in (400, 413) and _TOO_LONG.search(told)):
        return LLMError(f"{model}: the request is longer than the model's context ({told})")
    return LLMError(f"{model}: HTTP {status} ({told}; {tries})")


def _words(error: openai.APIStatusError) -> str:
    """The server's own words, on one line and shortened."""
    body = error.body
    told = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(told or error.message).split())[:_SHOWN]
