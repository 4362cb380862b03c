"""Parse a question: the kind of answer, the people, the dates and the language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import lru_cache

from eval.readers.dates import find_dates
from eval.readers.dates_zh import find_dates_zh
from eval.readers.morphology import LIGHT, root
from memsys.text.dates import DateMention
from memsys.text.terms import STOPWORDS, cjk_terms, is_cjk, words


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


_AUX = r"(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|might|may)"
_TIME = r"(?:year|month|week|day|date|season|weekend|holiday|time)"
_EN: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (Kind.WHEN, r"^(?:(?:in|on|at|around|during|by|since|until) )?"
                    rf"(?:when\b|(?:what|which) {_TIME}\b)"),
        (Kind.DURATION, r"\bhow long\b|\bhow many (?:years|months|weeks|days|hours|minutes)\b"),
        (Kind.OFTEN, r"\bhow (?:often|frequently)\b"),
        (Kind.COUNT, r"\bhow (?:many|much|old|far|tall)\b|\bwhat (?:number|age)\b"),
        (Kind.WHERE, r"^where\b|\b(?:what|which) (?:city|cities|country|countries|state|states|"
                     r"town|place|places|location|area|areas|region)\b|\bfrom where\b"),
        (Kind.WHO, r"\bwho(?:m|se)?\b(?=.*\?)|\b(?:what|which) (?:person|people|friend)\b"),
        (Kind.WHY, r"^why\b|\bwhat (?:was|is) the reason\b|\bwhat made\b|\bhow come\b"),
        (Kind.MOOD, r"^how (?:did|do|does|is|was) .*\b(?:feel|feeling|describe|react|respond)\b"
                    r"|\bwhat (?:is|was|were) .*\b(?:attitude|reaction|sentiment|mood)\b"
                    r"|\b(?:what|which) (?:emotions?|feelings?)\b"),
        (Kind.HOW, rf"^how {_AUX}\b|^in what way"),
        (Kind.CHOICE, rf"^{_AUX}\b.*\b\w+ or (?:a |an |the )?\w+"),
        (Kind.YES_NO, rf"^{_AUX}\b"),
    )
)  # fmt: skip
_ZH: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (Kind.OFTEN, "多久(?:一次|去|做|打|看|练|见)|几(?:天|周|个月)一次|每[周月年天]几次"),
        (Kind.DURATION, "多久|多长时间|(?:几|多少)(?:个月|个?星期|个?小时|年|周|天|分钟)"),
        (Kind.WHEN, "何时|什么时候|什么时间|哪一?[天年月周日]|哪个(?:月|星期|季节|周末)"
                    "|几月|几号|星期几|周几"),
        (Kind.COUNT, "多少|几(?![时月号乎点])|多大"),
        (Kind.WHERE, "哪里|哪儿|哪个(?:城市|国家|地方|省)|什么地方|何处|在哪"),
        (Kind.WHO, "谁|哪位|什么人"),
        (Kind.WHY, "为什么|为何|什么原因|怎么会"),
        (Kind.CHOICE, "还是"),
        (Kind.YES_NO, "吗|是否|是不是|有没有|会不会|能不能|要不要"),
    )
)  # fmt: skip
# Verbs and singulars in -s that follow "what" and name no plural.
_SINGULAR = (
    "makes|helps|motivates|inspires|brings|gives|drives|does|has|was|is|this|news|business|process|"
    "class|fitness|progress|status|bus"
)
_MANY = re.compile(
    r"\b(?:what|which)(?: (?!is\b|was\b|does\b|did\b|has\b|are\b)[\w'+-]+){0,2}?"
    rf" (?!(?:{_SINGULAR})\b)\w+(?<!s)s\b(?! name)|^where has\b|^what (?:has|have|are)\b"
    r"|^who are\b|\bboth\b|\bin what ways\b|哪些|有什么|都",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:would|likely|might|could|probably|potentially)\b|可能|会不会|大概", re.I
)
_SHOWN = re.compile(
    r"\b(?:photo|picture|pic|image|photograph|shows?|shared?)\b|照片|图片|图中|画面", re.IGNORECASE
)
_UNIT = re.compile(
    r"\bhow many (?P<en>[\w-]+(?: (?!(?:has|have|had|do|does|did|is|are|was|were|will|would|can|of|"
    r"in|on)\b)[\w-]+)*)|(?:多少|几)(?P<zh>[^\W\d多少几][^\W的了]?)",
    re.IGNORECASE,
)
_GRAIN = re.compile(
    r"(?P<day>\b(?:what|which) (?:day|date)\b|哪一?[天日]|几号)"
    r"|(?P<month>\b(?:what|which) month\b|哪一?个?月|几月(?!几))"
    r"|(?P<year>\b(?:what|which) year\b|哪一?年)",
    re.IGNORECASE,
)
_ZH_ASK = re.compile(
    "何时|什么时候|什么时间|什么|怎么样|怎么|怎样|哪一?[天年月周日里儿个些位]|多少|多久|多长时间|"
    "几[^\\W\\d_]|为什么|为何|是否|是不是|有没有|谁|吗|呢"
)


def _kind(text: str, chinese: bool) -> Kind:
    for kind, pattern in _ZH if chinese else _EN:
        if pattern.search(text):
            return kind
    return Kind.WHAT


def _unit(text: str, kind: Kind) -> str:
    """Return the noun counted, or the precision of the date asked for (day, month, year)."""
    if kind is Kind.WHEN:
        grain = _GRAIN.search(text)
        return next(name for name, hit in grain.groupdict().items() if hit) if grain else ""
    unit = _UNIT.search(text)
    return (unit["en"] or unit["zh"] or "").lower() if unit else ""


def named_people(text: str, speakers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the speakers that a text names, by full name, first name or nickname.

    A nickname is a capitalised beginning, of three letters or more, of the name: "Alex" of
    "Alexandra".
    """
    found = []
    for speaker in speakers:
        first = speaker.split()[0] if speaker.split() else speaker
        if is_cjk(speaker):
            hit = speaker in text or (len(speaker) > 2 and speaker[1:] in text)
        else:
            capitals = re.findall(r"\b[A-Z][a-z]{2,}", text)
            hit = any(first == word or first.startswith(word) for word in capitals)
        if hit:
            found.append(speaker)
    return tuple(found)


