"""What all tests share: at the end of a test run, the skips are counted by reason."""

import gc
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis.internal import charmap

HERE = Path(__file__).parent


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped, by reason, the most frequent first."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in skipped
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("skipped, by reason")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:4} {reason}")


def pytest_configure(config: pytest.Config) -> None:
    """One thread per library: the tests run in several processes already. No test uses the user's
    stored answers: all processes share a cache folder of the session. Nor has a test the width of
    a terminal, which readline writes to the environment as soon as it is imported. Byte code is
    kept even where the user keeps none: the tests start hundreds of processes, and each would
    compile all modules again.
    """
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
        os.unsetenv(name)
    if not hasattr(config, "workerinput"):
        os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # glibc keeps memory for each thread else,
        os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", "262144")  # and what large arrays leave
        os.environ["MEMSYS_CACHE"] = tempfile.mkdtemp(prefix="memsys-tests-")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.hookimpl(trylast=True)  # Hypothesis warns of slow code before its own
def pytest_sessionstart(session: pytest.Session) -> None:
    """Make Hypothesis' file of characters before the workers, which would take 200 MB each."""
    if not hasattr(session.config, "workerinput"):
        charmap.intervals_from_codec("utf-8")


def pytest_collection(session: pytest.Session) -> None:
    """Collect no garbage while modules are imported; the controller of workers imports none."""
    if session.config.getoption("dist", "no") == "no":
        gc.disable()


def pytest_collection_finish() -> None:
    """Take modules and tests out of full garbage collections, for good: a run would thaw them. The
    collections that are left are rarer than by default; together they were a tenth of all time.
    """
    gc.collect()
    gc.freeze()
    gc.freeze = gc.unfreeze = lambda: None
    gc.set_threshold(700, 10, 40)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the session's cache folder."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["MEMSYS_CACHE"], ignore_errors=True)


# What `make quick` leaves out: places whose tests start runs, servers, models or processes, or read
# whole data sets.
SLOW = (
    *("baselines/libraries", "baselines/test_rest.py", "conf", "docs", "notebooks"),
    "test_packaging.py",
    *(
        f"eval/{name}"
        for name in (
            *("analyse", "answers", "audit_judge", "bench", "cards/card/test_shared.py"),
            *("cards/leaderboard", "cards/site", "datasets/synthetic", "exchange", "imports"),
            *("metrics/stats/test_bootstrap.py", "metrics/test_parity.py", "pages", "regress"),
            *("run", "test_api.py", "transcripts"),
        )
    ),
    *(f"memsys/{name}" for name in ("embed", "llm", "service", "stores")),
    "memsys/strategies/test_associations.py",
)
if MISSING := [place for place in SLOW if not (HERE / place).exists()]:
    raise pytest.UsageError(f"tests/conftest.py, SLOW: there is no {', '.join(MISSING)}")

STARTING = {"start", "clean", "keyed", "make_run", "cache", "bench"}  # fixtures that start runs


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what `make quick` leaves out as a whole."""
    place = collection_path.relative_to(HERE).as_posix() if collection_path != HERE else ""
    is_quick = config.getoption("markexpr").startswith("not slow")
    return True if is_quick and place.startswith(SLOW) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `make quick` leaves out."""
    for item in items:
        place = item.path.relative_to(HERE).as_posix()
        fixtures = set(getattr(item, "fixturenames", ()))
        if place.startswith(SLOW) or fixtures & STARTING:
            item.add_marker(pytest.mark.slow)
