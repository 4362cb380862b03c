"""Weight of each token of an English sentence, and of each character of a Chinese one.

The answer is the stretch of a sentence with the greatest sum of weights (`eval.readers.spans`).
New content words weigh most near (and best after) words of the question, and more where they are
of the type asked for; function words and punctuation weigh below 0. Chinese needs no word list of
its content: function characters, small talk and the bigrams of the question show where an answer
begins and ends. Constants and English word lists were set by hand on five of the ten LoCoMo
conversations (26, 30, 41, 42, 43), so results on those five favour the reader; only the ratios of
the constants matter.
"""

from __future__ import annotations

import re

from eval.readers.morphology import COMMON, FILLERS, is_light, root
from eval.readers.question import Kind, ParsedQuestion

TOKEN = re.compile(r"[^\W_]+(?:['’\-+][^\W_]+)*\+?|[^\w\s]")
TOKEN_ZH = re.compile(r"[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*|\S")

COST = 0.18  # subtracted from every token, so that only informative words lengthen an answer
CLAUSE_COST = 0.08  # the same where a clause is asked for: why, how
MOOD = 1.0  # a word of feeling or judgement where one is asked for
ASKED = 0.05  # a word of the question itself, less its cost
AFTER = 0.92  # share left with each token between a word of the question and one after it
BEFORE = 0.9
FLOOR = 0.3  # weight of a new word at any distance from the words of the question
ALONE = 0.45  # the same in a sentence without a word of the question
COMMON_SHARE = 0.3
FILLER_SHARE = 0.1
TYPED = 0.8
SOFT = -0.2  # comma, quotation mark
HARD = -3.0  # any other punctuation ends an answer
_KIN = frozenset(
    """aunt boyfriend brother colleague cousin coworker daughter family friend girlfriend
    grandfather grandma grandmother grandpa husband mentor mom mother dad father neighbor
    nephew niece parents partner sister son teacher teammates uncle wife boss coach team""".split()
)
_MOODS = frozenset(
    """afraid alive amazed amazing anxious appreciative appreciated ashamed awe awesome awestruck
    awful bad beautiful best better bored brave breathtaking calm calming cathartic
    challenging comfortable comforting concerned confident content cool crazy curious
    delighted determined difficult disappointed dope down eager easy electric emotional
    empowered empowering encouraged energized enjoyable enlightening enthusiastic epic excited
    exciting exhausted fantastic fearful free frustrated frustrating fulfilled fulfilling fun
    glad good grateful great guilty happy hard heartbroken heartbreaking heartwarming helpless
    hopeful huge humbled humbling hurt incredible inspired inspiring intense intimidated
    invigorated invincible joyful joy lonely lost love loved lucky mad magical meaningful
    motivated nervous nice nostalgic optimistic overwhelmed passionate peace peaceful perfect
    playful pleased positive powerful pride proud pumped refreshed refreshing relaxed relaxing
    relief relieved rewarding rough sad safe satisfied satisfying scared scary shocked sorry
    special spectacular stoked strange stressed stressful strong stuck stunned stunning
    supportive surprised surreal sweet terrible terrified thankful thrilled thrilling tired
    touched tough uneasy unforgettable uplifted upset warm weird wild wonderful worried""".split()
)
# Words that open the clause of a reason, a way or a feeling.
_OPENERS = {
    Kind.WHY: frozenset("because cause 'cause since so to for reason reminds helps".split()),
    Kind.HOW: frozenset("by with through using to started".split()),
    Kind.MOOD: frozenset("feel feels felt feeling was is it's i'm were been being so".split()),
}
_NAMED = re.compile(
    r"\b(?:name|names|named|called|titled?|book|movie|film|song|band|artist|author|game|series|show|"
    r"team|brand|company|character|singer|language|musician)s?\b",
    re.IGNORECASE,
)


# Chinese, by characters.
ZH_NEW = 0.5
ZH_COST = 0.1
ZH_ASKED = -0.15  # a character of the question
ZH_LIGHT = -0.25  # a function character
ZH_AFTER = 0.95
ZH_BEFORE = 0.93
ZH_TYPED = 0.5
ZH_PAUSE = -0.15  # the comma of a list
_ZH_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ZH_FUNCTION_CHARACTERS = frozenset(
    "的了是在和有吗呢吧啊呀哦嗯也都就还又很我你他她它们这那个么着过给把被让跟去来到说要会能可上下得地叫只全才再并而与"
)
_ZH_SMALL_TALK = re.compile(
    "真的|哈哈+|觉得|其实|不过|但是|所以|然后|结果|居然|终于|已经|刚刚|刚才|今天|昨天|明天|前天|后来|现在|那天|"
    "当然|可能|应该|一直|特别|非常|有点|一下|一起|知道|时候|恭喜|谢谢|加油|太好|厉害|开心|高兴|喜欢|没有|"
    "不是|就是|还是|只是|自己|我们|你们|他们|什么|怎么|因为|如果|虽然|第一|上[周个]|下[周个]|去年|今年|明年"
)
_ZH_PLACE = re.compile(r"(?:在|去|到|从|回|往|住)(?P<place>[^\W\d_]{2,4})")
_ZH_QUANTITY = re.compile(r"[\d一二两三四五六七八九十百千万半]+[^\W\d_]?")


