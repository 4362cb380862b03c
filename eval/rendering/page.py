"""A report as one HTML page that needs nothing else: no network, no script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from eval.rendering.axes import SERIES, mark
from eval.rendering.blocks import Block, Chart, Deck, Fold, Part, Verbatim
from eval.rendering.section import Table
from eval.rendering.style import STYLE
from eval.report.card_page import card_page

# The page may hold words of anybody: what escaped escaping could still load and run nothing.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_INTERVAL = re.compile(r" (\[[-+\d.,%\s]+\])")
_WORDY = re.compile(r"[^\d+-].{24}")  # what may be broken into lines: long, and no figure


def page(title: str, blocks: Sequence[Block]) -> str:
    """The whole page; every word of `title` and `blocks` is escaped."""
    links = "".join(f'<a href="#{b.anchor}">{escape(b.title)}</a>' for b in blocks)
    body = "".join(
        f'<section id="{block.anchor}" aria-labelledby="h-{block.anchor}">'
        f'<h2 id="h-{block.anchor}">{escape(block.title)}</h2>{"".join(_parts(block.parts))}'
        "</section>"
        for block in blocks
    )
    return document(
        title,
        f"<header><h1>{escape(title)}</h1></header>"
        f'<nav class="toc" aria-label="Sections">{links}</nav>'
        f"<main>{body}</main>",
        _POLICY,
    )


def document(title: str, body: str, policy: str, style: str = "", script: str = "") -> str:
    """A page around `body`, which is HTML, as are `style` and `script`; `title` is escaped.

    `policy`: the content security policy, for pages that are opened as files.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>\n"
        f"<body>{body}{script}</body></html>\n"
    )


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    """Charts that stand side by side share a row."""
    row: list[str] = []
    for part in parts:
        if isinstance(part, Chart):
            row.append(_chart(part))
            continue
        if row:
            yield _row(row)
            row = []
        yield _part(part)
    if row:
        yield _row(row)


def _row(charts: Sequence[str]) -> str:
    return f'<div class="charts">{"".join(charts)}</div>'


def _part(part: Part) -> str:
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"
    if isinstance(part, Table):
        return table(part)
    if isinstance(part, Deck):
        cards = "".join(
            f'<details class="card"><summary>{_summary(number, one.question, one.type)}</summary>'
            f"{card_page(one)}</details>"
            for number, one in enumerate(part.cards, 1)
        )
        return f"<h3>{escape(part.title)}</h3>{cards}"
    if isinstance(part, Verbatim):
        return _fold(part.title, f'<pre tabindex="0">{escape(part.text)}</pre>')
    if isinstance(part, Fold):
        return _fold(part.title, "".join(_parts(part.parts)))
    return _row([_chart(part)])


def _fold(title: str, inside: str) -> str:
    return f'<details class="fold"><summary>{escape(title)}</summary>{inside}</details>'


def _summary(number: int, question: str, type_: str) -> str:
    asked, type_ = escape(question), escape(type_)
    return f'{number}. <span class="q">{asked}</span> <span class="id">{type_}</span>'


def _chart(chart: Chart) -> str:
    legend = "".join(
        f'<li><svg viewBox="0 0 14 14" aria-hidden="true">{_sample(chart, i)}</svg>'
        f"{escape(name)}</li>"
        for i, name in enumerate(chart.legend)
        if name is not None
    )
    listed = f'<ul class="legend">{legend}</ul>' if legend else ""
    return (
        f"<figure><figcaption>{escape(chart.title)}</figcaption>{chart.svg}{listed}"
        f"<details><summary>The same as a table</summary>{table(chart.alternative)}</details>"
        "</figure>"
    )


def _sample(chart: Chart, index: int) -> str:
    if chart.bars:
        return f'<rect class="p{index}" x="1" y="1" width="12" height="12"/>'
    return mark(7, 7, index % SERIES, "")


def table(found: Table) -> str:
    """A table that scrolls sideways where it is too wide, by keyboard as well."""
    wordy = {i for row in found.rows for i, cell in enumerate(row) if _WORDY.match(cell)}
    head = "".join(
        f'<th scope="col"{" class=words" if i in wordy else ""}>{escape(name)}</th>'
        for i, name in enumerate(found.header)
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(_cell(cell, words=i in wordy) for i, cell in enumerate(row[1:], 1))
        + "</tr>"
        for row in found.rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(found.header[0])}, '
        f'table"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _cell(text: str, *, words: bool) -> str:
    kind = " class=words" if words else ""
    shown = _INTERVAL.sub(r' <span class="ci">\1</span>', escape(text))
    return f"<td{kind}>{shown}</td>"
