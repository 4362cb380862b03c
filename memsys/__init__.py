"""Memory for conversational agents: ingestion, indexes, graphs, retrieval, and a memory service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsys.service.async_memory import AsyncMemory
    from memsys.service.memory import Memory

    __version__: str

__all__ = ["AsyncMemory", "Memory", "__version__"]


def __getattr__(name: str) -> Any:
    """Return `Memory`, `AsyncMemory` (docs/memory-api.md) or `__version__`, loaded on first use."""
    if name == "Memory":
        from memsys.service.memory import Memory  # noqa: PLC0415 - a benchmark does not need it

        return Memory
    if name == "AsyncMemory":
        from memsys.service.async_memory import AsyncMemory  # noqa: PLC0415

        return AsyncMemory
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

        try:
            return version("memsys")
        except PackageNotFoundError:  # a source tree that is not installed
            return "0+unknown"
    raise AttributeError(f"module 'memsys' has no attribute {name!r}")