@lru_cache(maxsize=4_096)
def analyse(text: str, speakers: tuple[str, ...], asked_on: date) -> ParsedQuestion:
    """Parse a question. `speakers` are those of the retrieved memories, `asked_on` their last day.

    A month without a year in the question is taken nearest to `asked_on`.
    """
    chinese = is_cjk(text)
    people = named_people(text, speakers)
    dates = find_dates_zh(text, asked_on) if chinese else find_dates(text, asked_on)
    dates = tuple(m for m in dates if m.period.precision != "since")
    bare = text
    for mention in dates:
        bare = bare[: mention.start] + " " * (mention.end - mention.start) + bare[mention.end :]
    content: set[str] = set()
    if chinese:
        bare = _ZH_ASK.sub(" ", bare)
        for person in people:
            bare = bare.replace(person, " ")
    called = {part.lower() for person in people for part in person.split()}
    for word in words(bare):
        if is_cjk(word):
            content.update(cjk_terms(word))
        elif word not in STOPWORDS and word not in LIGHT:
            plain = word.removesuffix("'s")
            nick = len(plain) > 2 and any(name.startswith(plain) for name in called)
            if not nick:
                content.add(root(word))
    kind = _kind(text, chinese)
    return ParsedQuestion(
        text=text,
        chinese=chinese,
        kind=kind,
        people=people,
        roots=frozenset(content),
        dates=dates,
        unit=_unit(text, kind),
        many=_MANY.search(text) is not None,
        hedged=_HEDGED.search(text) is not None,
        shown=_SHOWN.search(text) is not None,
    )
