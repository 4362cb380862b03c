"""docs/records.md and docs/records.schema.json say what the schema says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from eval.records.schema import json_schema

DOCS = Path(__file__).parents[3] / "docs"
TABLE = re.compile(r"<!-- fields of (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)


def rows(name: str) -> str:
    """The table of the fields of a file, as docs/records.md must have it."""
    fields = json_schema()[name]["properties"]
    lines = ["| field | meaning |", "| --- | --- |"]
    for field, schema in fields.items():
        meaning = " ".join(schema["description"].split()).replace("|", "\\|")
        lines.append(f"| `{field}` | {meaning} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", list(json_schema()))
def test_the_tables_are_those_of_the_schema(name):
    tables = dict(TABLE.findall((DOCS / "records.md").read_text(encoding="utf-8")))
    assert tables[name] == rows(name)


def test_the_json_schema_is_up_to_date():
    text = (DOCS / "records.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == json_schema(), "python -m eval.records.schema > docs/..."


def test_every_field_is_described():
    for schema in json_schema().values():
        for one in (schema, *schema.get("$defs", {}).values()):
            assert all(len(field["description"]) > 3 for field in one["properties"].values())
