"""The JSON of an error, for parts that do without FastAPI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_TYPES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "no_model",
    413: "too_large",
    422: "invalid_input",
    502: "model_failed",
    503: "busy",
}


def body_of(status: int, message: str, details: Sequence[dict[str, str]] = ()) -> dict[str, Any]:
    """Return the JSON of an error."""
    kind = _TYPES.get(status, "error")
    return {"error": {"status": status, "type": kind, "message": message, "details": list(details)}}
