"""`python -m eval transcripts PATH`: your chats with an assistant as a data set.

Nothing leaves the machine: no model is called and no connection is opened.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.cli import check_out, code_of, parser
from eval.records.files import replacing
from eval.transcripts.formats import Export, Role
from eval.transcripts.importing import KNOWN, read_transcripts
from eval.transcripts.questions import RULES, Silver, questions
from memsys.core.errors import InputError, check_whole
from memsys.core.files import shown
from memsys.core.types import Conversation

FILE = "transcripts.json"
_IGNORED = b"*\n"
_STRATEGIES = ("bm25", "vector_only", "hybrid_rank", "fusion")


def main(arguments: Sequence[str] | None = None) -> int:
    """Import and write; return the exit code: 2 for bad input."""
    options = parser(
        "transcripts",
        "Make a data set of your own chats with an assistant: conversations in "
        "LoCoMo's layout and questions by rule. Everything stays on this machine; no "
        "model is called.",
    )
    add = options.add_argument
    add("path", type=Path, metavar="PATH", help=f"file, folder or zip archive: {KNOWN}")
    out = "folder to write (default: ./%(default)s)"
    add("--out", type=Path, default=Path("transcripts"), help=out)
    most = "at most N for each conversation (default: %(default)s)"
    add("--questions", type=int, default=100, metavar="N", help=most)
    add("--seed", type=int, default=0, help="of the choice of questions (default: %(default)s)")
    add("--user", default="User", metavar="NAME", help="your name (default: %(default)s)")
    add("--assistant", default="Assistant", metavar="NAME", help="its name (default: %(default)s)")
    last = "only the last N sessions of each conversation (default: all)"
    add("--sessions", type=int, metavar="N", help=last)
    longer = "longer messages become several turns (default: %(default)s)"
    add("--characters", type=int, default=800, metavar="N", help=longer)
    return code_of(lambda: _import(options.parse_args(arguments)))


def _import(options: argparse.Namespace) -> None:
    for name, least in (("questions", 1), ("sessions", 1), ("characters", 100)):
        if (value := getattr(options, name)) is not None:
            check_whole(f"--{name}", value, least)
    names: dict[Role, str] = {"user": options.user.strip(), "assistant": options.assistant.strip()}
    if "" in names.values() or names["user"].casefold() == names["assistant"].casefold():
        raise InputError("--user and --assistant: must be two different names")
    folder = _folder(options.out)
    export = read_transcripts(options.path, names, options.characters, options.sessions)
    asked = {
        conversation.id: questions(conversation, options.questions, options.seed)
        for conversation in export.conversations
    }
    if not any(asked.values()):
        raise InputError(
            f"{shown(options.path)}: too little text for a question; nothing is written. The rules "
            "are for English (see docs/transcripts.md)"
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / ".gitignore").write_bytes(_IGNORED)  # a private text is never committed
    with replacing(folder / FILE) as file:
        Path(file.name).chmod(0o600)
        mark = "[\n"
        for conversation in export.conversations:
            sample = _sample(conversation, asked[conversation.id])
            text = json.dumps(sample, ensure_ascii=False, indent=1)
            file.write(f"{mark}{text}".encode())
            mark = ",\n"
        file.write(b"\n]\n")
    _report(export, asked, folder)


def _folder(folder: Path) -> Path:
    """Return the folder to write; InputError if it is a file or has data of others."""
    check_out(folder)
    others = sorted(file.name for file in folder.glob("*.json") if file.name != FILE)
    if others:
        raise InputError(
            f"--out {shown(folder)}: has {shown(others[0])}, which a run would read, too; name "
            "another folder"
        )
    ignored = folder / ".gitignore"
    if ignored.exists() and not (ignored.is_file() and ignored.read_bytes() == _IGNORED):
        raise InputError(f"--out {shown(folder)}: has a .gitignore of its own; name another folder")
    return folder


def _report(export: Export, asked: Mapping[str, Sequence[Silver]], folder: Path) -> None:
    """Print what was read, left out and made, and the commands that come next."""
    conversations = export.conversations
    files = ", ".join(f"{count} of {name}" for name, count in export.formats.items())
    passed = len(export.passed_over)
    print(f"files: {files}" + (f"; {passed} of no known format passed over" if passed else ""))
    if export.unreadable:
        first, count = export.unreadable[0], len(export.unreadable)
        print(f"{count} not readable passed over: {first}{' ...' if count > 1 else ''}")
    sessions = [session for conversation in conversations for session in conversation.sessions]
    turns = sum(len(session.turns) for session in sessions)
    ids = ", ".join(shown(conversation.id, 40) for conversation in conversations[:8])
    print(
        f"{len(conversations)} conversations: {ids}"
        f"{' ...' if len(conversations) > 8 else ''}; {len(sessions):,} sessions, {turns:,} turns"
    )
    print(f"left out: {_counts(export.tally.dropped)}")
    print(f"changed: {_counts(export.tally.changed)}")
    counter = Counter(question.rule for rows in asked.values() for question in rows)
    by_rule = ", ".join(f"{rule} {counter[rule]}" for rule in RULES if counter[rule])
    print(f"{counter.total():,} questions by rule: {by_rule}")
    print(f"wrote {folder / FILE}, on this machine alone; compare strategies:")
    print(
        f"  python -m eval.run -m dataset=locomo dataset.path={folder} dataset.name=transcripts "
        f"strategy={','.join(_STRATEGIES)}"
    )
    print(f"  python -m eval compare {' '.join(_STRATEGIES)} --score ndcg@10")


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in counts.most_common() if n) or "nothing"


def _sample(conversation: Conversation, asked: Iterable[Silver]) -> dict[str, Any]:
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
    qa = [question.row() for question in asked]
    return {"sample_id": conversation.id, "conversation": fields, "qa": qa}


if __name__ == "__main__":
    sys.exit(main())
