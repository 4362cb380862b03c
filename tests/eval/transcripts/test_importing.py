"""Exports of each format become conversations with sessions and times."""

import gzip
import json
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from eval.transcripts.formats import Export
from eval.transcripts.importing import json_values, read_transcripts
from memsys.core.errors import InputError
from tests.eval.datasets.test_data_variants import MISSING, put
from tests.eval.transcripts import exports

DAYS = [datetime(2025, 5, *day) for day in ((8, 14), (10, 15), (11, 14), (12, 14))]
SAID = [text for chat in exports.ALL for _, text, _ in chat]


def read(
    path: Path, user: str = "User", assistant: str = "Assistant", sessions: int | None = None
) -> Export:
    return read_transcripts(path, {"user": user, "assistant": assistant}, 800, sessions)


def texts(imported: Export) -> list[str]:
    sessions = [session for one in imported.conversations for session in one.sessions]
    return [turn.text for session in sessions for turn in session.turns]


def test_chats_become_dated_sessions_of_one_conversation(tmp_path):
    """Tools, thoughts and branches not taken are dropped and counted."""
    gpt = exports.write_json(tmp_path / "a.json", exports.chatgpt())
    claude = exports.write_json(tmp_path / "b.json", exports.claude())
    code = exports.write_lines(tmp_path / "c.log", exports.claude_code())
    for path, format_, name, dropped in (
        (gpt, "ChatGPT", "chatgpt", {"messages of other branches": 2, "system messages": 2}),
        (claude, "Claude", "claude", {"thinking blocks": 6, "attachments": 2}),
        (code, "Claude Code", "bakery", {"tool_use blocks": 6, "tool_result blocks": 6}),
    ):
        imported = read(path)
        assert imported.formats == {format_: 1}
        (one,) = imported.conversations
        assert (one.id, one.speakers) == (name, ("User", "Assistant"))
        # Each chat has messages of two days, and a session has one time.
        assert [session.time for session in one.sessions] == DAYS
        assert texts(imported) == SAID
        assert [turn.id for turn in one.sessions[3].turns] == ["D4:1", "D4:2"]
        assert [turn.speaker for turn in one.sessions[3].turns] == ["User", "Assistant"]
        assert +imported.tally.dropped == dropped


def test_reads_a_rollout_of_codex_without_what_the_program_inserted(tmp_path):
    imported = read(exports.write_lines(tmp_path / "r.jsonl", exports.codex()))
    assert [one.id for one in imported.conversations] == ["ops"]
    assert texts(imported) == [text for _, text, _ in exports.DEPLOY]
    for name in ("inserted texts", "developer messages", "function_call items"):
        assert imported.tally.dropped[name] == 1


