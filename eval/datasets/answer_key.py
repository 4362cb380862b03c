"""The answer key a data set is scored by: its own, one with errors corrected, or without them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.datasets.corrections import Correction, corrections, read_json
from eval.datasets.files import DATA, PROJECT, shared_folder
from eval.datasets.overlay import (
    Entry,
    Overlay,
    belongs,
    is_overlay,
    make_entries,
    read_overlay,
    sha256,
)
from eval.datasets.types import AnswerKey, KeyChange, Question, SourceFile
from memsys.errors import InputError

KEYS = ("original", "corrected", "excluded")
_STEM = "answer_key_errors"


@dataclass(frozen=True, slots=True)
class KeyReader:
    """What is known of a data set's key, ready to be put on its questions."""

    name: str
    where: str = ""  # the file that lists the errors, as messages name it
    overlay: SourceFile | None = None
    texts: SourceFile | None = None
    entries: Mapping[str, Entry] = field(default_factory=dict)
    correct: Mapping[str, Correction] = field(default_factory=dict)

    def applied(self, conversation: str, questions: Sequence[Question]) -> list[Question]:
        """All `questions` of a conversation under this key.

        Raises InputError naming the entry whose question is not there, or has another gold than
        the entry was written for.
        """
        known = {question.id: question for question in questions}
        for identity, entry in self.entries.items():
            if identity.rpartition("/")[0] != conversation:
                continue
            if identity not in known:
                raise self._misfit(identity, "the data set has no such question")
            if sha256(known[identity].gold) != entry.golden_sha256:
                raise self._misfit(identity, "its golden answer is not the data set's")
        return [self._changed(question) for question in questions]

    def check_conversations(self, conversations: Sequence[str]) -> None:
        """Raises InputError naming the first entry whose conversation is none of these."""
        for identity in self.entries:
            if identity.rpartition("/")[0] not in conversations:
                raise self._misfit(identity, "the data set has no such conversation")

    def described(self, questions: Sequence[Question]) -> AnswerKey:
        """What is kept of the key with the data set, for these questions of it."""
        wrong = tuple(
            question.id
            for question in questions
            if question.id in self.entries and self.entries[question.id].changes_score
        )
        return AnswerKey(self.name, self.overlay, self.texts, wrong)

    def _changed(self, question: Question) -> Question:
        entry = self.entries.get(question.id)
        if self.name == "original" or entry is None or not entry.changes_score:
            return question
        gold = None
        if self.name == "corrected":
            gold = entry.cut(self.correct[question.id].correct, question.gold)
            if gold is not None and question.gold is None:
                raise self._misfit(question.id, "a question of type 5 has no answer to correct")
            if gold is not None and gold == question.gold:
                return question  # the correction says that this answer stands
        change = KeyChange(
            "excluded" if gold is None else "corrected", entry.error_type, question.gold
        )
        return dataclasses.replace(question, gold=gold, key_change=change)

    def _misfit(self, identity: str, problem: str) -> InputError:
        return InputError(
            f"{self.where}: entry {identity}: {problem}; correct the entry, or load the file it "
            "was made for"
        )


