"""Trackers without a library: one that remembers, one that fails."""

from typing import ClassVar

from eval.exchange.track.finished import FinishedRun
from memsys.core.errors import InputError


class Remembers:
    logged: ClassVar[list[FinishedRun]] = []

    def log(self, run: FinishedRun) -> None:
        self.logged.append(run)


class Fails:
    def log(self, run: FinishedRun) -> None:
        raise ConnectionError(f"https://me:hunter2@tracker.org/{run.name}\nis not reachable")


class NotInstalled:
    def __init__(self) -> None:
        raise InputError("tracker=not_installed: not installed")
