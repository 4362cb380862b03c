"""The benchmark harness: commands, and the packages that they share."""

import sys

if sys.argv[:1] == ["-m"]:  # as long as `python -m eval.NAME` looks for its module
    from eval.cli import refuse_old_name

    refuse_old_name()
