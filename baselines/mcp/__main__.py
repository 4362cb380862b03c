"""`python -m baselines.mcp`: the tools of a memory server, which are used, and its admission."""

import argparse
import sys
from typing import Any

from baselines.mcp.admission import check, server_of
from memsys.core.errors import InputError, complain
from memsys.core.json_text import parse_json


def main(arguments: list[str] | None = None) -> int:
    """List the tools, what was chosen and why, and check the server. Returns the exit code: 0 if it
    is admitted, else 2.
    """
    given = vars(_parser().parse_args(arguments))
    try:
        given["env"] = dict(given["env"])
        server = server_of(**{name: value for name, value in given.items() if value is not None})
        for line in check(server, print, list_all=True).checks:
            print(f"  {line}")
    except InputError as error:
        complain(error)
        return 2
    print("Admitted: python -m eval.run strategy=mcp ...")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m baselines.mcp", description=__doc__)
    parser.add_argument("--command", help="program and arguments of a server over stdio")
    parser.add_argument("--url", help="address of a server over streamable HTTP")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", type=variable)
    parser.add_argument("--variables", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--key-variable", default="", metavar="NAME")
    for name in ("add-tool", "search-tool", "delete-tool", "owners"):
        parser.add_argument(f"--{name}", metavar="NAME")
    for name in ("add-arguments", "search-arguments"):
        parser.add_argument(f"--{name}", metavar="JSON", type=json_object)
    parser.add_argument("--timeout-s", type=float, default=60)
    parser.add_argument("--settle-s", type=float, default=0)
    return parser


def variable(text: str) -> tuple[str, str]:
    """Return name and value of a variable. Raises ArgumentTypeError without a name or an equals
    sign; the text, which may be a secret, is not repeated.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError("write NAME=VALUE")
    return name, value


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object `text`. Raises ArgumentTypeError, with the reason, if it is none."""
    try:
        value = parse_json(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; write a JSON object") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("write a JSON object")
    return value


if __name__ == "__main__":
    sys.exit(main())