def read_key(
    name: str, key_file: str | None, files: Sequence[SourceFile], conversations: Sequence[str]
) -> KeyReader:
    """The key `name` for a data set of these files and conversations, in the order of the file.

    The overlay is the one in data/overlays that belongs to the files, or `key_file`: an overlay, or
    the errors themselves. Where an overlay belongs to the files, a `key_file` of errors is the copy
    of its texts, and every one is checked by its hash. Raises InputError.
    """
    if name not in KEYS:
        raise InputError(f"dataset.key={name}: use {', '.join(KEYS)}")
    path = None if key_file is None else _found(key_file)
    overlay_path = path if path and is_overlay(read_json(path)[0]) else _own_overlay(files)
    if overlay_path is None:
        if path is not None:
            return _from_errors(name, path, conversations)
        if name == "original":
            return KeyReader(name)
        raise InputError(
            f"dataset.key={name}: no errors are known in {_names(files)}; list them in a file "
            "(data/README.md) and add dataset.key_file=..., or use dataset.key=original"
        )
    overlay = read_overlay(overlay_path)
    if not belongs(overlay, files):
        raise InputError(
            f"{overlay_path}: belongs to {_names(overlay.data)}, not to {_names(files)}; use the "
            "file it was made for, or make an overlay of this one by python -m eval.studies.overlay"
        )
    errors = path if path != overlay_path else None
    if errors is None and name == "corrected":
        errors = _texts(overlay, overlay_path)
    entries = {entry.id: entry for entry in overlay.entries}
    found: Mapping[str, Correction] = {}
    texts = None
    if errors is not None:
        value, texts = read_json(errors)
        found = corrections(errors, value, conversations)
        _check_texts(overlay, overlay_path, errors, found)
    key = KeyReader(name, str(overlay_path), overlay.file, texts, entries, found)
    key.check_conversations(conversations)
    return key


def _from_errors(name: str, path: Path, conversations: Sequence[str]) -> KeyReader:
    value, file = read_json(path)
    found = corrections(path, value, conversations)
    entries = {entry.id: entry for entry in make_entries(found.values())}
    key = KeyReader(name, str(path), file, file, entries, found)
    key.check_conversations(conversations)
    return key


def _own_overlay(files: Sequence[SourceFile]) -> Path | None:
    """The overlay in data/overlays that belongs to these files, if there is one."""
    paths = sorted((DATA / "overlays").glob("*.json"))
    own = [path for path in paths if belongs(read_overlay(path), files)]
    if len(own) > 1:
        raise InputError(
            f"data/overlays: {own[0].name} and {own[1].name} belong to the same data; "
            "leave one there"
        )
    return own[0] if own else None


def _texts(overlay: Overlay, path: Path) -> Path:
    """The first file of corrected answers that is there; InputError says how to get one."""
    places = [
        path.parent / overlay.texts.name,
        DATA / f"{_STEM}.jsonl",
        DATA / f"{_STEM}.json",
        shared_folder() / "locomo" / f"{_STEM}.jsonl",
    ]
    for place in places:
        if place.is_file():
            return place
    raise InputError(
        f"dataset.key=corrected: the corrected answers are not here; {_remedy(overlay)}"
    )


def _check_texts(
    overlay: Overlay, where: Path, errors: Path, found: Mapping[str, Correction]
) -> None:
    known = {entry.id for entry in overlay.entries}
    unknown = [identity for identity in found if identity not in known]
    if unknown:
        raise InputError(f"{errors}: entry {unknown[0]} is not in {where}; {_remedy(overlay)}")
    for entry in overlay.entries:
        one = found.get(entry.id)
        if one is None or sha256(one.correct) != entry.correct_sha256:
            state = "missing" if one is None else "another than the one it was made of"
            raise InputError(
                f"{errors}: entry {entry.id} of {where.name}: its corrected answer is {state}; "
                f"{_remedy(overlay)}"
            )
        if isinstance(entry.gold, tuple) and entry.gold[-1][1] > len(one.correct or ""):
            raise InputError(f"{where}: entry {entry.id}: gold ends after the corrected answer")


def _remedy(overlay: Overlay) -> str:
    """Where the corrected answers are from, and where they belong."""
    of = f" at commit {overlay.commit}" if overlay.commit else ""
    return (
        f"get the errors of {overlay.source or overlay.texts.name}{of} and put them at "
        f"data/{_STEM}.json, or name your copy by dataset.key_file=...; dataset.key=excluded needs "
        "none"
    )


def _found(key_file: str) -> Path:
    given = Path(key_file).expanduser()
    for path in (Path.cwd() / given, PROJECT / given):
        if path.is_file():
            return path
    raise InputError(f"{key_file}: no such file; correct dataset.key_file")


def _names(files: Sequence[SourceFile]) -> str:
    return ", ".join(f"{file.name} (sha256 {file.sha256[:12]}...)" for file in files)
