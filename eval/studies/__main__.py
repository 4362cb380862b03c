"""`python -m eval studies NAME`: the studies behind single tables and figures of the docs."""

from __future__ import annotations

import runpy
import sys

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a study: a module of eval/studies")
    del sys.argv[0]
    runpy.run_module(f"eval.studies.{sys.argv[0]}", run_name="__main__", alter_sys=True)
