"""The fields of a run folder are described, in docs/records.md as in the schema."""

import json
import re
from pathlib import Path

from eval.records import fields
from eval.records.schema import json_schema

PAGE = Path(__file__).parents[3] / "docs" / "records.md"


def test_the_table_of_records_is_that_of_the_schema():
    (shown,) = re.findall(
        r"<!-- fields of records.jsonl -->\n(.*?)<!-- end -->", PAGE.read_text("utf-8"), re.S
    )
    assert shown == fields.table("records.jsonl")


def test_the_command_prints_every_field_or_those_of_a_file(capsys):
    assert fields.main([]) == 0
    everything = capsys.readouterr().out
    for name, schema in json_schema().items():
        assert f"\n## {name}\n" in everything
        assert all(f"\n| `{field}` | " in everything for field in schema["properties"])
    assert fields.main(["contexts.jsonl"]) == 0
    assert "`text`" in (few := capsys.readouterr().out)
    assert "`run_id`" not in few
    assert fields.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
    assert fields.main(["contexts.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"contexts.jsonl"}
    for more in ([], ["--json"]):
        assert fields.main(["nope.json", *more]) == 2
        assert "nope.json: no fields are known" in capsys.readouterr().err


def test_every_field_is_described():
    for schema in json_schema().values():
        for one in (schema, *schema.get("$defs", {}).values()):
            assert all(len(field["description"]) > 3 for field in one["properties"].values())
