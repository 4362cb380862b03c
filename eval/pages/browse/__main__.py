"""`python -m eval browse [RUN ...]`: runs in a browser: questions, conversations and the report."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from eval.cli import add_runs, code_of, progress
from eval.cli import parser as command_parser
from eval.pages.browse.conversations import page_name
from eval.pages.browse.questions import Questions, RecordedCalls
from eval.pages.browse.server import Answer, PageServer, RunList, answer_site
from eval.pages.browse.site import INDEX, Site
from eval.pages.report.runs import load, missing_texts
from eval.records.files import replacing, writing
from memsys.core.errors import InputError
from memsys.core.files import read_bytes, shown
from memsys.core.places import RUNS, cache_folder, find_run

_MB = 1_000_000
_MARK = '<script type="application/json" id="rows">'  # of a page of questions


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C, or write a folder. Returns the exit code: 0, or 2 for invalid input."""
    parser = command_parser(
        "browse",
        description="Show runs in a browser on this machine: all questions with their answers and "
        "contexts, filtered by words, type, verdict and difference; the conversations with their "
        f"turns and scores; and the report. Without RUN: a list of all runs in {RUNS}.",
    )
    add_runs(parser, compared=True, optional=True)
    add_options(parser)
    parser.add_argument(
        "--cache",
        type=Path,
        default=cache_folder(),
        metavar="FOLDER",
        help="folder of recorded answers, whose prompts and replies the cards show (default: the "
        f"variable MEMSYS_CACHE, else {cache_folder()})",
    )
    options = parser.parse_args(arguments)
    return code_of(lambda: _browse(options))


def _browse(options: argparse.Namespace) -> None:
    check_port(options.port)
    folders = [find_run(name) for name in options.runs]
    if folders:
        show(options, folders, options.cache)
    elif options.out is not None:
        raise InputError("--out: name the runs to write")
    else:
        read = partial(read_site, cache=options.cache, listing="/")
        _serve(options, lambda: RunList(RUNS, read).answer)


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


def has_display() -> bool:
    """Whether a browser window can be expected: a terminal on a machine with a display."""
    graphical = sys.platform in {"darwin", "win32"} or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return graphical and sys.stdout.isatty()


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


def show(
    options: argparse.Namespace, folders: Sequence[Path], cache: Path | None, note: str = ""
) -> None:
    """Serve the pages of some runs, or write them, as the `options` of add_options say."""
    if options.out is None:
        _serve(options, lambda: answer_site(read_site(folders, cache, note=note)))
        return
    out: Path = options.out
    _check_folder(out)
    print(f"reading {len(folders)} run{'s' * (len(folders) > 1)} ...", flush=True)
    sizes = _write(read_site(folders, cache, note=note), out)
    total, index = sum(sizes.values()) / _MB, sizes[INDEX] / _MB
    print(
        f"{len(sizes)} pages, {total:,.1f} MB ({index:,.1f} MB of it {INDEX} with all questions), "
        f"written to {out}\nopen {(out / INDEX).resolve().as_uri()}"
    )


def check_port(port: int) -> None:
    """Raise InputError unless `port` is the number of a port."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: use 0 to 65535")


def _serve(options: argparse.Namespace, read: Callable[[], Answer]) -> None:
    """Print the address, then read the runs and serve them until Ctrl-C; a browser waits meanwhile.

    Raises InputError if the port is not available or a run cannot be read.
    """
    with PageServer(options.port) as server:
        print(f"{server.address} (Ctrl-C stops it)", flush=True)
        if options.open:
            webbrowser.open(server.address)
        try:
            server.answer = read()
            server.serve_forever()
        except KeyboardInterrupt:
            print()  # after the ^C of the terminal


def _check_folder(out: Path) -> None:
    """Raise InputError unless `out` can be the folder of pages: new, empty, or of earlier ones."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    index = out / INDEX
    if not index.is_file() or _MARK.encode() not in read_bytes(index, linked=False):
        raise InputError(f"--out {shown(out)}: is something else already; name a new folder")


def _write(site: Site, out: Path) -> dict[str, int]:
    """Write all pages of `site`, and return their sizes in bytes by name."""
    sizes = {}
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name in site.names:
            if name == INDEX:
                with progress(len(site.questions.ids), "question") as bar:
                    page = site.whole_index(bar.update)
            else:
                page = site.page(name) or ""
            data = page.encode("utf-8", errors="replace")
            with replacing(out / name) as file:
                file.write(data)
            sizes[name] = len(data)
        number = len(site.conversations.pages)  # there may have been more of them earlier
        while (old := out / page_name(number)).exists():
            old.unlink()
            number += 1
    return sizes


if __name__ == "__main__":
    sys.exit(main())
