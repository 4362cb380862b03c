"""Parsed questions (kind of answer, people, dates, language) and sentences of memories.

Their words are compared by roots: "bought" matches "did she buy".
"""

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from memsys.core.chinese_dates import dates_of
from memsys.core.dates import DateMention
from memsys.core.terms import STOPWORDS, cjk_terms, is_cjk, stem, words, written
from memsys.core.yaml_text import load_table

WORDS = load_table(Path(__file__).parent / "words.yaml")
_BASE = {
    form: entry.split()[0] for entry in WORDS["forms"].split(";") for form in entry.split()[1:]
}
LIGHT = frozenset(WORDS["light"].split())

SENTENCES = load_table(Path(__file__).parent / "sentences.yaml")
_LINE, _CAPTION, _FRAME, _YOU, _END = (
    re.compile(SENTENCES[name]) for name in ("line", "caption", "frame", "you", "end")
)


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Return the stem of the base form of a lowercase English word."""
    word = word.removesuffix("'s")
    return stem(_BASE.get(word, word))


@lru_cache(maxsize=65_536)
def roots(text: str) -> frozenset[str]:
    """Return the distinct content roots of a text: base-form stems, or bigrams of Chinese runs."""
    if text.isascii():  # then the words in lower case are those of the text in lower case
        return frozenset(map(root, set(written(text.lower())) - STOPWORDS))
    return _roots_of(set(words(text)) - STOPWORDS)


def _roots_of(terms: set[str]) -> frozenset[str]:
    runs = set(filter(is_cjk, terms))
    return frozenset([*map(root, terms - runs), *chain.from_iterable(map(cjk_terms, runs))])


def is_light(word: str) -> bool:
    """Return whether a lowercase word has no content."""
    return word in STOPWORDS or word in LIGHT or (len(word) == 1 and not word.isdigit())


class Sentence(NamedTuple):
    """One sentence, its speaker and its content roots.

    `asks`: it is a question; `caption`: it describes an image; `addresses`: it contains "you".
    """

    text: str
    speaker: str
    roots: frozenset[str]
    asks: bool
    caption: bool
    addresses: bool


def _cut(text: str) -> list[str]:
    ends = [0, *(end.end() for end in _END.finditer(text)), len(text)]
    return [part for start, end in pairwise(ends) if (part := text[start:end].strip())]


def _addresses(text: str) -> bool:
    """Return whether `text` contains a form of "you"."""
    return ("you" in text.lower() or "你" in text) and _YOU.search(text) is not None


def _is_name(text: str) -> bool:
    """Return whether `text` may name a speaker: up to three capitalised words, or Chinese."""
    parts = text.split()
    return len(parts) <= 3 and all(p[0].isupper() or is_cjk(p) for p in parts) and "'" not in text


@lru_cache(maxsize=16_384)
def roots_by_speaker(
    content: str, speaker: str
) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """Return by speaker the content roots of all sentences of a memory, and those of claims.

    Sentences that ask or that address the listener are no claims about the speaker.
    """
    by_speaker: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    nothing = frozenset[str]()
    for sentence in sentences(content, speaker):
        everything, claimed = by_speaker.get(sentence.speaker, (nothing, nothing))
        is_claim = not (sentence.asks or sentence.addresses)
        whole = everything | sentence.roots
        if is_claim and claimed == everything:
            claimed = whole  # mostly: then both are one object
        elif is_claim:
            claimed = claimed | sentence.roots
        by_speaker[sentence.speaker] = whole, claimed
    return by_speaker


@lru_cache(maxsize=16_384)
def sentences(content: str, speaker: str) -> tuple[Sentence, ...]:
    """Return the sentences of a memory's content in order.

    Lines have the form `Speaker: words [image: caption]`. A line without a speaker belongs to
    `speaker`, that of the memory.
    """
    all_sentences: list[Sentence] = []
    for line in content.split("\n"):
        caption = _CAPTION.search(line) if line.rstrip().endswith("]") else None
        spoken = line[: caption.start()] if caption else line
        head = _LINE.match(spoken)
        named = head is not None and _is_name(head["speaker"])
        who, speech = (head["speaker"], head["text"]) if head and named else (speaker, spoken)
        for part in _cut(speech):
            asks = part.rstrip("\"'”’」』）").endswith(("?", "？"))
            all_sentences.append(Sentence(part, who, roots(part), asks, False, _addresses(part)))
        if caption:
            text = _FRAME.sub("", caption["caption"].strip())
            all_sentences.append(Sentence(text, who, roots(text), False, True, False))
    return tuple(all_sentences)


class Kind(Enum):
    """Kind of answer that a question asks for."""

    WHEN = "when"
    DURATION = "duration"
    COUNT = "count"
    OFTEN = "often"
    WHO = "who"
    WHERE = "where"
    WHY = "why"
    HOW = "how"
    MOOD = "mood"
    CHOICE = "choice"
    YES_NO = "yes_no"
    WHAT = "what"


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question as the reader sees it.

    `people` are the speakers that it names; `roots` its content roots without them and without its
    dates; `unit` is the noun counted or the precision of the date asked for (day, month, year), ""
    if there is none. `many`: a list is asked for; `hedged`: a likelihood; `shown`: an image.
    """

    text: str
    chinese: bool
    kind: Kind
    people: tuple[str, ...]
    roots: frozenset[str]
    dates: tuple[DateMention, ...]
    unit: str
    many: bool
    hedged: bool
    shown: bool


