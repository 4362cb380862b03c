"""The answer key that scores a data set: original, with known errors corrected, or excluded."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from eval.datasets.files import DATA, SHIPPED_DATA, find_file, shared_folder
from eval.datasets.overlays import (
    AnswerOverlay,
    Correction,
    Entries,
    Entry,
    corrections,
    find_overlay,
    is_overlay,
    make_entries,
    read_errors,
    read_overlay,
    sha256,
)
from eval.datasets.types import AnswerKey, KeyChange, Question, SourceFile
from memsys.core.errors import InputError, check_choice

FOLDER = SHIPPED_DATA / "overlays"
KEYS = ("original", "corrected", "excluded")
_STEM, _ENDINGS = "answer_key_errors", ("jsonl", "json")


@dataclass(frozen=True)
class KeyReader:
    """An answer key with its known errors, ready to be applied to questions.

    `of_any`: the errors are of no file in particular: one applies to a question with its id and its
    golden answer, and is ignored where there is none.
    """

    name: str
    errors: Entries[Entry] = field(default=Entries("", {}))
    overlay: SourceFile | None = None
    texts: SourceFile | None = None
    corrections: Mapping[str, Correction] = field(default_factory=dict)
    of_any: bool = False

    def apply(self, conversation: str, questions: Sequence[Question]) -> list[Question]:
        """Return all `questions` of a conversation under this key.

        Raises InputError naming the entry whose question does not exist, or has another gold answer
        than the entry was written for.
        """
        if not self.of_any:
            for entry, question in self.errors.matched(conversation, questions):
                if sha256(question.gold) != entry.golden_sha256:
                    problem = "its golden answer is not the data set's"
                    raise self.errors.mismatch(entry.id, problem)
        return [self._changed(question) for question in questions]

    def describe(self, questions: Sequence[Question]) -> AnswerKey:
        """Return the key's description for the loaded `questions`.

        That of the original key names no errors `of_any` that concern none of them: a later list
        of errors elsewhere then leaves the run's data as they are.
        """
        entries = {question.id: self._entry(question) for question in questions}
        wrong = tuple(id_ for id_, entry in entries.items() if entry and entry.changes_score)
        if self.of_any and self.name == "original" and not wrong:
            return AnswerKey()
        return AnswerKey(self.name, self.overlay, self.texts, wrong)

    def _entry(self, question: Question) -> Entry | None:
        entry = self.errors.by_id.get(question.id)
        other = self.of_any and entry and entry.golden_sha256 != sha256(question.original_gold)
        return None if other else entry

    def _changed(self, question: Question) -> Question:
        entry = self._entry(question)
        if self.name == "original" or entry is None or not entry.changes_score:
            return question
        gold = None
        if self.name == "corrected":
            gold = entry.cut(self.corrections[question.id].correct, question.gold)
            if gold is not None and question.gold is None:
                problem = "a question of type 5 has no answer to correct"
                raise self.errors.mismatch(question.id, problem)
            if gold is not None and gold == question.gold:
                return question  # the correction confirms this answer
        kind: Literal["excluded", "corrected"] = "excluded" if gold is None else "corrected"
        change = KeyChange(kind, entry.error_type, question.gold)
        return dataclasses.replace(question, gold=gold, key_change=change)


def read_key(
    name: str,
    key_file: str | None,
    files: Sequence[SourceFile],
    conversations: Sequence[str],
    of_any: Path | None = None,
) -> KeyReader:
    """Return the key `name` for a data set of these files and conversations, in file order.

    The overlay is `key_file` if that is one, else the one in data/overlays that matches the files.
    If there is an overlay, a `key_file` of errors provides its texts, and each text is checked by
    its hash; without an overlay, the errors are taken as listed. `of_any`: the overlay to use if
    there is neither, which names no file. Raises InputError if a file is missing or wrong.
    """
    check_choice("dataset.key", name, KEYS)
    path = None
    if key_file is not None:
        path = find_file(key_file)
        if path is None or not path.is_file():
            raise InputError(f"{key_file}: no such file; correct dataset.key_file")
    listed, file = read_errors(path) if path else (None, None)
    overlay_path = path if is_overlay(listed) else find_overlay(AnswerOverlay, FOLDER, files)
    if overlay_path is not None:
        key = _of_overlay(name, overlay_path, path, files, conversations)
    elif path is not None:
        errors = corrections(path, listed, conversations)
        key = KeyReader(name, _entries(path, make_entries(errors.values())), file, file, errors)
    elif of_any is not None:
        overlay, file = read_overlay(AnswerOverlay, of_any)
        if name == "corrected":
            raise InputError(
                f"dataset.key=corrected: {of_any.name} has no corrected answers; list them in a "
                "file (data/README.md) and add dataset.key_file=..., or use dataset.key=excluded"
            )
        key = KeyReader(name, _entries(of_any, overlay.entries), file, of_any=True)
    elif name == "original":
        key = KeyReader(name)
    else:
        raise InputError(
            f"dataset.key={name}: no errors are known in {_names(files)}; list them in a file "
            "(data/README.md) and add dataset.key_file=..., or use dataset.key=original"
        )
    if not key.of_any:
        key.errors.check_conversations(conversations)
    return key


def _entries(path: Path, entries: Sequence[Entry]) -> Entries[Entry]:
    return Entries(str(path), {entry.id: entry for entry in entries})


def _of_overlay(
    name: str,
    overlay_path: Path,
    path: Path | None,
    files: Sequence[SourceFile],
    conversations: Sequence[str],
) -> KeyReader:
    """Return the key of an overlay; `path`: the overlay itself, or the errors with its texts."""
    overlay, file = read_overlay(AnswerOverlay, overlay_path)
    if not overlay.data:
        raise InputError(f"{overlay_path}: names no data file; it cannot be a dataset.key_file")
    if not overlay.belongs(files):
        raise InputError(
            f"{overlay_path}: belongs to {_names(overlay.data)}, not to {_names(files)}; use "
            "the file it was made for, or make an overlay of this one by data/overlays/build.py"
        )
    errors_path = path if path != overlay_path else None
    if errors_path is None and name == "corrected":
        errors_path = _texts(overlay, overlay_path)
    errors: Mapping[str, Correction] = {}
    texts = None
    if errors_path is not None:
        value, texts = read_errors(errors_path)
        errors = corrections(errors_path, value, conversations)
        _check_texts(overlay, overlay_path, errors_path, errors)
    return KeyReader(name, _entries(overlay_path, overlay.entries), file, texts, errors)


def _texts(overlay: AnswerOverlay, path: Path) -> Path:
    """Return the first existing file of corrected answers; InputError says where to get one."""
    folder = shared_folder() / "locomo"
    names = (path.parent / overlay.texts.name, *(DATA / f"{_STEM}.{end}" for end in _ENDINGS))
    for candidate in (*names, folder / f"{_STEM}.jsonl"):
        if candidate.is_file():
            return candidate
    raise InputError(
        f"dataset.key=corrected: the corrected answers are not here; {_remedy(overlay)}"
    )


def _check_texts(
    overlay: AnswerOverlay, overlay_path: Path, errors_path: Path, errors: Mapping[str, Correction]
) -> None:
    """Raise InputError unless `errors` contain exactly the overlay's texts, by their hashes."""
    ids = {entry.id for entry in overlay.entries}
    unknown = [identity for identity in errors if identity not in ids]
    if unknown:
        raise InputError(
            f"{errors_path}: entry {unknown[0]} is not in {overlay_path}; {_remedy(overlay)}"
        )
    for entry in overlay.entries:
        error = errors.get(entry.id)
        if error is None or sha256(error.correct) != entry.correct_sha256:
            state = "missing" if error is None else "not the one the overlay was made of"
            raise InputError(
                f"{errors_path}: entry {entry.id} of {overlay_path.name}: its corrected answer is "
                f"{state}; {_remedy(overlay)}"
            )
        if isinstance(entry.gold, tuple) and entry.gold[-1][1] > len(error.correct or ""):
            raise InputError(
                f"{overlay_path}: entry {entry.id}: gold ends after the corrected answer"
            )


def _remedy(overlay: AnswerOverlay) -> str:
    version = f" at commit {overlay.commit}" if overlay.commit else ""
    return (
        f"get the errors of {overlay.source or overlay.texts.name}{version} and put them at "
        f"data/{_STEM}.json, or name your copy by dataset.key_file=...; dataset.key=excluded needs "
        "none"
    )


def _names(files: Sequence[SourceFile]) -> str:
    return ", ".join(f"{file.name} (sha256 {file.sha256[:12]}...)" for file in files)
