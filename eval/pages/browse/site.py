"""The pages of some runs, each by its name: the same on a server and in a folder."""

import base64
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from markupsafe import Markup

from eval.pages.browse.conversations import VERDICTS, Conversations, Questions
from eval.pages.report.__main__ import build_report
from eval.rendering.page import policy, render, static

PACKAGE = "eval.pages.browse"
INDEX, REPORT, DATA = "index.html", "report.html", "data.html"
STYLE = static(PACKAGE, "browse.css")
PAGE = 50  # questions that the list shows at once
CHANGES = ("better", "worse", "differs", "same")
_SCRIPT = static(PACKAGE, "browse.js")
_PACKED = 50  # cards that are compressed together: their contexts repeat the same turns
Filter = tuple[str, str, list[tuple[str, str]], str]


class Site:
    """The pages of some runs. Links between them are relative."""

    def __init__(self, questions: Questions, *, note: str = "", listing: str = "") -> None:
        """`note`: a sentence above the questions. `listing`: address of the list of all runs, if
        there is one.
        """
        self.questions, self._note, self._listing = questions, note, listing
        self._labels = [run.label for run in questions.runs]
        self._title = f"{', '.join(self._labels)} on {questions.runs[0].manifest['dataset']}"

    @cached_property
    def conversations(self) -> Conversations:
        """The data behind the runs."""
        return Conversations(self.questions)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all pages."""
        return (INDEX, REPORT, DATA, *self.conversations.pages)

    def page(self, name: str) -> str | None:
        """Return the page called `name`, which may ask a server for cards; None if there is none.
        The report takes seconds.
        """
        if name == REPORT:
            return build_report(self.questions.runs).html()
        if name == INDEX:
            return self._index(())
        if name == DATA:
            return self._data()
        return self._conversation(name) if name in self.conversations.pages else None

    def card(self, id_: str) -> str | None:
        """Return the card of a question as HTML; None if no run asked it."""
        card = self.questions.card(id_)
        return None if card is None else render("card.html.j2", card=card)

    def whole_index(self, done: Callable[[int], object]) -> str:
        """Return the page of questions with all cards inside, compressed; `done` is given the
        number of further cards made.
        """
        return self._index(list(self._packed(done)))

    def policy(self, name: str) -> str:
        """Return the content security policy of a page on a server."""
        return policy(_SCRIPT, connect=True) if name == INDEX else policy()

    def _packed(self, done: Callable[[int], object]) -> Iterator[str]:
        """Yield the cards of every _PACKED questions: base64 of gzip of JSON, HTML by id."""
        ids = self.questions.ids
        for start in range(0, len(ids), _PACKED):
            part = ids[start : start + _PACKED]
            text = json.dumps({id_: self.card(id_) for id_ in part}, ensure_ascii=False)
            packed = gzip.compress(text.encode("utf-8", errors="replace"), mtime=0)
            done(len(part))
            yield base64.b64encode(packed).decode()

    def _index(self, packed: Sequence[str]) -> str:
        places = self.conversations.places
        return self._render(
            "questions.html.j2",
            INDEX,
            policy=policy(_SCRIPT, connect=not packed),
            script=Markup(_SCRIPT),  # noqa: S704 - the static file
            labels=self._labels,
            rows=[{**row, "place": places[row["id"]]} for row in self.questions.rows()],
            packed=packed,
            cards_in_part=_PACKED,
            page=PAGE,
            filters=list(self._filters()),
            key=self.questions.key,
        )

    def _data(self) -> str:
        conversations = self.conversations
        rows = list(conversations.pages.values())
        return self._render(
            "data.html.j2",
            DATA,
            rows=rows,
            counted=conversations.counted,
            count=len(self.questions.ids),
            types=[name for name in self.questions.types if any(row.types[name] for row in rows)],
            labels=self._labels,
            key=self.questions.key,
            files=self.questions.runs[0].manifest["data"],
            missing=conversations.missing,
            others=conversations.others,
        )

    def _conversation(self, name: str) -> str:
        names = list(self.conversations.pages)
        number, page = names.index(name), self.conversations.pages[name]
        asked = page.questions()
        count, scores = page.scores
        sessions = page.sessions(asked)
        return self._render(
            "conversation.html.j2",
            "",
            title=page.name,
            before=names[number - 1] if number else "",
            after="".join(names[number + 1 : number + 2]),
            n=count,
            scores=list(zip(self._labels, scores, strict=True)),
            asked=asked,
            sessions=sessions,
            tokens=sum(turn.tokens for session in sessions for turn in session.turns),
            turns=sum(len(session.turns) for session in sessions),
            shortened=page.shortened,
            missing=self.conversations.missing or "the data set has no conversation of this name",
            key=self.questions.key,
        )

    def _render(self, template: str, here: str, **values: object) -> str:
        shown = {
            **{"title": self._title, "policy": policy(), "note": self._note},
            **{"here": here, "listing": self._listing},
        }
        return render(template, STYLE, PACKAGE, **{**shown, **values})

    def _filters(self) -> Iterator[Filter]:
        """Name, label, options (value, text) and chosen value of each select element."""
        yield "type", "Type", _any(self.questions.types), ""
        yield "verdict", "Verdict", _any(VERDICTS), ""
        if len(self._labels) > 1:
            runs = [(str(i), label) for i, label in enumerate(self._labels)]
            orders = [("gains", "largest gains"), ("losses", "largest losses")]
            yield "run", "Verdict of", [("", "any run"), *runs], ""
            yield "order", "Order", [("", "order of the run"), *orders], ""
            yield "other", "Compare", runs, "1"
            yield "one", "against", runs, "0"
            yield "change", f"in {self.questions.key}", _any(CHANGES), ""


def _any(values: Sequence[str]) -> list[tuple[str, str]]:
    return [("", "all"), *((value, value) for value in values)]
