"""Pages as they are: parsed, or drawn by a headless browser, where the machine has one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(_BROWSER is None, reason="chromium is not installed")
_VOID = {"meta", "link", "br", "wbr", "circle", "rect", "polygon", "line", "path", "input"}
_FRAME = """<!doctype html><title></title><script>onmessage = (event) => {
document.title = event.data; }</script><iframe src="%s" width="%d" height="1200"
style="border:0"></iframe>"""


class Parsed(HTMLParser):
    """Tags with their attributes, and text of a page; `open`: tags that are not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words, self.open = "", list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.found]

    @property
    def attributes(self) -> list[tuple[str, str | None]]:
        return [pair for _, attributes in self.found for pair in attributes.items()]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


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


def measured(page: Path, script: str, width: int) -> list[str]:
    """The words that `script` posts from a copy of the page in a frame of that width: a window
    cannot be narrower than 500 pixels, but a frame can.
    """
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text("utf-8"))
    copy, frame = page.with_name("copy.html"), page.with_name("frame.html")
    copy.write_text(html.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    frame.write_text(_FRAME % (copy.as_uri(), width), encoding="utf-8")
    found = re.search(r"<title>(.*)</title>", dump(frame.as_uri(), page.with_name("profile")))
    assert found is not None
    return found[1].split()


def ground(page: Path, path: Path, *, dark: bool) -> tuple[bool, bool, int]:
    """Whether the ground of a picture of the page's first 1600 pixels on a phone, written to
    `path`, is light, whether it is dark, and how many colours the picture has.
    """
    from PIL import Image  # noqa: PLC0415 - comes with matplotlib

    scheme = ["--blink-settings=preferredColorScheme=0"] * dark
    size = ("--window-size=390,1600", f"--screenshot={path}")
    _run(path.with_name("profile"), *size, *scheme, page.as_uri())
    with Image.open(path) as picture:
        assert picture.size == (390, 1600)
        pixels = picture.convert("RGB")
    first, colours = pixels.getpixel((2, 2)), pixels.getcolors(1 << 24)
    assert isinstance(first, tuple)
    return sum(first) > 700, sum(first) < 100, len(colours or ())
