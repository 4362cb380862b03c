"""What all tests share: at the end of a test run, the skips are counted by reason."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter

import pytest


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
    a terminal, which readline writes to the environment as soon as it is imported.
    """
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
        os.unsetenv(name)
    if not hasattr(config, "workerinput"):
        os.environ["MEMSYS_CACHE"] = tempfile.mkdtemp(prefix="memsys-tests-")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the session's cache folder."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ["MEMSYS_CACHE"], ignore_errors=True)


# What `make quick` leaves out: places whose tests start runs, servers, models or processes.
SLOW = (
    *("baselines/libraries", "conf", "eval/audit_judge", "eval/browse", "eval/cache", "eval/cost"),
    "eval/demo",
    *(
        "eval/diagnose/test_diagnose_command",
        "eval/fetch",
        "eval/merge",
        "eval/regress",
        "eval/run",
    ),
    *("eval/studies", "eval/tabulate", "eval/test_api", "memsys/embed", "memsys/llm"),
    *(
        "memsys/facts/test_session_reader",
        "memsys/strategies/test_associations",
        "memsys/service",
        "memsys/stores",
        "notebooks",
    ),
    "test_readme.py",
    # Whole data sets, or many resamples.
    *("eval/answers", "eval/compare/test_compar", "eval/datasets/synthetic", "eval/report"),
    *("eval/compare/test_contrast", "eval/stats/test_bootstrap"),
    *("eval/metrics/test_parity", "eval/rescore/test_rescore.py"),
)
STARTING = {"start", "clean", "keyed", "make_run", "cache", "bench"}  # fixtures that start runs


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what `make quick` leaves out."""
    for item in items:
        place = item.nodeid.removeprefix("tests/")
        fixtures = set(getattr(item, "fixturenames", ()))
        if place.startswith(SLOW) or fixtures & STARTING:
            item.add_marker(pytest.mark.slow)
