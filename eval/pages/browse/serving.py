"""Serve pages about runs until Ctrl-C, or write them to a folder."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from eval.pages.browse.bundle import check_folder, write_bundle
from eval.pages.browse.calls import RecordedCalls
from eval.pages.browse.questions import Questions
from eval.pages.browse.routes import AllRuns, OneSite, Routes
from eval.pages.browse.server import LOOPBACK, bind
from eval.pages.browse.site import INDEX, Site
from eval.pages.report.runs import load, missing_texts
from memsys.core.errors import InputError

_MB = 1_000_000


def read_site(
    folders: Sequence[Path], cache: Path | None, *, note: str = "", listing: str = ""
) -> Site:
    """Return the site of some run folders; `cache`: where answers of models are recorded.

    Prints why memories of a run have no texts. Raises InputError as load does.
    """
    runs = load([str(folder) for folder in folders])
    for sentence in missing_texts(runs):
        print(f"note: {sentence}", flush=True)
    calls = None if cache is None else RecordedCalls(cache)
    return Site(Questions(runs, calls), note=note, listing=listing)


def serve_runs(
    folders: Sequence[Path], cache: Path | None, port: int, *, open_it: bool, note: str = ""
) -> None:
    """Serve the pages of some runs until Ctrl-C. The address is printed before they are read.

    Raises InputError if the port is not available or a run cannot be read.
    """
    routes = OneSite(lambda: read_site(folders, cache, note=note))
    _serve(routes, port, open_it=open_it, reading=routes.reading)


def serve_all(folder: Path, cache: Path, port: int, *, open_it: bool) -> None:
    """Serve the list of all runs in `folder`, and their pages, until Ctrl-C."""
    routes = AllRuns(folder, lambda folders: read_site(folders, cache, listing="/"))
    _serve(routes, port, open_it=open_it)


def write_runs(folders: Sequence[Path], cache: Path | None, out: Path, *, note: str = "") -> None:
    """Write the pages of some runs to the folder `out`, and print their number and size.

    Raises InputError if `out` is something else already, or a run cannot be read.
    """
    check_folder(out)
    print(f"reading {len(folders)} run{'s' * (len(folders) > 1)} ...", flush=True)
    site = read_site(folders, cache, note=note)
    sizes = write_bundle(site, out)
    total, index = sum(sizes.values()) / _MB, sizes[INDEX] / _MB
    print(
        f"{len(sizes)} pages, {total:,.1f} MB ({index:,.1f} MB of it {INDEX} with all questions), "
        f"written to {out}\nopen {(out / INDEX).resolve().as_uri()}"
    )


def add_options(command: argparse.ArgumentParser, *, open_it: bool = False) -> None:
    """Add the options of pages that are served or written; `open_it`: whether the browser is opened
    by default.
    """
    command.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the pages there instead of serving them"
    )
    command.add_argument(
        "--port", type=int, default=8750, metavar="N", help="0: any free port (default: 8750)"
    )
    command.add_argument(
        "--open",
        action=argparse.BooleanOptionalAction,
        default=open_it,
        help="open the page in the browser" + " (default: where there is a display)" * open_it,
    )


def check_port(port: int) -> None:
    """Raise InputError unless `port` is the number of a port."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: use 0 to 65535")


def has_display() -> bool:
    """Whether a browser window can be expected: a terminal on a machine with a display."""
    graphical = sys.platform in {"darwin", "win32"} or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return graphical and sys.stdout.isatty()


def _serve(
    routes: Routes, port: int, *, open_it: bool, reading: Future[Site] | None = None
) -> None:
    with bind(routes, port) as server:
        address = f"http://{LOOPBACK}:{server.server_address[1]}/"
        print(f"{address} (Ctrl-C stops it)", flush=True)
        if open_it:
            webbrowser.open(address)

        def stop_if_unread() -> None:
            if reading is not None and reading.exception() is not None:
                server.shutdown()

        threading.Thread(target=stop_if_unread, daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()  # after the ^C of the terminal
            return
    if reading is not None:
        reading.result()
