"""The runs of the report's tests: the first two, and one with failures and abstentions."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from eval.pages.browse.questions import Questions
from eval.pages.browse.server import PageServer, answer_site
from eval.pages.browse.site import Site
from tests.eval.pages.browse.driven import Page, start, watched
from tests.eval.pages.report.conftest import data_file, made, record, records, write_run


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("runs")
    data = data_file(root / "made.json")
    other = records(0.1)
    failure = {"phase": "answer", "kind": "Timeout", "message": "late"}
    changes = {
        "ash/0": {"status": "error", "error": failure, "answer": None},
        "ash/1": {"abstained": True, "answer": "I do not know."},
        "ash/4": {"abstained": True, "answer": "Not mentioned."},
        "ash/5": {"answer": "A zebra, in Straße 5"},
        "ash/6": {"scores": record("ash/6", f1=0.01)["scores"]},
    }
    third = [row | changes.get(row["id"], {}) for row in other[:-1]]
    return [
        write_run(root / "first", records(), "plain", data),
        write_run(root / "second", other, "better<i>", data),
        write_run(root / "third", third, "odd", data),
    ]


@pytest.fixture(scope="session")
def questions(folders: list[Path]) -> Questions:
    return Questions(made(*folders))


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    driver = start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def server(questions: Questions) -> Iterator[PageServer]:
    with PageServer(0) as made:
        made.answer = answer_site(Site(questions))
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def home(server: PageServer) -> str:
    return server.address


@pytest.fixture
def page(chrome: Chrome, home: str) -> Iterator[Page]:
    with watched(chrome, home, home) as page:
        yield page
