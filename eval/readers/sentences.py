"""A memory's content cut into who said what, sentence by sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from eval.readers.morphology import roots

_LINE = re.compile(r"^(?P<speaker>[^:：\n]{1,40}?)\s*[:：]\s*(?P<text>.*)$", re.DOTALL)
_CAPTION = re.compile(r"\s*\[image: (?P<caption>.*?)\]\s*$", re.DOTALL)
_FRAME = re.compile(
    r"^(?:an? |the )?(?:close[- ]up )?(?:photo(?:graph(?:y)?)?|picture|image)s? (?:of|with) "
    r"(?:an? |the )?",
    re.IGNORECASE,
)
# After . ! ? and an optional closing quote, before a space and no lowercase letter; after 。！？
# without a space. "Dr." and single initials do not end a sentence.
_END = re.compile(
    r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bMrs)(?<!\bSt)(?<!\b[A-Z])[.!?]+[\"'”’)]*\s+(?=[^a-z\s])"
    r"|[。！？；]+[”’」』）]*|\n+"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, its speaker, its content roots, and whether it asks or captions an image."""

    text: str
    speaker: str
    roots: frozenset[str]
    asks: bool
    caption: bool


def _cut(text: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        parts.append(text[start : end.end()].strip())
        start = end.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


@lru_cache(maxsize=16_384)
def sentences(content: str, speaker: str) -> tuple[Sentence, ...]:
    """The sentences of a memory's content in order; lines are `Speaker: words [image: caption]`.

    A line without a speaker belongs to `speaker`, the memory's own.
    """
    found: list[Sentence] = []
    for line in content.split("\n"):
        caption = _CAPTION.search(line)
        spoken = line[: caption.start()] if caption else line
        head = _LINE.match(spoken)
        named = head is not None and len(head["speaker"].split()) <= 3
        who, said = (head["speaker"], head["text"]) if head and named else (speaker, spoken)
        found.extend(
            Sentence(
                part, who, roots(part), part.rstrip("\"'”’」』）").endswith(("?", "？")), False
            )
            for part in _cut(said)
        )
        if caption:
            text = _FRAME.sub("", caption["caption"].strip())
            found.append(Sentence(text, who, roots(text), False, True))
    return tuple(found)
