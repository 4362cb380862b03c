"""The LoCoMo layout of conversations and questions, as dataset=locomo reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eval.transcripts.questions import Silver
from memsys.core.types import Conversation


def sample(conversation: Conversation, asked: Iterable[Silver]) -> dict[str, Any]:
    """Return a sample of LoCoMo's layout; sessions are numbered from 1."""
    first, *others = conversation.speakers
    fields: dict[str, Any] = {"speaker_a": first, "speaker_b": others[0] if others else ""}
    for number, session in enumerate(conversation.sessions, 1):
        fields[f"session_{number}_date_time"] = session.time.isoformat(" ", "minutes")
        fields[f"session_{number}"] = [
            {"speaker": turn.speaker, "dia_id": turn.id, "text": turn.text}
            | ({"blip_caption": turn.caption} if turn.caption else {})
            for turn in session.turns
        ]
    qa = [one.row() for one in asked]
    return {"sample_id": conversation.id, "conversation": fields, "qa": qa}


def write(path: Path, samples: Iterable[dict[str, Any]]) -> None:
    """Write `samples` to `path`, a conversation at a time, in place of what was there. Only the
    user can read the file.
    """
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        part.chmod(0o600)
        mark = "[\n"
        for one in samples:
            file.write(mark)
            json.dump(one, file, ensure_ascii=False, indent=1)
            mark = ",\n"
        file.write("\n]\n")
    part.replace(path)
