"""How this process was started and installed, for the commands that messages name."""

from __future__ import annotations

import re
import sys
from pathlib import Path

SCRIPT = "memsys"
_SHIPPED = Path(__file__).resolve().parents[1] / "shipped"  # only in a wheel
_MODULE = re.compile(r"python -m eval[. ](?=[a-z_])")
_EXTRA = re.compile(r"pip install (?:-e '\.\[(\w+)\]'|'memsys\[(\w+)\]')( -c requirements\.lock)?")


def as_started(text: str) -> str:
    """Return `text` with the commands as the user enters them: `memsys cost` for `python -m
    eval cost` where the console script was started, and extras as this package was installed:
    `pip install 'memsys[mcp]'` from a wheel, `pip install -e '.[mcp]'` in a clone.
    """
    if any(Path(word).stem == SCRIPT for word in sys.orig_argv[:2]):  # the console script
        text = _MODULE.sub(f"{SCRIPT} ", text)
    return _EXTRA.sub(_installed, text)


def _installed(found: re.Match[str]) -> str:
    extra, pins = found[1] or found[2], found[3] or ""
    return (
        f"pip install 'memsys[{extra}]'"
        if _SHIPPED.is_dir()
        else f"pip install -e '.[{extra}]'{pins}"
    )