_TABLE = load_table(Path(__file__).parent / "question.yaml")
_KINDS = {
    chinese: [(Kind(kind), re.compile(pattern, re.IGNORECASE)) for kind, pattern in table.items()]
    for chinese, table in ((False, _TABLE["english"]), (True, _TABLE["chinese"]))
}
_MANY, _HEDGED, _SHOWN, _UNIT, _GRAIN, _ASKING_ZH = (
    re.compile(_TABLE[name], re.IGNORECASE)
    for name in ("many", "hedged", "shown", "unit", "grain", "asking_zh")
)


def _unit(text: str, kind: Kind) -> str:
    """Return the noun counted, or the precision of the date asked for (day, month, year)."""
    if kind is Kind.WHEN:
        grain = _GRAIN.search(text)
        return next(name for name, hit in grain.groupdict().items() if hit) if grain else ""
    unit = _UNIT.search(text)
    return (unit["en"] or unit["zh"] or "").lower() if unit else ""


@lru_cache(maxsize=16_384)
def _capitalised(text: str) -> frozenset[str]:
    """Return the words of three letters or more that may be names or nicknames."""
    return frozenset(re.findall(r"\b[A-Z][a-z]{2,}", text))


def named_people(text: str, speakers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the speakers that a text names, by full name, first name or nickname.

    A nickname is a capitalised beginning, of three letters or more, of the name: "Alex" of
    "Alexandra".
    """
    people = []
    for speaker in speakers:
        first = speaker.split()[0] if speaker.split() else speaker
        if is_cjk(speaker):
            hit = speaker in text or (len(speaker) > 2 and speaker[1:] in text)
        else:
            hit = first.startswith(tuple(_capitalised(text)))
        if hit:
            people.append(speaker)
    return tuple(people)


@lru_cache(maxsize=4_096)
def analyse(text: str, speakers: tuple[str, ...], asked_on: date) -> ParsedQuestion:
    """Parse a question. `speakers` are those of the retrieved memories, `asked_on` their last day.

    A month without a year in the question is taken nearest to `asked_on`.
    """
    chinese = is_cjk(text)
    people = named_people(text, speakers)
    dates = tuple(m for m in dates_of(text, asked_on) if m.period.precision != "since")
    bare = text
    for mention in dates:
        bare = bare[: mention.start] + " " * (mention.end - mention.start) + bare[mention.end :]
    if chinese:
        bare = _ASKING_ZH.sub(" ", bare)
        for person in people:
            bare = bare.replace(person, " ")
    called = {part.lower() for person in people for part in person.split()}
    nicknames = {name[:end] for name in called for end in range(3, len(name) + 1)}
    asked = set(words(bare)) - STOPWORDS - LIGHT
    asked -= {word for word in asked if not is_cjk(word) and word.removesuffix("'s") in nicknames}
    kinds = (kind for kind, pattern in _KINDS[chinese] if pattern.search(text))
    kind = next(kinds, Kind.WHAT)
    return ParsedQuestion(
        text=text,
        chinese=chinese,
        kind=kind,
        people=people,
        roots=_roots_of(asked),
        dates=dates,
        unit=_unit(text, kind),
        many=_MANY.search(text) is not None,
        hedged=_HEDGED.search(text) is not None,
        shown=_SHOWN.search(text) is not None,
    )
