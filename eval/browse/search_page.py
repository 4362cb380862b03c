"""The page on which questions are searched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from markupsafe import Markup

from eval.browse.questions import CHANGES, VERDICTS, Questions
from eval.rendering.page import policy, render, static

Filter = tuple[str, str, list[tuple[str, str]], str]
_PACKAGE = "eval.browse"
_SCRIPT = static(_PACKAGE, "browse.js")
# Its script may only send requests to this server.
_PAGE_POLICY = policy(_SCRIPT, connect=True)
POLICY = f"{_PAGE_POLICY}; frame-ancestors 'none'"


def search_page(questions: Questions) -> str:
    """Return the page; its script asks the server for questions and cards."""
    labels = [run.label for run in questions.runs]
    return render(
        "search.html.j2",
        static(_PACKAGE, "browse.css"),
        _PACKAGE,
        title=f"{', '.join(labels)} on {questions.runs[0].manifest['dataset']}",
        policy=_PAGE_POLICY,
        script=Markup(_SCRIPT),  # noqa: S704 - the static file
        labels=json.dumps(labels),
        filters=list(_filters(questions, labels)),
    )


def _filters(questions: Questions, labels: list[str]) -> Iterator[Filter]:
    """Name, label, options (value, text) and chosen value of each select element."""
    yield "type", "Type", _any(questions.types), ""
    yield "verdict", "Verdict", _any(VERDICTS), ""
    if len(labels) > 1:
        runs = [(str(i), label) for i, label in enumerate(labels)]
        orders = [("gains", "largest gains"), ("losses", "largest losses")]
        yield "run", "Verdict of", [("", "any run"), *runs], ""
        yield "order", "Order", [("", "order of the run"), *orders], ""
        yield "other", "Compare", runs, "1"
        yield "one", "against", runs, "0"
        yield "change", f"in {questions.key}", _any(CHANGES), ""


def _any(values: Iterable[str]) -> list[tuple[str, str]]:
    return [("", "all"), *((value, value) for value in values)]
