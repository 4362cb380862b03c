"""Reports and other pages as HTML from templates, self-contained and without network access, and
reports as markdown, where a chart becomes its table of values; all text is escaped.
"""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files
from itertools import groupby

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from eval.rendering.blocks import Chart, Table
from eval.rendering.palette import css
from eval.rendering.svg import mark

_PACKAGE = "eval.rendering"
_SPACED = re.compile(r" (\[[-+\d.,%\s]+\])")
_WORDY = re.compile(r"[^\d+-].{24}")  # cells that may wrap: long, and no number
# Every markdown renderer in use takes an underscore within a word for a letter, and none takes the
# brackets of an interval for a link: both stay unescaped.
_INTERVAL = r"\[[-+\d.,%\s]+\](?![(\[:])"
_SPECIAL = re.compile(rf"({_INTERVAL})|[\\`*{{}}\[\]<>#|~&$]|(?<![^\W_])_|_(?![^\W_])")
_START = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def page_markdown(template: str, package: str = _PACKAGE, **values: object) -> str:
    """Return the Markdown of a template of `package`, NAME.md.j2, in which nothing is escaped but
    what it gives to the filters `plain` and `table`.
    """
    return _environment(package).get_template(template).render(**values).rstrip() + "\n"


def render(template: str, style: str = "", package: str = _PACKAGE, **values: object) -> str:
    """Return the page of a template of `package`; `style` is CSS added to that of all pages."""
    all_styles = Markup(static(_PACKAGE, "page.css") + css() + style)  # noqa: S704 - ours
    return _environment(package).get_template(template).render(style=all_styles, **values)


def policy(script: str = "", *, connect: bool = False, submit: bool = False) -> str:
    """Return the content security policy of a page. Pages show text from anywhere: should some of
    it escape escaping, it can load nothing, and only `script` runs, which may `connect` to its
    own server. `submit`: its forms may be sent there.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " * bool(script)
    allowed += "connect-src 'self'; " * connect
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; {allowed}img-src data:; "
        "base-uri 'none'; form-action " + ("'self'" if submit else "'none'")
    )


def static(package: str, name: str) -> str:
    """Return the text of a package's static file."""
    return files(package).joinpath("static", name).read_text(encoding="utf-8")


@cache
def _environment(package: str) -> Environment:
    """Return the templates of `package`, which may extend those of eval.rendering."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (package, _PACKAGE)]),
        autoescape=select_autoescape(["html.j2"], default=True, disabled_extensions=["md.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "fenced": _fenced,
        "grouped": lambda parts: groupby(parts, lambda part: isinstance(part, Chart)),
        "joined": lambda text: " ".join(text.split()),
        "mark_intervals": _mark_intervals,
        "plain": plain,
        "sample_mark": lambda look: mark(7, 7, look, ""),
        "table": _table,
        "wordy": _wordy,
    }
    return environment


def _mark_intervals(text: str) -> Markup:
    """Return escaped `text` with its intervals in spans of class `ci`."""
    marked = _SPACED.sub(r' <span class="ci">\1</span>', str(escape(text)))
    return Markup(marked)  # noqa: S704 - escaped above


def _wordy(table: Table) -> set[int]:
    """Return indices of columns with a cell long enough to be wrapped."""
    return {i for row in table.rows for i, cell in enumerate(row) if _WORDY.match(cell)}


def plain(text: str) -> str:
    """Return `text` on one line, escaped so that markdown shows it unchanged."""
    return _START.sub(lambda match: f"{match[1]}{match[2][:-1]}\\{match[2][-1]}", _cell(text))


def _table(table: Table) -> str:
    return Table([*map(plain, table.header)], [[*map(_cell, row)] for row in table.rows]).markdown()


def _cell(text: str) -> str:
    """Escape `text` on one line, but not a list marker at its start, which a table cell ignores."""
    return _SPECIAL.sub(lambda match: match[1] or "\\" + match[0], " ".join(text.split()))


def _fenced(text: str) -> str:
    longest = max((len(ticks) for ticks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
