"""What a server answers: the pages of some runs, or a list of all runs and the pages of any."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import quote, unquote

from markupsafe import Markup

from eval.pages.browse.listing import COMPLETE, SCORES, all_runs
from eval.pages.browse.site import INDEX, PACKAGE, STYLE, Site
from eval.rendering.numbers import ABSENT
from eval.rendering.page import policy, render, static
from memsys.core.errors import InputError
from memsys.core.places import MANIFEST

Fields = Sequence[tuple[str, str]]
HTML, JSON = "text/html; charset=utf-8", "application/json; charset=utf-8"
_PATIENCE = 2.0  # seconds until a page says that it takes longer
_OPEN = 3  # selections of runs that stay in memory
_SCRIPT = static(PACKAGE, "runs.js")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a request. `refresh`: ask again in a second. `location`: of a redirection."""

    status: HTTPStatus
    kind: str
    body: str
    policy: str = policy()
    refresh: bool = False
    location: str = ""


class Routes(Protocol):
    """Answers requests."""

    def answer(self, path: str, fields: Fields) -> Reply:
        """Return the answer for a path and the fields of its query. Raises InputError."""


class OneSite:
    """Answers with the pages of one site, which is read in a thread of its own."""

    def __init__(self, read: Callable[[], Site]) -> None:
        """`read` raises InputError if the runs cannot be read."""
        self.reading = _in_thread(read)
        self._pages: dict[str, Future[str | None]] = {}
        self._lock = threading.Lock()

    def answer(self, path: str, fields: Fields) -> Reply:
        """See Routes."""
        try:
            site = self.reading.result(_PATIENCE)
        except TimeoutError:
            return _wait("Reading the runs")
        if path == "/card":
            card = site.card(dict(fields).get("id", ""))
            return _missing() if card is None else Reply(HTTPStatus.OK, HTML, card)
        name = path.removeprefix("/") or INDEX
        with self._lock:  # two requests do not make a page twice at a time
            if name not in self._pages or self._pages[name].done():
                self._pages[name] = _in_thread(lambda: site.page(name))
            making = self._pages[name]
        try:
            page = making.result(_PATIENCE)
        except TimeoutError:
            return _wait("Making this page")
        if page is None:
            return _missing()
        return Reply(HTTPStatus.OK, HTML, page, site.policy(name))


class AllRuns:
    """Answers with a list of the runs in a folder, and with the pages of those chosen from it, at
    the address `/NAME,NAME/`.
    """

    def __init__(self, folder: Path, read: Callable[[Sequence[Path]], Site]) -> None:
        """`read` returns the site of some run folders."""
        self._folder, self._read = folder, read
        self._sites: OrderedDict[tuple[tuple[Path, int], ...], OneSite] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, path: str, fields: Fields) -> Reply:
        """See Routes."""
        chosen = [value for name, value in fields if name == "run"]
        if path == "/" and chosen:
            location = _address([one.name for one in all_runs(self._folder) if one.name in chosen])
            return Reply(HTTPStatus.SEE_OTHER, HTML, "", location=location or "/")
        if path == "/":
            return Reply(HTTPStatus.OK, HTML, self._list(), _list_policy())
        names, slash, rest = path.removeprefix("/").partition("/")
        if not slash:
            known = {one.name for one in all_runs(self._folder)}
            if not all(unquote(name) in known for name in names.split(",")):
                return _missing()
            return Reply(HTTPStatus.SEE_OTHER, HTML, "", location=f"/{names}/")
        return self._site([unquote(name) for name in names.split(",")], f"/{rest}", fields)

    def _site(self, names: Sequence[str], path: str, fields: Fields) -> Reply:
        found = {one.name: self._folder / one.name for one in all_runs(self._folder)}
        if not all(name in found for name in names):
            return _missing()
        folders = [found[name] for name in names]
        key = tuple((one, (one / MANIFEST).stat().st_mtime_ns) for one in folders)
        with self._lock:
            if key not in self._sites:
                self._sites[key] = OneSite(lambda: self._read(folders))
            self._sites.move_to_end(key)
            while len(self._sites) > _OPEN:
                self._sites.popitem(last=False)
            site = self._sites[key]
        try:
            return site.answer(path, fields)
        except InputError as error:
            with self._lock:
                self._sites.pop(key, None)
            body = message("These runs cannot be shown", f"{error}.", "/")
            return Reply(HTTPStatus.BAD_REQUEST, HTML, body)

    def _list(self) -> str:
        runs = all_runs(self._folder)
        return render(
            "runs.html.j2",
            STYLE,
            PACKAGE,
            title="Runs",
            policy=_list_policy(),
            script=Markup(_SCRIPT),  # noqa: S704 - the static file
            folder=str(self._folder),
            runs=runs,
            scores=SCORES,
            shown=[
                name
                for place, name in enumerate(SCORES)
                if any(run.scores[place] != ABSENT for run in runs)
            ],
            addresses={run.name: _address([run.name]) for run in runs if run.state == COMPLETE},
        )


def message(title: str, sentence: str, back: str = "") -> str:
    """Return a page with a sentence."""
    return render(
        *("message.html.j2", STYLE, PACKAGE),
        **{"title": title, "sentence": sentence, "back": back, "policy": policy()},
    )


def _address(names: Sequence[str]) -> str:
    """Return the address of runs that are listed latest first: the first run is the reference."""
    return f"/{','.join(quote(name, safe='') for name in reversed(names))}/" if names else ""


def _list_policy() -> str:
    return policy(_SCRIPT, connect=True, submit=True)


def _wait(what: str) -> Reply:
    body = message(f"{what}…", "This takes some seconds; the page then shows itself.")
    return Reply(HTTPStatus.ACCEPTED, HTML, body, refresh=True)


def _missing() -> Reply:
    return Reply(HTTPStatus.NOT_FOUND, JSON, json.dumps({"error": "no such page"}))


def _in_thread(job: Callable[[], T]) -> Future[T]:
    """Start `job` in a thread that does not keep the process alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(job())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future
