"""`python -m eval track RUN tracker=mlflow`: log runs that exist already to MLflow or W&B."""

import argparse
from collections.abc import Sequence

from hydra import compose, initialize_config_dir

from eval.cli import FAILED, add_runs, code_of
from eval.cli import parser as command_parser
from eval.exchange.track.finished import log_run, tracker_of
from eval.rendering.errors import configuration_errors
from memsys.core.errors import InputError
from memsys.core.places import CONF, find_run

_OF_TRACKERS = ("tracker=", "tracker.")  # how their settings begin
_NAMES = " or ".join(f"tracker={path.stem}" for path in sorted(CONF.glob("tracker/*.yaml")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Log the runs; return the exit code: 1 if one of them was not logged, 2 for wrong input."""
    parser = command_parser(
        "track",
        usage="python -m eval track RUN [RUN ...] tracker=NAME [tracker.SETTING=VALUE ...]",
        description="Log complete runs to an experiment tracker. A run that was logged before is "
        f"updated. Name the tracker, and settings of it, as in eval.run: {_NAMES}.",
    )
    add_runs(parser)
    options = parser.parse_args(arguments)
    return code_of(lambda: _track(options))


def _track(options: argparse.Namespace) -> int:
    settings = [argument for argument in options.runs if argument.startswith(_OF_TRACKERS)]
    runs = [find_run(argument) for argument in options.runs if argument not in settings]
    with configuration_errors(), initialize_config_dir(str(CONF), version_base="1.3"):
        tracker = tracker_of(compose("config", settings))
    if tracker is None or not runs:
        raise InputError(f"name a RUN and a tracker: python -m eval track last {_NAMES}")
    logged = [log_run(tracker, folder) for folder in runs]
    print(f"{sum(logged)} of {len(runs)} runs logged")
    return 0 if all(logged) else FAILED
