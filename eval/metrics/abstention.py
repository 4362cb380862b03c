"""Abstention: whether an answer declines to answer, in English or Chinese.

Abstaining is right on adversarial questions and a false refusal on all others. The official phrase
match (`locomo_f1`, type 5) knows two wordings only. This rule is memsys' and favours "answered":
the first clause must refuse, and no later clause may answer after all. It does not see the
question: "No evidence that he would" counts as a refusal even of a yes-or-no question.
"""

from __future__ import annotations

import re
from functools import lru_cache

from eval.metrics.refusals import EXACT, REFUSAL

MAX_WORDS_AFTER = 30  # more than this after a refusal is an answer with a caveat
_LONGEST = 1_000  # characters of a clause in which a refusal is looked for

_GUESS = (
    r"(?:likely|probably|possibly|perhaps|maybe|presumably|approximately|roughly|around|"
    r"suggest\w*|impl(?:y|ies)|infer\w*|appears?|seems?|estimate\w*)\b"
)
_GUESS_ZH = r"(?:可能|大概|应该|估计|推测|也许|或许|大约|左右|似乎|看来)"
_GUESSES = re.compile(rf"\b{_GUESS}|{_GUESS_ZH}")
_EXACT = re.compile(EXACT)

_LABEL = re.compile(
    r"^.*(?:(?<!\bno )\banswer(?:\s*:| is\b:?)|答案\s*(?:[：:]|是))\s*(?=\S)", re.DOTALL
)
_BRACKETED = re.compile(r"\([^)]*\)|（[^）]*）")
_RUNS = re.compile(r"[.!?;\n]{4,}|[^\S\n]{2,}")  # long ones would cost the square of their length
_LEAD = re.compile(
    r"^(?:(?:(?:i am |i'm )?(?:very )?(?:sorry|afraid)|i apologi[sz]e|apologies|unfortunately|"
    r"therefore|none(?=[.,;:])|(?:based on|according to)[^,]{1,60}(?=,)|"
    r"(?:in|from|within) (?:the|my|our) (?:\w+ )?(?:memor|conversation|context|dialog|chat|text)"
    r"[^,]{0,40}(?=,))[.,;:]?\s*(?:but )?(?:that )?"
    r"|(?:非常|很)?(?:抱歉|对不起|不好意思|遗憾)[，,。]?\s*|(?:根据|从|在|按照)[^，,。]{1,20}[，,]"
    r"|[\"'“]+)+"
)
_CONCEDES = re.compile(
    r"^(?:while|although|though|even though|虽然|尽管|(?:yes|no|是|不是)\s*[,，])"
)
_BREAK = re.compile(
    r"(?:[.!?;\n]+|,)?\s*\b(but|however|though|although|yet|nevertheless|still)\b,?\s*"
    r"|[，。；]?(?<!不)(但是|但|不过|然而|可是)，?"
    r"|[.!?]+(?:\s+|$)|[;\n]+\s*|[。！？；]+"
    rf"|,\s*(?=(?:\w+ ){{0,2}}{_GUESS})|，(?={_GUESS_ZH})"
)


@lru_cache(maxsize=65_536)
def abstains(answer: str) -> bool:
    """Return whether `answer` says only that the information is missing, or nothing at all.

    The text after the last "answer:" counts, without bracketed asides and polite openings. Its
    first clause has to refuse. A later clause that does not refuse revokes the refusal if it
    guesses ("likely"), or follows "but" where only the exact value was missing; so do more than
    `MAX_WORDS_AFTER` words in such clauses.
    """
    whole = _RUNS.sub(lambda run: run[0][:3], answer.replace("’", "'")).strip().lower()
    # Brackets around the whole answer are no aside.
    text = _BRACKETED.sub("", whole).strip() or whole.strip("()（）")
    text = _LEAD.sub("", _LABEL.sub("", text)).replace("i'm ", "i am ")
    if not text:
        return True
    if _CONCEDES.match(text):
        return False
    (_, first), *rest = _clauses(text) or [(False, text)]
    if not _refuses(first):
        return False
    others = [(after_but, clause) for after_but, clause in rest if not _refuses(clause)]
    if any(_GUESSES.search(clause) for _, clause in others):
        return False
    if _EXACT.search(first) and any(after_but for after_but, _ in others):
        return False
    return sum(len(clause.split()) for _, clause in others) <= MAX_WORDS_AFTER


def _clauses(text: str) -> list[tuple[bool, str]]:
    """Return the clauses of `text` in order, each with whether a "but" precedes it."""
    found: list[tuple[bool, str]] = []
    start, after_but = 0, False
    for gap in _BREAK.finditer(text):
        found.append((after_but, text[start : gap.start()].strip()))
        start, after_but = gap.end(), bool(gap[1] or gap[2])
    found.append((after_but, text[start:].strip()))
    return [pair for pair in found if pair[1]]


def _refuses(clause: str) -> bool:
    """Return whether the clause's beginning refuses; lookaheads cost the square of its length."""
    return REFUSAL.search(clause[:_LONGEST]) is not None
