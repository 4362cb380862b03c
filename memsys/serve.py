"""`python -m memsys.serve`: the memory operations over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from memsys.errors import InputError

KEY = "MEMSYS_API_KEY"
_HELP = f"""Serve the memory operations (docs/memory-api.md) over HTTP: JSON in and out, the
OpenAPI document at /openapi.json, and as a page at /docs that needs no network.

With --config, the embedder, index, ranking, k and model are those of a benchmarked run or of a YAML
file with the same groups; without it, those of conf/config.yaml. A configuration names classes,
which are imported and instantiated: use none that you do not trust.

If the environment variable {KEY} is set, every request must send its value (X-API-Key, or
Authorization: Bearer). It is required unless the server listens on a loopback address. There is no
TLS: put a proxy that has it in front."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C; return the exit code: 2 for wrong input."""
    options = _parser().parse_args(arguments)
    try:
        for package in ("fastapi", "uvicorn"):
            if find_spec(package) is None:
                raise InputError(
                    f"memsys.serve: {package} is not installed; pip install -e '.[server]'"
                )
        from memsys.service.rest.server import serve  # noqa: PLC0415 - an extra

        key = os.environ.get(KEY) or None
        serve(options.config, options.folder, options.host, options.port, options.allow_host, key)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        pass
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m memsys.serve",
        description=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config",
        metavar="RUN_OR_YAML",
        help="a run's folder, its id under results/runs, or a YAML file",
    )
    parser.add_argument(
        "--folder",
        default="memories",
        metavar="DIR",
        help="where memories are stored; created if absent (default: memories)",
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="0: any free port (default: 8000)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further host name under which the loopback address may be requested, such as that "
        "of a proxy; repeatable",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
