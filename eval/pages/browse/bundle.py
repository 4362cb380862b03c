"""A folder with the pages of some runs, which a browser opens without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eval.cli import progress
from eval.pages.browse.conversations import page_name
from eval.pages.browse.site import INDEX, Site
from eval.records.files import replacing, writing
from memsys.core.errors import InputError
from memsys.core.files import read_bytes, shown

_MARK = '<script type="application/json" id="rows">'  # of a page of questions


def check_folder(out: Path) -> None:
    """Raise InputError unless `out` can be the folder of a bundle: new, empty, or of an earlier
    one.
    """
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    index = out / INDEX
    if not index.is_file() or _MARK.encode() not in read_bytes(index, linked=False):
        raise InputError(f"--out {shown(out)}: is something else already; name a new folder")


def write_bundle(site: Site, out: Path) -> dict[str, int]:
    """Write all pages of `site` to the folder `out`, see check_folder, and return their sizes in
    bytes by name. Raises InputError if the folder cannot be written.
    """
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        sizes = {}
        for name, page in _pages(site):
            data = page.encode("utf-8", errors="replace")
            with replacing(out / name) as file:
                file.write(data)
            sizes[name] = len(data)
        number = len(site.conversations.names)  # an earlier bundle may have had more of them
        while (old := out / page_name(number)).exists():
            old.unlink()
            number += 1
    return sizes


def _pages(site: Site) -> Iterator[tuple[str, str]]:
    with progress(len(site.questions.ids), "question") as bar:
        yield INDEX, site.whole_index(bar.update)
    for name in site.names:
        page = None if name == INDEX else site.page(name)
        if page is not None:
            yield name, page
