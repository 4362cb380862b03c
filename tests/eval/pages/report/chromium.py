"""A headless browser, where the machine has one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(_BROWSER is None, reason="chromium is not installed")
DARK = "--blink-settings=preferredColorScheme=0"


def _run(profile: Path, *arguments: str) -> str:
    assert _BROWSER is not None
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    ended = subprocess.run(
        [
            *(_BROWSER, "--headless", "--disable-gpu", "--hide-scrollbars", *as_root),
            *("--disable-dev-shm-usage", f"--user-data-dir={profile}", "--no-first-run"),
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return ended.stdout


def dump(address: str, profile: Path, width: int = 1280) -> str:
    """The document after its scripts have run, as HTML."""
    return _run(
        profile, f"--window-size={width},1200", "--virtual-time-budget=8000", "--dump-dom", address
    )


def shoot(address: str, profile: Path, path: Path, width: int, *more: str) -> Path:
    """A picture of the page's first 1600 pixels."""
    _run(profile, f"--window-size={width},1600", f"--screenshot={path}", *more, address)
    return path
