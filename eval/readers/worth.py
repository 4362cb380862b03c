"""What each token of an English sentence is worth to an answer.

New content words are worth most near (and best after) words of the question, and more where they
are of the type asked for; function words and punctuation cost. The constants were set by hand on
half of a development set; only their ratios matter.
"""

from __future__ import annotations

import re

from eval.readers.morphology import COMMON, FILLERS, is_light, root
from eval.readers.question import Asked, Kind

TOKEN = re.compile(r"[^\W_]+(?:['’\-+][^\W_]+)*\+?|[^\w\s]")

COST = 0.18  # every token costs this, so that only words of some worth lengthen an answer
ASKED = 0.05  # a word of the question itself, less its cost
AFTER = 0.92  # worth kept for each token between a word of the question and one after it
BEFORE = 0.9
FLOOR = 0.3  # worth of a new word however far from any word of the question
ALONE = 0.45  # the same in a sentence that holds no word of the question
COMMON_SHARE = 0.4
FILLER_SHARE = 0.1
TYPED = 0.8
SOFT = -0.2  # comma, quotation mark
HARD = -3.0  # any other punctuation ends an answer
_KIN = frozenset(
    """aunt boyfriend brother colleague cousin coworker daughter family friend girlfriend
    grandfather grandma grandmother grandpa husband mentor mom mother dad father neighbor nephew
    niece parents partner sister son teacher teammates uncle wife boss coach team""".split()
)
_FEEL = re.compile(
    r"\b(?:feel|felt|feeling|describe|reaction|think|thoughts|attitude|opinion)\b", re.IGNORECASE
)
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
    near = _near([r in asked.roots for r in rooted])
    filler = 0.7 if _FEEL.search(asked.text) else FILLER_SHARE
    found = []
    for i, word in enumerate(tokens):
        low = word.lower()
        if not word[0].isalnum():
            found.append(SOFT if word in ",'‘’&/" else HARD)
        elif rooted[i] in asked.roots:
            found.append(ASKED - COST)
        elif is_light(low) or (low in names and asked.kind is not Kind.WHO):
            found.append(-COST)
        else:
            part = filler if low in FILLERS else COMMON_SHARE if low in COMMON else 1.0
            found.append(part * (near[i] + _typed(asked, tokens, i)) - COST)
    return found
