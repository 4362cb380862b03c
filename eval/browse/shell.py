"""The page in which questions are searched."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape

from eval.browse.questions import CHANGES, VERDICTS, Questions
from eval.browse.script import SCRIPT
from eval.rendering.page import document

_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
# The one script of ours may run and may ask this server; whatever else a page holds may not.
_PAGE_POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{_HASH}'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
)
POLICY = f"{_PAGE_POLICY}; frame-ancestors 'none'"
_STYLE = """
form{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,150px),1fr));gap:8px 12px;
align-items:end;margin:12px 0}
form .wide{grid-column:1/-1}label{display:block;font-size:.85rem;color:var(--soft)}
input,select,button{font:inherit;color:var(--ink);background:var(--raised);width:100%;
border:1px solid var(--edge);border-radius:6px;padding:7px 9px;min-height:40px}
select{text-overflow:ellipsis}button{cursor:pointer;width:auto;padding:7px 12px;white-space:nowrap}
button:disabled{opacity:.45;cursor:default}
.bar{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center;margin:8px 0}
#told{flex:1;min-width:7em;max-width:none;margin:0}header .toc{padding:0}
summary .id{white-space:nowrap}.card>summary{line-height:1.5}
.states{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:.84rem;color:var(--soft);margin-top:2px}
kbd{border:1px solid var(--edge);border-radius:4px;padding:0 5px;font:.9em ui-monospace,monospace}
"""


def shell(questions: Questions) -> str:
    """The page before any question is found; labels of runs are escaped."""
    labels = [run.label for run in questions.runs]
    dataset = str(questions.runs[0].manifest["dataset"])
    title = f"{', '.join(labels)} on {dataset}"
    several = _compared(labels, questions.key) if len(labels) > 1 else ""
    runs = [("", "any run"), *((str(i), label) for i, label in enumerate(labels))]
    whose = _select("run", "Verdict of", runs) if len(labels) > 1 else ""
    body = (
        f'<header><h1>{escape(title)}</h1><nav class="toc"><a href="/report">The report</a></nav>'
        "</header><main>"
        '<form id="search" role="search" autocomplete="off"><div class="wide"><label for="q">'
        "Words of the question, the gold answer, an answer, or an id</label>"
        '<input id="q" name="q" type="search" '
        f'autocomplete="off" maxlength="500"></div>{_select("type", "Type", _any(questions.types))}'
        f"{_select('verdict', 'Verdict', _any(VERDICTS))}{whose}{several}"
        '<div><button type="reset">All questions</button></div></form>'
        '<div class="bar"><p id="told" role="status" tabindex="-1">…</p>'
        '<button id="back" type="button" disabled>Previous</button>'
        '<button id="on" type="button" disabled>Next</button></div>'
        f'<div id="found" data-labels="{escape(json.dumps(labels))}"></div>'
        '<p class="soft">Keys: <kbd>/</kbd> search, <kbd>j</kbd> and <kbd>k</kbd> the next and '
        "the one before, <kbd>Enter</kbd> opens. Right: the judge's verdict, where none judged an "
        "F1 of 0.5 or more; on type 5, having abstained.</p></main>"
    )
    return document(title, body, _PAGE_POLICY, _STYLE, f"<script>{SCRIPT}</script>")


def _compared(labels: Sequence[str], key: str) -> str:
    runs = [(str(i), label) for i, label in enumerate(labels)]
    changes = [("", "all"), *((name, name) for name in CHANGES)]
    orders = [("", "as asked"), ("gains", "largest gains"), ("losses", "largest losses")]
    return (
        _select("order", "Order", orders)
        + _select("other", "Compare", runs, chosen="1")
        + _select("one", "against", runs, chosen="0")
        + _select("change", f"in {key}", changes)
    )


def _any(values: Iterable[str]) -> list[tuple[str, str]]:
    return [("", "all"), *((value, value) for value in values)]


def _select(name: str, label: str, options: Sequence[tuple[str, str]], chosen: str = "") -> str:
    inside = "".join(
        f'<option value="{escape(value)}"{" selected" if value == chosen else ""}>'
        f"{escape(text)}</option>"
        for value, text in options
    )
    return (
        f'<div><label for="{name}">{escape(label)}</label>'
        f'<select id="{name}" name="{name}">{inside}</select></div>'
    )
