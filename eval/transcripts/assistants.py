"""Exports of chat assistants: a list of conversations, of ChatGPT or of Claude."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from eval.datasets.checks import Location, parse
from eval.transcripts.chats import Chat, Message, Role, Tally, iso, seconds

_CITATION = re.compile("\ue200.*?\ue201|【\\d+[^】]{0,40}】", re.DOTALL)  # marks of web search


def chatgpt(raw: Mapping[str, Any], where: Location, tally: Tally) -> Chat | None:
    """Return a conversation of ChatGPT's conversations.json: the branch that ends in
    `current_node`; None where that is missing.

    `mapping` is a tree of nodes with `parent` and `message`; other branches are answers that were
    generated again and questions that were edited.
    """
    nodes = parse(dict, raw.get("mapping"), where, "mapping")
    chat = Chat("chatgpt", seconds(raw.get("create_time"), where, "create_time"))
    last = raw.get("current_node")
    if last is None:
        tally.dropped["chats without current_node"] += 1
        return None
    branch: dict[str, dict[str, Any]] = {}
    while last is not None and last not in branch:
        if not isinstance(last, str) or last not in nodes:
            raise where.error("current_node", f"{last!r:.60} or a parent of it is not in mapping")
        branch[last] = parse(dict, nodes[last], where, f"mapping.{last}")
        last = branch[last].get("parent")
    others = sum(1 for node in nodes if node not in branch)
    tally.dropped["messages of other branches"] += others
    for id_, node in reversed(branch.items()):
        if node.get("message") is not None:
            field = f"mapping.{id_}.message"
            message = parse(dict, node["message"], where, field)
            chat.messages += _of_chatgpt(message, where, field, tally)
    return chat


def _of_chatgpt(
    message: Mapping[str, Any], where: Location, field: str, tally: Tally
) -> list[Message]:
    """Return the message, or nothing where it is none of user or assistant to the other."""
    author = parse(dict, message.get("author"), where, f"{field}.author").get("role")
    role = _role(author, {"user": "user", "assistant": "assistant"})
    metadata = message.get("metadata") or {}
    if role is None:
        tally.dropped[f"{author} messages"[:40]] += 1
        return []
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        tally.dropped["hidden messages"] += 1
        return []
    if message.get("recipient") not in (None, "all"):
        tally.dropped["tool calls"] += 1
        return []
    if message.get("content") is None:
        return []
    content = parse(dict, message["content"], where, f"{field}.content")
    kind = content.get("content_type")
    if kind not in ("text", "multimodal_text"):
        tally.dropped[f"{kind} contents"[:40]] += 1
        return []
    texts: list[str] = []
    for part in parse(list, content.get("parts"), where, f"{field}.content.parts"):
        spoken = isinstance(part, dict) and part.get("content_type") == "audio_transcription"
        text = part.get("text") if spoken else part
        if isinstance(text, str):
            texts.append(_CITATION.sub("", text))
        else:
            tally.dropped["images and other attachments"] += 1
    time = seconds(message.get("create_time"), where, f"{field}.create_time")
    return [Message(role, "\n\n".join(texts), time)]


def claude(raw: Mapping[str, Any], where: Location, tally: Tally) -> Chat:
    """Return a conversation of Claude's conversations.json."""
    chat = Chat("claude", iso(raw.get("created_at"), where, "created_at"))
    rows = parse(list, raw.get("chat_messages"), where, "chat_messages")
    for index, row in enumerate(rows):
        field = f"chat_messages[{index}]"
        message = parse(dict, row, where, field)
        role = _role(message.get("sender"), {"human": "user", "assistant": "assistant"})
        if role is None:
            raise where.error(f"{field}.sender", "must be human or assistant")
        for name in ("attachments", "files"):
            tally.dropped["attachments"] += len(message.get(name) or ())
        text = message.get("text") or ""
        if message.get("content"):
            text = text_of(message["content"], where, f"{field}.content", tally)
        elif not isinstance(text, str):
            raise where.error(f"{field}.text", "must be a text")
        time = iso(message.get("created_at"), where, f"{field}.created_at")
        chat.messages.append(Message(role, text, time))
    return chat


def text_of(
    content: Any, where: Location, field: str, tally: Tally, texts: tuple[str, ...] = ("text",)
) -> str:
    """Return the text of a message's content: a text, or a list of blocks of which those of the
    types `texts` are text and others are counted as dropped.
    """
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for index, row in enumerate(parse(list, content, where, field)):
        block = parse(dict, row, where, f"{field}[{index}]")
        if block.get("type") not in texts:
            tally.dropped[f"{block.get('type')} blocks"[:40]] += 1
        elif isinstance(block.get("text"), str):
            parts.append(block["text"])
        else:
            raise where.error(f"{field}[{index}].text", "must be a text")
    return "\n\n".join(parts)


def _role(value: Any, roles: Mapping[str, Role]) -> Role | None:
    return roles.get(value) if isinstance(value, str) else None
