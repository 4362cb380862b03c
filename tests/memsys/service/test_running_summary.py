"""The running summary: refreshed in the background, and found by search."""

import logging
from collections.abc import Callable
from concurrent.futures import Future
from threading import Event as Signal
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.llm.base import LLMError
from memsys.service import adding
from memsys.service.setup import SummarySettings
from tests.memsys.knowledge.facts.models import Planned, fact, facts
from tests.memsys.service.made import memory, texts
from tests.memsys.service.test_facts import JUNE, add

LATER = SummarySettings(background=True)
FOUND = SummarySettings(searchable=True)
BOTH = SummarySettings(background=True, searchable=True)


class Lazy(Future[Any]):
    """A job that runs when somebody waits for it."""

    def __init__(self, run: Callable[[], Any]) -> None:
        super().__init__()
        self._run = run

    def result(self, timeout: float | None = None) -> Any:
        if not self.done():
            self.set_result(self._run())
        return super().result(timeout)


class LazyPool:
    """Runs a job when somebody waits for it, at the latest when it is shut down."""

    def __init__(self, **_: Any) -> None:
        self.jobs: list[Lazy] = []

    def submit(self, job: Callable[..., Any], *given: Any) -> Lazy:
        self.jobs.append(Lazy(lambda: job(*given)))
        return self.jobs[-1]

    def shutdown(self) -> None:
        for job in self.jobs:
            job.result()


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "ThreadPoolExecutor", LazyPool)


def planned(*summary: Any) -> Planned:
    return Planned([facts()], summary=summary)


def test_an_addition_returns_before_its_summary_and_close_waits_for_it(tmp_path):
    begun, go = Signal(), Signal()

    class Slow(Planned):
        def complete(self, messages: Any, **given: Any) -> Any:
            if "schema" not in given:
                begun.set()
                assert go.wait(60)
            return super().complete(messages, **given)

    with memory(tmp_path, llm=Slow([facts()], summary=["one"]), summary=LATER) as store:
        added = add(store, "word1")
        assert begun.wait(60)
        assert "summary" not in [event["step"] for event in added.events]
        go.set()
    with memory(tmp_path, llm=(llm := planned("two"))) as store:
        add(store, "word2")
        assert store.get_all(user_id="mara") == []  # a summary is no memory unless that is set
    assert "<summary_so_far>\none\n" in llm.asked["extract"][0]


@pytest.mark.usefixtures("lazy")
def test_the_next_addition_of_an_owner_waits_for_the_summary_and_has_its_log(tmp_path):
    llm = planned("one", "two")
    with memory(tmp_path, llm=llm, summary=LATER) as store:
        add(store, "word1")
        add(store, "word2", user_id="theo")
        assert llm.asked["summary"] == []
        added = add(store, "word3")
    assert "<summary_so_far>\none\n" in llm.asked["extract"][2]
    assert [event["step"] for event in added.events] == ["summary", "extract", "session"]
    assert len(llm.asked["summary"]) == 3


@pytest.mark.usefixtures("lazy")
def test_an_error_in_the_background_is_a_fault_of_the_next_addition_and_logged(tmp_path, caplog):
    llm = planned("one", LLMError("gone"), "three")
    with caplog.at_level(logging.WARNING), memory(tmp_path, llm=llm, summary=LATER) as store:
        for n in range(3):
            added = add(store, f"word{n}")
        assert [(one["step"], one["fault"]) for one in added.faults] == [("summary", "no_answer")]
    assert caplog.messages == ["a summary was not refreshed: no_answer"]
    assert "<summary_so_far>\none\n" in llm.asked["extract"][2]
    with memory(tmp_path / "b", llm=planned(ValueError("odd")), summary=LATER) as store:
        add(store, "word")
        (fault,) = add(store, "word").faults
    assert (fault["step"], fault["fault"]) == ("summary", "not_stored")


@pytest.mark.parametrize("remove", ["delete_all", "reset"])
@pytest.mark.usefixtures("lazy")
def test_a_summary_of_what_was_deleted_meanwhile_is_not_stored(tmp_path, remove):
    llm = planned("secret", "new")
    with memory(tmp_path, llm=llm, summary=BOTH) as store:
        add(store, "word1")
        getattr(store, remove)(user_id="mara")
        add(store, "word2")
        assert (len(llm.asked["summary"]), store.get_all(user_id="mara")) == (1, [])
    assert "secret" not in llm.asked["extract"][1]


@pytest.mark.parametrize("settings", [FOUND, BOTH])
@pytest.mark.usefixtures("lazy")
def test_a_summary_is_a_memory_that_each_refresh_replaces(tmp_path, settings):
    llm = Planned([facts(fact("Mara has a kiln")), facts()], summary=["Pots", "Pots and glazes"])
    with memory(tmp_path, llm=llm, summary=settings) as store:
        add(store, "I have a kiln")
        add(store, "I glaze pots", time=JUNE)
        add(store, "I swim", user_id="theo")
        if settings.background:
            store._adder.close()
        found = store.search("glazes and pots", user_id="mara")[0].record
        assert (found.memory, found.kind, found.time) == ("Pots and glazes", "summary", JUNE)
        assert [one.event for one in store.history(found.id)] == ["ADD", "UPDATE"]
        kinds = [one.kind for one in store.get_all(user_id="mara")]
        assert sorted(kinds) == ["fact", "summary"]
        store.delete_all(user_id="mara")
        assert texts(store.get_all(user_id="theo")) == ["Pots and glazes"]


@pytest.mark.usefixtures("lazy")
def test_a_summary_is_no_fact_to_compare_with_and_nobody_adds_one(tmp_path):
    llm = Planned([facts(), facts(fact("Mara has a kiln"))], summary=["Mara has a kiln"])
    with memory(tmp_path, llm=llm, summary=FOUND) as store:
        add(store, "word")
        added = add(store, "I have a kiln")
        assert ([one.event for one in added.changes], llm.asked["decide"]) == (["ADD"], [])
        with pytest.raises(InputError, match=r"^add: kind: "):
            store.add("x", user_id="mara", kind="summary")  # type: ignore[arg-type]
