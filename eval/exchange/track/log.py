"""Log finished runs to the tracker that a configuration names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval.exchange.track.finished import Tracker, read
from eval.rendering.errors import configuration_errors
from memsys.core.addresses import without_secrets
from memsys.core.errors import complain

_PASSWORD = re.compile(r"//[^/\s@]+@")  # with the user, in an address
_LONGEST = 300  # characters of a message


def tracker_of(config: DictConfig) -> Tracker | None:
    """Return the tracker of the group `tracker`; None if none is chosen.

    Raises InputError if it cannot be used, such as without its package.
    """
    if OmegaConf.select(config, "tracker") is None:
        return None
    with configuration_errors():
        return cast(Tracker, instantiate(config.tracker))


def log_run(tracker: Tracker, folder: Path) -> bool:
    """Log the run in `folder`, or print a warning with the reason; return whether it was logged."""
    try:
        tracker.log(read(folder))
    except Exception as error:
        reason = _PASSWORD.sub("//", without_secrets(" ".join(str(error).split())))
        complain(
            f"{folder.name} was not logged: {type(error).__name__}: {reason:.{_LONGEST}}; "
            f"to log it: python -m eval track {folder.name} tracker=...",
            "warning",
        )
        return False
    return True
