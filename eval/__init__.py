"""The benchmark harness: commands, and the packages that they share."""

import sys
from types import TracebackType


def _shown(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error that nothing handled; Ctrl-C while modules are imported is none."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


if sys.argv[:1] == ["-m"]:  # while `python -m eval` looks for its module
    sys.excepthook = _shown
