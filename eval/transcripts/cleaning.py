"""Texts of messages as they are stored: secrets masked, code and blobs shortened, long ones split.

A text that looks like a key is masked even where it is none; a secret in words is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eval.transcripts.chats import Tally
from memsys.core.addresses import without_secrets

MASK = "[secret]"
_CODE_LINES = 20  # of a block of code that are kept
_KEYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"  # JSON web token
    r"|\b(?:sk|pk|rk)[-_][\w-]{16,}"
    r"|\bgh[opsru]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bnpm_\w{20,}|\bpypi-[\w-]{20,}"
    r"|\bhf_\w{20,}|\bxox[a-z]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bya29\.[\w-]{20,}"
    # A long word of capitals, small letters and digits: a key of any other kind.
    r"|(?<![\w/+.-])(?=[\w+-]*[a-z])(?=[\w+-]*[A-Z])(?=[\w+-]*\d)[\w+-]{32,}={0,2}(?![\w/]|\.\w)"
    # The same with slashes, of the length of a secret key of AWS; a path has fewer capitals.
    r"|(?<![\w/+.-])(?=[\w/+]*[a-z])(?=(?:[a-z\d/+]*[A-Z]){8})(?=[A-Za-z/+]*\d)"
    r"[A-Za-z\d/+]{40}(?![\w/+=-]|\.\w)",
    re.DOTALL,
)
_NAMED = re.compile(
    r"(?i)((?:pass(?:word|wd|phrase)?|secret|token|(?:api|access|secret|private|account)[_ -]?key)"
    r"(?:\*\*)?\\?[\"'`]?\s*[:=](?:\*\*)?\s*\\?[\"'`]?)(?!\[secret\])"
    r"(?:(?<=\")[^\"\n]{6,}?(?=\\?\")|(?<=')[^'\n]{6,}?(?=\\?')|[^\s\"'`,;]{6,})"
    r"|(\bbearer\s+|\bauthorization\W{1,5}(?:basic|token)\s+)(?!\[secret\])[^\s\"'@,;]{6,}"
    r"|(://[^\s/:@]*:)(?!\[secret\])[^\s\"',;/]+(?=@)"
)
_BLOB = re.compile(r"\S{200,}")
_FENCED = re.compile(r"(```[^\n]*\n)(.*?)(\n```|\Z)", re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n")


def cleaned(text: str, tally: Tally) -> str:
    """Return `text` without secrets, blobs and all but the first lines of long code; count these.

    Secrets are keys of known forms, values of fields named like one, and values of environment
    variables named like one.
    """
    text, keys = _KEYS.subn(MASK, text)
    text, named = _NAMED.subn(rf"\1\2\3{MASK}", text)
    known = without_secrets(text)
    tally.changed["secrets masked"] += keys + named + (known != text)
    text, blobs = _BLOB.subn("[...]", known)
    tally.changed["blobs removed"] += blobs

    def shorten(match: re.Match[str]) -> str:
        lines = match[2].split("\n")
        if len(lines) <= _CODE_LINES:
            return match[0]
        tally.changed["blocks of code shortened"] += 1
        rest = f"[{len(lines) - _CODE_LINES} more lines]"
        return match[1] + "\n".join([*lines[:_CODE_LINES], rest]) + match[3]

    return _FENCED.sub(shorten, text).strip()


def split(text: str, most: int) -> Iterator[str]:
    """Yield `text` in parts of at most `most` characters, divided between paragraphs, else between
    sentences, else between words.
    """
    part = ""
    for piece, joint in _pieces(text, most):
        if part and len(part) + len(joint) + len(piece) > most:
            yield part
            part = piece
        else:
            part = f"{part}{joint}{piece}" if part else piece
    if part:
        yield part


def _pieces(text: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield pieces of at most `most` characters with what joins each to the piece before."""
    for paragraph in filter(str.strip, _PARAGRAPH.split(text)):
        if len(paragraph) <= most:
            yield paragraph, "\n\n"
            continue
        joint = "\n\n"
        for sentence in filter(str.strip, _SENTENCE.split(paragraph)):
            words = [sentence] if len(sentence) <= most else sentence.split()
            for word in words:
                for start in range(0, len(word), most):
                    yield word[start : start + most], joint
                    joint = " "
            joint = "\n"