def test_chatgpt_messages_that_are_not_said_to_the_user_are_dropped(tmp_path):
    export = exports.chatgpt([exports.DEPLOY])
    nodes = export[0]["mapping"]
    nodes["n1"]["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    nodes["n2"]["message"]["recipient"] = "python"
    nodes["n3"]["message"]["content"] = {"content_type": "thoughts", "thoughts": []}
    parts = [{"content_type": "image_asset_pointer"}, "A \ue200cite\ue202turn0\ue201photo."]
    nodes["n4"]["message"]["content"] = {"content_type": "multimodal_text", "parts": parts}
    export.append({"mapping": {}, "current_node": None})
    imported = read(exports.write_json(tmp_path / "c.json", export))
    assert texts(imported)[0] == "A photo."
    assert len(texts(imported)) == 3
    kinds = ("hidden messages", "tool calls", "thoughts contents", "images and other attachments")
    for name in (*kinds, "chats without current_node"):
        assert imported.tally.dropped[name] == 1


def test_claude_code_drops_subagents_repeats_and_inserted_texts(tmp_path):
    lines = exports.claude_code([exports.DEPLOY])
    said = [line for line in lines if line["type"] == "user"]
    said[2]["isSidechain"] = True
    said[4]["message"]["content"] = "<command-name>/clear</command-name>"
    first = exports.write_lines(tmp_path / "logs" / "a.jsonl", lines)
    exports.write_lines(first.with_name("b.jsonl"), lines)
    imported = read(tmp_path / "logs")
    assert len(texts(imported)) == len(exports.DEPLOY) - 2
    assert imported.tally.dropped["repeated messages"] == len(lines) - 2
    assert imported.tally.dropped["inserted texts"] == 1


def test_roles_that_are_no_text_are_of_neither_side(tmp_path):
    gpt, codex = exports.chatgpt([exports.DEPLOY]), exports.codex()
    gpt[0]["mapping"]["n1"]["message"]["author"]["role"] = []
    codex.append({"type": "response_item", "payload": {"type": "message", "role": {}}})
    code = [*exports.claude_code([exports.DEPLOY]), {"type": ["user"], "sessionId": "s"}]
    for lines, dropped in ((gpt, "[] messages"), (codex, "{} messages"), (code, None)):
        imported = read(exports.write_lines(tmp_path / "x.jsonl", lines))
        assert len(texts(imported)) == len(exports.DEPLOY) - (dropped == "[] messages")
        assert dropped is None or imported.tally.dropped[dropped] == 1


def test_the_text_of_a_claude_message_with_content_is_not_read(tmp_path):
    export = exports.claude()
    message = export[0]["chat_messages"][0]
    message["text"], message["content"] = 5, [{"type": "text", "text": message["text"]}]
    assert texts(read(exports.write_json(tmp_path / "c.json", export))) == SAID


def test_each_project_is_a_conversation_with_a_name_of_its_own(tmp_path):
    for name in ("a", "b"):
        lines = exports.claude_code([exports.DEPLOY], cwd=f"/home/{name}/app")
        for line in lines:
            line["uuid"], line["sessionId"] = f"{name}{line.get('uuid')}", name
        exports.write_lines(tmp_path / "projects" / f"{name}.jsonl", lines)
    exports.write_lines(tmp_path / "projects" / "r.jsonl", exports.codex(cwd="/home/b/app"))
    found = read(tmp_path / "projects").conversations
    assert [one.id for one in found] == ["app", "app-2"]
    assert sum(len(session.turns) for session in found[0].sessions) == 6
    assert sum(len(session.turns) for session in found[1].sessions) == 12


def test_reads_zip_and_gzip_and_passes_over_other_files(tmp_path):
    content = json.dumps(exports.claude())
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data/conversations.json", content)
        file.writestr("data/users.json", '[{"uuid": "u"}]')
        file.writestr("picture.png", b"\x89")
    imported = read(archive)
    assert texts(imported) == SAID
    assert imported.passed_over == ["data/users.json"]
    packed = tmp_path / "conversations.json.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert texts(read(packed)) == SAID


def test_reads_lines_and_one_object_over_several_lines(tmp_path):
    path = exports.write_lines(tmp_path / "x.jsonl", exports.claude_code())
    assert [value for _, value in json_values(path, "x.jsonl")] == exports.claude_code()
    indented = tmp_path / "x.json"
    indented.write_text("\n" + json.dumps(exports.claude()[0], indent=1), encoding="utf-8")
    assert [value for _, value in json_values(indented, "x.json")] == exports.claude()[:1]


def test_takes_the_last_sessions_and_the_given_names(tmp_path):
    path = exports.write_json(tmp_path / "x.json", exports.claude())
    imported = read(path, sessions=2, user="Ines", assistant="Claude")
    (one,) = imported.conversations
    assert [session.time for session in one.sessions] == DAYS[2:]
    assert one.speakers == ("Ines", "Claude")
    assert imported.tally.dropped["earlier sessions"] == 2


def gpt(new: Any, place: str) -> Any:
    return put(exports.chatgpt(), f"0/mapping/n1/{place}", new)


def of_claude(new: Any, place: str = "") -> Any:
    return put(exports.claude(), f"0/chat_messages{place}", new)


BROKEN = [
    (gpt("gone", "parent"), "conversation 1: current_node: 'gone' or a parent of it is not"),
    (gpt([5], "parent"), "conversation 1: mapping.n1.parent: must be a text"),
    (gpt(MISSING, "message/author"), "mapping.n1.message.author"),
    (gpt("x", "message/content/parts"), "mapping.n1.message.content.parts: must"),
    (gpt("noon", "message/create_time"), "'noon' is no time"),
    (of_claude({}), "conversation 1: chat_messages: must be a list"),
    (of_claude("robot", "/3/sender"), "chat_messages[3].sender: 'robot' is unknown; use one of"),
    (of_claude(7, "/3/created_at"), "chat_messages[3].created_at: 7 is no time"),
    (of_claude(5, "/2/text"), "chat_messages[2].text: must be a text"),
    (of_claude([{"text": 5}], "/3/content"), "chat_messages[3].content[0].text: must"),
    ([{"some": "thing"}], "no export of a known format; name conversations.json of"),
    (of_claude([])[:1], "contains no message"),
]


def refusal(path: Path) -> str:
    """The one line of the error."""
    with pytest.raises(InputError) as refused:
        read(path)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(("value", "problem"), BROKEN)
def test_refuses_a_broken_export_naming_place_and_field(value, problem, tmp_path):
    message = refusal(exports.write_json(tmp_path / "conversations.json", value))
    assert "conversations.json" in message
    assert problem in message


def test_refuses_a_broken_line_naming_it(tmp_path):
    path = tmp_path / "log.jsonl"
    for line, problem in (
        ('{"type": "user", "sessionId": ', "not JSON"),
        ('{"type": "user", "sessionId": "s", "message": 3}', "message: must be an object"),
        ('{"type": "user", "sessionId": "s", "message": {}}', "message.content: must be a list"),
        ('{"type": "user", "sessionId": "s", "timestamp": "x"}', "timestamp: 'x' is no"),
    ):
        path.write_text(f"{json.dumps(exports.claude_code()[1])}\n{line}\n", encoding="utf-8")
        assert refusal(path).startswith(f"log.jsonl: line 2: {problem}")


def test_passes_over_what_is_not_readable_beside_an_export(tmp_path):
    exports.write_json(tmp_path / "in" / "conversations.json", exports.claude())
    broken = tmp_path / "in" / "tsconfig.json"
    broken.write_text('{\n  // strict\n  "strict": true\n}', encoding="utf-8")
    (tmp_path / "in" / "x.json").write_bytes(b"\xff\xfe")
    (tmp_path / "in" / "z.json").write_text("[1]", encoding="utf-8")
    (tmp_path / "in" / "y.jsonl").write_text('{"a": 1}\n{"a": ', encoding="utf-8")
    imported = read(tmp_path / "in")
    assert texts(imported) == SAID
    names = [one.partition(":")[0] for one in imported.unreadable]
    assert names == ["tsconfig.json", "x.json", "y.jsonl"]
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for one in (tmp_path / "in").iterdir():
            file.write(one, one.name)
    assert read(archive).unreadable == imported.unreadable
    assert refusal(broken).startswith("tsconfig.json: not JSON")
    (tmp_path / "in" / "conversations.json").unlink()
    assert re.search(r"no export of a known format.*tsconfig\.json: not", refusal(broken.parent))


def test_leaves_out_and_counts_the_line_that_a_running_program_writes(tmp_path):
    log = exports.write_lines(tmp_path / "logs" / "a.jsonl", exports.claude_code())
    whole = log.read_bytes()
    for end in (b'{"type": "user", "sess', '{"type": "é'.encode()[:-1]):
        log.write_bytes(whole + end)
        imported = read(log.parent)
        assert texts(imported) == SAID
        assert imported.formats == {"Claude Code": 1}
        assert imported.tally.dropped["half-written last lines"] == 1
        assert re.match(r"a\.jsonl: line \d+: not JSON", refusal(log))
    log.write_bytes(whole + b"{\n" + whole)  # any other line is an error
    assert re.match(r"a\.jsonl: line \d+: not JSON", refusal(log.parent))


def test_refuses_what_is_not_there_damaged_or_of_one_id(tmp_path):
    turn = {"speaker": "Ines", "dia_id": "D1:1", "text": "Bees."}
    said = {"session_1": [turn], "session_1_date_time": "2025-05-08 14:00"}
    for name in ("a.json", "b.json"):
        rows = [{"sample_id": "garden", "conversation": said, "qa": []}]
        exports.write_json(tmp_path / "in" / name, rows)
    assert "b.json: sample garden: sample_id: used twice" in refusal(tmp_path / "in")
    assert "no such file or folder" in refusal(tmp_path / "gone.zip")
    binary = tmp_path / "x.json"
    binary.write_bytes(b'[{"a": "\xff"}]')
    assert "x.json: not UTF-8" in refusal(binary)
    archive = tmp_path / "x.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("conversations.json", json.dumps(exports.claude()))
    content = bytearray(archive.read_bytes())
    content[60:80] = bytes(20)
    archive.write_bytes(content)
    assert "x.zip: damaged" in refusal(archive)