def _near(matched: list[bool], after: float, before: float) -> list[float]:
    """Return for each token its nearness, 0 to 1, to a word of the question.

    `after` and `before`: share of the nearness left with each token of distance.
    """
    if not any(matched):
        return [ALONE] * len(matched)
    near = [FLOOR] * len(matched)
    for order, decay in ((range(len(matched)), after), (reversed(range(len(matched))), before)):
        last = 0.0
        for i in order:
            last = 1.0 if matched[i] else last * decay
            near[i] = max(near[i], last)
    return near


def _type_bonus(question: ParsedQuestion, tokens: list[str], i: int) -> float:
    """Return the extra weight of token `i` where it may be of the type asked for."""
    word = tokens[i]
    inside = i > 0 and (tokens[i - 1].isalnum() or tokens[i - 1] in ",&'\"“")
    capital = tokens[i][0].isupper() and inside
    if question.kind is Kind.WHO:
        return TYPED if capital or word.lower() in _KIN else 0.0
    if question.kind is Kind.WHERE:
        before = {t.lower() for t in tokens[max(0, i - 3) : i]}
        placed = before & {"in", "at", "to", "from", "near", "around", "through"}
        return TYPED * (0.7 * capital + 0.5 * bool(placed))
    if question.kind is Kind.COUNT:
        return TYPED * word[0].isdigit()
    if _NAMED.search(question.text):
        return TYPED * capital
    return 0.0


def token_weights(
    question: ParsedQuestion, tokens: list[str], names: frozenset[str]
) -> list[float]:
    """Return a weight for each match of `TOKEN`.

    `names`, the lowercase names of the speakers, weigh nothing unless a person is asked for.
    """
    rooted = [root(t.lower()) if t[0].isalnum() else "" for t in tokens]
    openers = _OPENERS.get(question.kind, frozenset())
    opened = [word.lower() in openers for word in tokens]
    matched = [r in question.roots or o for r, o in zip(rooted, opened, strict=True)]
    near = _near(matched, AFTER, BEFORE)
    mood = question.kind is Kind.MOOD
    cost = CLAUSE_COST if question.kind in (Kind.WHY, Kind.HOW) else COST
    weights = []
    for i, word in enumerate(tokens):
        low = word.lower()
        if not word[0].isalnum():
            weights.append(SOFT if word in ",'‘’&/" else HARD)
        elif mood and low in _MOODS:
            weights.append(MOOD)
        elif rooted[i] in question.roots:
            weights.append(ASKED - cost)
        elif is_light(low) or (low in names and question.kind is not Kind.WHO):
            weights.append(-cost)
        else:
            part = FILLER_SHARE if low in FILLERS else COMMON_SHARE if low in COMMON else 1.0
            weights.append(part * (near[i] + _type_bonus(question, tokens, i)) - cost)
    return weights


def _marked(pattern: re.Pattern[str], text: str, group: int | str = 0) -> set[int]:
    return {i for m in pattern.finditer(text) for i in range(m.start(group), m.end(group))}


def token_weights_zh(
    question: ParsedQuestion, text: str, places: list[re.Match[str]]
) -> list[float]:
    """Return a weight for each of `places`, the matches of `TOKEN_ZH` in `text`."""
    small_talk = _marked(_ZH_SMALL_TALK, text)
    typed: set[int] = set()
    if question.kind is Kind.WHERE:
        typed = _marked(_ZH_PLACE, text, "place")
    elif question.kind is Kind.COUNT:
        typed = _marked(_ZH_QUANTITY, text)
    starts = [m.start() for m in places]
    matched = [
        any(text[max(0, i - k) : i - k + 2] in question.roots for k in (0, 1)) for i in starts
    ]
    near = _near(matched, ZH_AFTER, ZH_BEFORE)
    weights = []
    for m, hit, nearness in zip(places, matched, near, strict=True):
        at, piece = m.start(), m[0]
        if _ZH_PUNCTUATION.fullmatch(piece):
            weights.append(ZH_PAUSE if piece in "、“”「」《》‘’" else HARD)
        elif hit:
            weights.append(ZH_ASKED)
        elif piece in _ZH_FUNCTION_CHARACTERS or at in small_talk:
            weights.append(ZH_LIGHT)
        else:
            weights.append(ZH_NEW * (nearness + ZH_TYPED * (at in typed)) - ZH_COST)
    return weights
