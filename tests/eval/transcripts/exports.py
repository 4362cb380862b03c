"""Small exports of each format, written for these tests, and files of them."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eval.records import files

MAY = 1_746_712_800.0  # 8 May 2025, 14:00 UTC
DAY = 86_400.0
# Role, text, and hours since MAY.
SOURDOUGH: Sequence[tuple[str, str, float]] = (
    ("user", "How warm should the proving box be for my rye starter?", 0),
    ("assistant", "Set the proving box to 27 degrees and feed the rye starter twice a day.", 0.1),
    ("user", "I bought the flour from Halden Mill. My oven is a small gas oven.", 0.2),
    ("assistant", "A gas oven is fine. Put a tray of water on the floor of the oven.", 0.3),
    ("user", "The loaf was flat again. The proving box is now 24 degrees.", 49),
    ("assistant", "That is too cool for a rye starter. What does the flour label say?", 49.1),
)
DEPLOY: Sequence[tuple[str, str, float]] = (
    ("user", "Why does the nightly backup fail? The log is in ops/backup/nightly.log", 72),
    ("assistant", "The backup job runs out of disk. I changed `max_snapshots` to 14.", 72.1),
    ("user", "Thanks. Please pin the exporter image to v2.3.1 in the compose file.", 72.2),
    ("assistant", "Done. The exporter image is pinned, and the backup job passes.", 72.3),
    ("user", "Which disk does the backup job use, and how big is the spare volume?", 96),
    ("assistant", "The spare volume has 80 GB, on the disk of the backup host in Tromso.", 96.1),
)
ALL = (SOURDOUGH, DEPLOY)


def iso(hours: float) -> str:
    """ISO 8601 in UTC of `hours` after MAY."""
    seconds = int(hours * 3600)
    day, rest = divmod(seconds + 14 * 3600, int(DAY))
    hour, rest = divmod(rest, 3600)
    return f"2025-05-{8 + day:02}T{hour:02}:{rest // 60:02}:{rest % 60:02}.000Z"


def chatgpt(chats: Iterable[Sequence[tuple[str, str, float]]] = ALL) -> list[dict[str, Any]]:
    """A list of conversations of ChatGPT, each with a system message and a branch not taken."""
    export = []
    for number, chat in enumerate(chats):
        mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
        parent = "root"
        for index, (role, text, hours) in enumerate([("system", "", 0.0), *chat]):
            message = {
                "author": {"role": role, "name": None},
                "create_time": MAY + hours * 3600,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
                "metadata": {},
            }
            node = {"id": f"n{index}", "message": message, "parent": parent}
            mapping[parent := f"n{index}"] = node
        mapping["old"] = {**mapping[parent], "id": "old"}
        head = {"title": f"chat {number}", "create_time": MAY}
        export.append({**head, "mapping": mapping, "current_node": parent})
    return export


def claude(chats: Iterable[Sequence[tuple[str, str, float]]] = ALL) -> list[dict[str, Any]]:
    """A list of conversations of Claude, the assistant's messages in blocks."""
    export = []
    for chat in chats:
        messages: list[dict[str, Any]] = []
        for role, text, hours in chat:
            said = {"sender": "human", "text": text, "content": []}
            if role == "assistant":
                blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
                said = {"sender": role, "text": "", "content": blocks}
            attached = [] if messages else [{"file_name": "a.txt"}]
            messages.append({**said, "created_at": iso(hours), "attachments": attached})
        export.append({"name": "chat", "created_at": iso(0), "chat_messages": messages})
    return export


def claude_code(
    chats: Iterable[Sequence[tuple[str, str, float]]] = ALL, cwd: str = "/home/ines/bakery"
) -> list[dict[str, Any]]:
    """Lines of Claude Code, a session a chat, with a tool call and its result after each answer."""
    lines: list[dict[str, Any]] = []
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "a very long list"}
    for number, chat in enumerate(chats):
        for index, (role, text, hours) in enumerate(chat):
            contents: list[tuple[str, Any]] = [(role, text)]
            if role == "assistant":
                contents = [(role, [{"type": "text", "text": text}, call]), ("user", [result])]
            for end, (by, content) in zip(("", "r"), contents, strict=False):
                line = {"uuid": f"{number}-{index}{end}", "sessionId": f"s{number}", "cwd": cwd}
                line |= {"timestamp": iso(hours), "isSidechain": False, "type": by}
                lines.append({**line, "message": {"role": by, "content": content}})
    return [*lines, {"type": "summary", "summary": "Bread", "leafUuid": "x"}]


def codex(
    chat: Sequence[tuple[str, str, float]] = DEPLOY, cwd: str = "/home/ines/ops"
) -> list[dict[str, Any]]:
    """Lines of one rollout of Codex CLI."""
    meta = {"id": "r", "cwd": cwd, "cli_version": "0.46.0"}
    lines: list[dict[str, Any]] = [
        {"timestamp": iso(0), "type": "session_meta", "payload": meta},
        _item("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>", 0),
        _item("developer", "Follow the rules of the house.", 0),
    ]
    for role, text, hours in chat:
        lines.append(_item(role, text, hours))
        event = {"type": f"{role}_message", "message": text}
        lines.append({"timestamp": iso(hours), "type": "event_msg", "payload": event})
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    return [*lines, {"timestamp": iso(99), "type": "response_item", "payload": call}]


def _item(role: str, text: str, hours: float) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": iso(hours), "type": "response_item", "payload": payload}


def write_json(path: Path, value: Any) -> Path:
    """Write `value` as JSON; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    """Write `lines` as JSON lines; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_lines(path, lines)
    return path
