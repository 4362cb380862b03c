"""Hooks of mkdocs: pages from other folders or from the source, and links that leave docs.

On GitHub a page links to `../data/README.md`; on the site that file is the page `data.md`, and a
file that is no page is a link into the repository (`repo_url`), or plain text where there is none.
"""

import posixpath
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CARDS = (
    "results/leaderboard/cards"  # memsys site makes the folder leaderboard of the site from them
)
_LINK = re.compile(r"(```.*?```|`[^`\n]*`)|(?<!!)\[([^\[\]]*)\]\(([^)\s]+)\)", re.DOTALL)
_COMMENT = re.compile(r"^(<!--.*-->)$", re.MULTILINE)  # needs blank lines around it


def pages() -> dict[str, str]:
    """Return file of the project -> page of the site, for the pages that are not in docs."""
    tables = (path.relative_to(ROOT).as_posix() for path in ROOT.glob("results/*/*.md"))
    named = {"data/README.md": "data.md", "CONTRIBUTING.md": "contributing.md"}
    return named | {table: table for table in sorted(tables)}


def generated() -> Mapping[str, str]:
    """Return page of the site -> its text, for the pages that no file has."""
    if str(ROOT) not in sys.path:  # mkdocs starts in its own folder of programs
        sys.path.append(str(ROOT))
    from docs import python_api, reference  # noqa: PLC0415
    from eval.records import schema  # noqa: PLC0415

    return {
        "options.md": reference.page(),
        "python-api.md": python_api.page(),
        "fields.md": schema.page(),
    }


def rewritten(text: str, source: str, repository: str | None) -> str:
    """Return the markdown `text` of the file `source` with its links as the site needs them."""
    others = pages()
    here = posixpath.dirname(others.get(source) or source.removeprefix("docs/"))

    def link(match: re.Match[str]) -> str:
        code, label, target = match.groups()
        name, _, anchor = (target or "").partition("#")
        if code or not name or ":" in name:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
        if path == CARDS:  # no page of mkdocs, which would not find it
            table = posixpath.relpath("leaderboard/index.html", here or ".")
            return f'<a href="{table}">{label}</a>'
        if path in others or path.startswith("docs/"):
            page = others.get(path) or path.removeprefix("docs/")
            return f"[{label}]({posixpath.relpath(page, here or '.')}{'#' * bool(anchor)}{anchor})"
        return f"[{label}]({repository}/blob/main/{path})" if repository else label

    return _COMMENT.sub(r"\n\1\n", _LINK.sub(link, text))


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not files of docs."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - tests import this without mkdocs

    for source, page in pages().items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for page, text in generated().items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Rewrite the links of a page, and set its comments apart."""
    sources = {page: source for source, page in pages().items()}
    uri = page.file.src_uri
    return rewritten(markdown, sources.get(uri, f"docs/{uri}"), config.repo_url)
