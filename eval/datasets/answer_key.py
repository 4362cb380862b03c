"""The answer key that scores a data set: original, with known errors corrected, or excluded."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from eval.datasets.files import DATA, SHIPPED_DATA, find_path, shared_folder
from eval.datasets.overlays import (
    CITATION_ONLY,
    AnswerOverlay,
    Entries,
    Entry,
    corrections,
    find_overlay,
    is_overlay,
    read_errors,
    read_overlay,
    sha256,
)
from eval.datasets.types import AnswerKey, KeyChange, Question, SourceFile
from memsys.core.errors import InputError

FOLDER = SHIPPED_DATA / "overlays"
KeyName = Literal["original", "corrected", "excluded"]
KEYS: tuple[str, ...] = get_args(KeyName)
_STEM = "answer_key_errors"


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
    of_any: bool = False

    def apply(self, conversation: str, questions: Sequence[Question]) -> list[Question]:
        """Return all `questions` of a conversation under this key.

        Raises InputError naming the entry whose question does not exist, or has another gold answer
        than the entry was written for.
        """
        if not self.of_any:
            for entry, question in self.errors.matched(conversation, questions):
                fits = sha256(question.gold) == entry.golden_sha256
                self.errors.check(entry.id, "its golden answer is not the data set's", fits=fits)
        if self.name == "original":
            return [*questions]
        return [self._changed(question) for question in questions]

    def describe(self, questions: Sequence[Question]) -> AnswerKey:
        """Return the key's description for the loaded `questions`.

        That of the original key names no errors `of_any` that concern none of them: a later list
        of errors elsewhere then leaves the run's data as they are.
        """
        wrong = tuple(question.id for question in questions if self._error(question))
        if self.of_any and self.name == "original" and not wrong:
            return AnswerKey()
        return AnswerKey(self.name, self.overlay, self.texts, wrong)

    def _error(self, question: Question) -> Entry | None:
        """Return the entry for a question whose gold answer is wrong, else None."""
        entry = self.errors.by_id.get(question.id)
        if entry is None or entry.error_type == CITATION_ONLY:
            return None
        other = self.of_any and entry.golden_sha256 != sha256(question.original_gold)
        return None if other else entry

    def _changed(self, question: Question) -> Question:
        if (entry := self._error(question)) is None:
            return question
        gold = None
        if self.name == "corrected":
            gold = entry.cut(question.gold)
            fits = gold is None or question.gold is not None
            self.errors.check(
                question.id, "a question of type 5 has no answer to correct", fits=fits
            )
            if gold is not None and gold == question.gold:
                return question  # the correction confirms this answer
        kind: Literal["excluded", "corrected"] = "excluded" if gold is None else "corrected"
        change = KeyChange(kind, entry.error_type, question.gold)
        return replace(question, gold=gold, key_change=change)


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
    remedy = "correct dataset.key_file"
    path = None if key_file is None else find_path(key_file, remedy, kind="file")
    listed, file = read_errors(path) if path else (None, None)
    if is_overlay(listed):
        overlay_path, path = path, None
    else:
        overlay_path = find_overlay(AnswerOverlay, FOLDER, files) or (None if path else of_any)
    if overlay_path is not None:
        key = _of_overlay(name, overlay_path, path, files, conversations)
    elif path is not None:
        errors = corrections(path, listed, conversations)
        key = KeyReader(name, Entries(str(path), errors), file, file)
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


def _of_overlay(
    name: str,
    overlay_path: Path,
    path: Path | None,
    files: Sequence[SourceFile],
    conversations: Sequence[str],
) -> KeyReader:
    """Return the key of an overlay; `path`: the errors with its texts, None to look for them."""
    overlay, file = read_overlay(AnswerOverlay, overlay_path)
    if overlay.data and not overlay.belongs(files):
        raise InputError(
            f"{overlay_path}: belongs to {_names(overlay.data)}, not to {_names(files)}; use "
            "the file it was made for, or make an overlay of this one by data/overlays/build.py"
        )
    if path is None and name == "corrected":
        path = _path_of_texts(overlay, overlay_path)
    entries, texts = {entry.id: entry for entry in overlay.entries}, None
    if path is not None:
        value, texts = read_errors(path)
        errors = corrections(path, value, conversations)
        given = {id_: error.correct_sha256 for id_, error in errors.items()}
        hashes = {id_: entry.correct_sha256 for id_, entry in entries.items()}
        if other := [id_ for id_ in hashes | given if given.get(id_, "") != hashes.get(id_, "")]:
            raise InputError(
                f"{path}: entry {other[0]}: its corrected answer is not that of "
                f"{overlay_path.name}; {_remedy(overlay)}"
            )
        entries = {id_: replace(old, correct=errors[id_].correct) for id_, old in entries.items()}
    of_any = not overlay.data
    return KeyReader(name, Entries(str(overlay_path), entries), file, texts, of_any=of_any)


def _path_of_texts(overlay: AnswerOverlay, path: Path) -> Path:
    """Return the first existing file of corrected answers; InputError says where to get one."""
    if not overlay.data:
        raise InputError(
            f"dataset.key=corrected: {path.name} has no corrected answers; list them in a "
            "file (data/README.md) and add dataset.key_file=..., or use dataset.key=excluded"
        )
    names = (path.parent / overlay.texts.name, DATA / f"{_STEM}.jsonl", DATA / f"{_STEM}.json")
    for candidate in (*names, shared_folder() / "locomo" / f"{_STEM}.jsonl"):
        if candidate.is_file():
            return candidate
    raise InputError(
        f"dataset.key=corrected: the corrected answers are not here; {_remedy(overlay)}"
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
