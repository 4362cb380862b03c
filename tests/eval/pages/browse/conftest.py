"""Runs that pages show, and a headless Chromium that is driven by keys and clicks."""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from eval.pages.browse.conversations import Questions
from eval.pages.browse.server import PageServer, answer_site
from eval.pages.browse.site import Site
from tests.eval.pages.report.conftest import data_file, made, record, records, write_run

_BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
_DRIVER = shutil.which("chromedriver")
needs_driver = pytest.mark.skipif(
    _BROWSER is None or _DRIVER is None, reason="chromium or chromedriver is not installed"
)
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars"),
)


def start(profile: Path) -> Chrome:
    """A browser of its own, whose driver is the installed one: nothing is downloaded."""
    assert _BROWSER is not None
    options = ChromeOptions()
    options.binary_location = _BROWSER
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Chrome(options=options, service=Service(executable_path=_DRIVER))


class Page:
    """What a person sees of the page and does to it."""

    def __init__(self, chrome: Chrome, home: str) -> None:
        self.chrome, self.home = chrome, home

    def go(self, query: str = "") -> None:
        """Open the page and wait until the questions are there."""
        self.chrome.get(self.home + query)
        self.settle()

    def settle(self) -> None:
        """Wait until what is listed is what was asked for."""
        self.until(lambda: self.one("#found").get_attribute("aria-busy") == "false")

    def until(self, so: Callable[[], object]) -> None:
        """Wait until it is so; fails after 5 seconds."""
        WebDriverWait(self.chrome, 5, 0.02).until(lambda _: so())

    def window(self, width: int, scheme: str = "light") -> None:
        """A window of that width on a system of that colour scheme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def one(self, css: str) -> WebElement:
        """The one element of a selector."""
        return self.chrome.find_element(By.CSS_SELECTOR, css)

    def all(self, css: str) -> list[WebElement]:
        """All elements of a selector."""
        return self.chrome.find_elements(By.CSS_SELECTOR, css)

    @property
    def status(self) -> str:
        """How many questions the page says there are."""
        return self.one("#status").text

    @property
    def ids(self) -> list[str]:
        """Ids of the questions that are listed."""
        script = "return [...document.querySelectorAll('#found > details')].map(d => d.dataset.id)"
        return list(self.chrome.execute_script(script))

    @property
    def at(self) -> str | None:
        """The id of the question that has the keyboard."""
        return self.chrome.execute_script("return document.activeElement.parentNode.dataset?.id")

    def choose(self, name: str, text: str) -> None:
        """Choose an option of a filter by what it says, and wait for the answer."""
        Select(self.one(f"select[name={name}]")).select_by_visible_text(text)
        self.settle()

    def type(self, words: str) -> None:
        """Press keys in the search box, one after another, and wait for the answer."""
        self.one("#q").send_keys(words)
        self.settle()

    def press(self, *keys: str) -> None:
        """Press keys, whatever has the keyboard."""
        ActionChains(self.chrome).send_keys(*keys).perform()

    def requested(self) -> list[str]:
        """Addresses that were asked for since this was last read."""
        events = [
            json.loads(row["message"])["message"] for row in self.chrome.get_log("performance")
        ]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """What the console said since this was last read."""
        return [row["message"] for row in self.chrome.get_log("browser")]


@contextmanager
def watched(chrome: Chrome, home: str, inside: str) -> Iterator[Page]:
    """The page at `home`, which complains of nothing and asks for nothing but what is `inside`."""
    page = Page(chrome, home)
    chrome.get("about:blank")
    page.requested(), page.complaints()  # of earlier tests
    page.window(1280)
    page.go()
    yield page
    assert page.complaints() == []
    asked = page.requested()
    assert asked
    assert [one for one in asked if not one.startswith((inside, "data:"))] == []


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
