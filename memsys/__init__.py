"""The memory system: what is remembered, indexed, linked and retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsys.service.memory import Memory

__all__ = ["Memory"]


def __getattr__(name: str) -> Any:
    """`memsys.Memory`, the operations of docs/memory-api.md, loaded when first asked for."""
    if name == "Memory":
        from memsys.service.memory import Memory  # noqa: PLC0415 - a benchmark has no use for it

        return Memory
    raise AttributeError(f"module 'memsys' has no attribute {name!r}")
