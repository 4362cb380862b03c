"""`python -m eval schema [FILE]`: the fields of the files of a run folder, and what they mean."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from eval.records.schema import json_schema
from memsys.core.errors import InputError, as_started, check_choice, complain

_INTRODUCTION = """# Fields of a run folder

Which fields does each file of a run folder have? [Records](records.md) says what the files are for.
"""


def schemas(names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each file of a run folder by its name; with `names` of these alone.

    Raises InputError where a run folder has no such file, or one without fields.
    """
    files = json_schema()
    for name in names:
        check_choice("file", name, [*files])
    return {name: files[name] for name in names or files}


def table(name: str) -> str:
    """Return the fields of the file `name`, and what they mean, as a table in markdown.

    Raises InputError where a run folder has no such file, or one without fields.
    """
    rows = [("field", "meaning"), ("---", "---")]
    for field, schema in schemas([name])[name]["properties"].items():
        meaning = " ".join(schema["description"].split()).replace("|", "\\|")
        rows.append((f"`{field}`", meaning))
    return "".join(f"| {field} | {meaning} |\n" for field, meaning in rows)


def page(names: Sequence[str] = ()) -> str:
    """Return the page of the site; with `names` the tables of these files alone."""
    tables = (f"## {name}\n\n{table(name)}" for name in names or json_schema())
    return "\n".join([*([] if names else [_INTRODUCTION]), *tables])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the fields of the files that `arguments` name, or of all; return the exit code."""
    command = argparse.ArgumentParser(
        as_started("python -m eval schema"), description="Print the fields of a run folder's files."
    )
    command.add_argument("files", nargs="*", metavar="FILE", help="such as manifest.json")
    command.add_argument("--json", action="store_true", help="print them as JSON Schema")
    options = command.parse_args(arguments)
    try:
        names = options.files
        print(json.dumps(schemas(names), indent=1) if options.json else page(names))
    except InputError as error:
        complain(error)
        return 2
    return 0
