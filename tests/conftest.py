"""What all tests share: at the end of a test run, the skips are counted by reason."""

from __future__ import annotations

import os
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
    """One thread per library: the tests run in several processes already."""
    del config
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
