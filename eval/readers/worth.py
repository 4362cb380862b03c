"""What each token of an English sentence is worth to an answer.

New content words are worth most near (and best after) words of the question, and more where they
are of the type asked for; function words and punctuation cost. Constants and
word lists were set by hand with five of the ten LoCoMo conversations in view (26, 30, 41, 42, 43),
so figures on those five flatter the reader; only the ratios of the constants matter.
"""

from __future__ import annotations

import re

from eval.readers.morphology import COMMON, FILLERS, is_light, root
from eval.readers.question import Asked, Kind

TOKEN = re.compile(r"[^\W_]+(?:['’\-+][^\W_]+)*\+?|[^\w\s]")

COST = 0.18  # every token costs this, so that only words of some worth lengthen an answer
CLAUSE_COST = 0.08  # the same where a clause is asked for: why, how
MOOD = 1.0  # a word of feeling or judgement where one is asked for
ASKED = 0.05  # a word of the question itself, less its cost
AFTER = 0.92  # worth kept for each token between a word of the question and one after it
BEFORE = 0.9
FLOOR = 0.3  # worth of a new word however far from any word of the question
ALONE = 0.45  # the same in a sentence that holds no word of the question
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
# Words that open the part of a sentence that says why, or how.
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


def _near(matched: list[bool]) -> list[float]:
    """For each token its nearness (0 to 1) to a word of the question."""
    count = len(matched)
    if not any(matched):
        return [ALONE] * count
    near = [FLOOR] * count
    last = 0.0
    for i in range(count):
        last = 1.0 if matched[i] else last * AFTER
        near[i] = max(near[i], last)
    last = 0.0
    for i in reversed(range(count)):
        last = 1.0 if matched[i] else last * BEFORE
        near[i] = max(near[i], last)
    return near


def _typed(asked: Asked, tokens: list[str], i: int) -> float:
    word = tokens[i]
    inside = i > 0 and (tokens[i - 1].isalnum() or tokens[i - 1] in ",&'\"“")
    capital = tokens[i][0].isupper() and inside
    if asked.kind is Kind.WHO:
        return TYPED if capital or word.lower() in _KIN else 0.0
    if asked.kind is Kind.WHERE:
        before = {t.lower() for t in tokens[max(0, i - 3) : i]}
        placed = before & {"in", "at", "to", "from", "near", "around", "through"}
        return TYPED * (0.7 * capital + 0.5 * bool(placed))
    if asked.kind is Kind.COUNT:
        return TYPED * word[0].isdigit()
    if _NAMED.search(asked.text):
        return TYPED * capital
    return 0.0


def worths(asked: Asked, tokens: list[str], names: frozenset[str]) -> list[float]:
    """A worth for each token; `names`, the lowercase speakers, are called more than meant."""
    rooted = [root(t.lower()) if t[0].isalnum() else "" for t in tokens]
    openers = _OPENERS.get(asked.kind, frozenset())
    opened = [word.lower() in openers for word in tokens]
    near = _near([r in asked.roots or o for r, o in zip(rooted, opened, strict=True)])
    mood = asked.kind is Kind.MOOD
    cost = CLAUSE_COST if asked.kind in (Kind.WHY, Kind.HOW) else COST
    found = []
    for i, word in enumerate(tokens):
        low = word.lower()
        if not word[0].isalnum():
            found.append(SOFT if word in ",'‘’&/" else HARD)
        elif mood and low in _MOODS:
            found.append(MOOD)
        elif rooted[i] in asked.roots:
            found.append(ASKED - cost)
        elif is_light(low) or (low in names and asked.kind is not Kind.WHO):
            found.append(-cost)
        else:
            part = FILLER_SHARE if low in FILLERS else COMMON_SHARE if low in COMMON else 1.0
            found.append(part * (near[i] + _typed(asked, tokens, i)) - cost)
    return found
