"""The strict F1 of memsys: token F1 that neither depends on spelling nor favours the answer.

Terms are Porter stems, numbers in figures, dates in parts and single Chinese characters
(`eval.metrics.normalise`); articles are dropped, nothing else is, so "not married" is not
"married". The gold may list alternatives, the answer may not: one that hedges ("7 May or 8 May")
is one answer with superfluous words, and two guesses never score as the better one.

Differences from the published F1s (their score -> this one):
locomo_f1, type 1, splits at every comma, also inside a date: "7 May 2023" for "May 7, 2023"
  .65 -> 1; and extra guesses are free: "red, blue, green" for "red" 1 -> .5
locomo_f1 closes up punctuation: "red/blue" for "red, blue" 0 -> 1
locomo_f1, mem0_f1, memos_f1 compare dates as written: "7 May" for "May 7th" .5 -> 1; numbers as
  written: "three" for "3" 0 -> 1; and Chinese by white space: 我在北京 for 北京 0 -> .67
mem0_f1, memos_f1 use sets, where repeating costs nothing: "tea tea tea" for "tea" 1 -> .5
mem0_f1, memos_f1 do not stem: "cars" for "car" 0 -> 1; and count articles: "the car" for "car"
  .67 -> 1
mem0_f1 leaves brackets on words: "blue (dark)" for "dark blue" .5 -> 1
memos_f1 counts punctuation: "Red." for "Blue." .5 -> 0
all three credit a refusal for shared words: "No information is given" for "No" .4 -> 0

Units are not converted, spellings of one word not unified, relative dates not resolved.
"""

import re
from functools import lru_cache

from eval.metrics import Computed, bag_f1, of_texts
from eval.metrics.abstention import abstains
from eval.metrics.normalise import normalise, terms
from eval.metrics.registry import register

MAX_TERMS = 6  # of an alternative: a longer one is a clause, and "or" binds inside of it
MAX_ITEM_TERMS = 3  # of an item of "red, green or blue"

_IDIOM = (
    r"(?:so|more|less|not|later|earlier|else|other|others|otherwise|similar|something|anything|"
    r"whatever|longer|fewer|under|over|above|below)\b"
)
_OR = re.compile(rf",? or (?!{_IDIOM})| / |(?<!间)(?:或者|或是|或(?![许多少然]))")
_ASIDE = re.compile(r" ?\((?:or |或者?)([^()]+)\)")
_EITHER = re.compile(r"^(?:either|whether) ")
# Two numbers of one kind share the words around them: 7 or 8 May, room 5 or 6, 2 or 3 times.
_NUMBERS = re.compile(
    r"(?P<before>[^\n]*?)\b((?P<kind>month|day|)\d+)\n((?P=kind)\d+)\b(?P<after>[^\n]*)"
)
_ITEM = re.compile(r", ?|、")
_REASON = re.compile(
    r"^(?:yes|no|likely|probably|not|since|because|though|although|as|so|but|if|when|while|he|she|"
    r"it|they|we|i|you|this|that|there|both|因为|由于|虽然|所以|但)\b"
)
# A slash between words; not km/h, 24/7, and/or, n/a, a path.
_PER = r"(?:h|hr|hour|s|sec|second|min|minute|day|week|month|year|night|person|head|or|dc|aids)\b"
_SIDE = r"(?:[^\W\d_]{2,}|[㐀-鿿])"
_SLASH = re.compile(rf"(?<![\w/:.]){_SIDE}(?:/(?!{_PER}){_SIDE})+(?![\w/]|\.\w)")


def _size(text: str) -> float:
    """Return the number of terms of `text`; two Chinese characters count as one word."""
    return sum(0.5 if len(term) == 1 and not term.isascii() else 1 for term in terms(text))


def _divided(gold: str) -> list[str]:
    """Return the parts of "X or Y" and "X, Y or Z", if each is short enough to be an answer."""
    parts = [part for part in _OR.split(_EITHER.sub("", gold)) if part.strip(" ,.")]
    if len(parts) < 2 or " and " in gold:
        return []
    if len(parts) == 2 and (numbers := _NUMBERS.fullmatch("\n".join(parts))):
        before, first, second, after = numbers["before"], *numbers.group(2, 4), numbers["after"]
        return [before + first + after, before + second + after]
    items = [item for part in parts for item in _ITEM.split(part)]
    limit = MAX_TERMS if len(items) == len(parts) else MAX_ITEM_TERMS
    return items if all(0 < _size(item) <= limit for item in items) else []


def _clauses(gold: str) -> list[str]:
    """Return the part before the first ";", and the later ones if they are answers, not reasons."""
    first, *others = (part.strip() for part in re.split("[;；]", gold))
    if not others:
        return []
    listed = all(0 < _size(part) <= MAX_TERMS and not _REASON.match(part) for part in others)
    return [first, *(others if listed and not _REASON.match(first) else [])]


@lru_cache(maxsize=16_384)
def alternatives(gold: str) -> tuple[str, ...]:
    """Return the normalised texts that `gold` accepts as answers, the whole of it first.

    The gold is divided at "or", " / ", 或, 或者, at ";", at a slash between two words (which binds
    these two only: "canvas/paper bag") and at "(or ...)". Parts longer than `MAX_TERMS` are
    clauses, not alternatives, and a text with "and" beside "or" stays whole.
    """
    whole = normalise(gold)
    texts = [whole]
    if aside := _ASIDE.search(whole):
        rest = whole[aside.end() :]
        texts += [whole[: aside.start()] + rest, aside[1] + rest]
    elif slash := _SLASH.search(whole):
        texts += [
            whole[: slash.start()] + word + whole[slash.end() :] for word in slash[0].split("/")
        ]
    for part in _clauses(whole) or [whole]:
        texts += [part, *_divided(part)]
    return tuple(dict.fromkeys(text for text in texts if terms(text)))


def strict_f1(answer: str, gold: str) -> float:
    """Return the best F1, 0 to 1, of the bag of terms of `answer` over the alternatives of `gold`.

    An answer that declines scores 0 unless the gold declines as well (whether
    declining was right is scored by `abstention`); so does an answer, or a gold, without a term.
    A date is one term each for year, month and day: "May 2023" for "7 May 2023" has P 1, R 2/3.
    Formula: F1 of bags of tokens (van Rijsbergen, 1979), as SQuAD's (Rajpurkar et al., 2016), which
    takes the best over several golds likewise.
    """
    answer_terms = terms(answer)
    best = max((bag_f1(answer_terms, terms(text)) for text in alternatives(gold)), default=0.0)
    refused = best > 0 and abstains(answer) and not abstains(gold)
    return 0.0 if refused else best


register(
    Computed(
        name="strict_f1",
        title="F1 strict",
        column="f1_strict",
        compute=of_texts(strict_f1),
        order=40,
        in_tables=False,
    )
)
