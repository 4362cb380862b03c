"""Abstention: whether an answer declines to answer, in English or Chinese.

Abstaining is right on adversarial questions and a false refusal on all others. The official phrase
match (`locomo_f1`, type 5) knows two wordings only. This rule is memsys' and favours "answered":
the first clause must refuse, and no later clause may answer after all. It does not see the
question: "No evidence that he would" counts as a refusal even of a yes-or-no question.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from memsys.core.yaml_text import load_table

MAX_WORDS_AFTER = 30  # more than this after a refusal is an answer with a caveat
_LONGEST = 1_000  # characters of a clause in which a refusal is looked for

_TABLE = load_table(Path(__file__).parent / "refusals.yaml")
_REFUSAL = re.compile("|".join(_TABLE["refusals"]))
_NEGATION, _EXACT, _GUESSES, _LABEL, _CONCEDES, _BREAK, _LEAD = (
    re.compile(_TABLE[name], re.DOTALL if name == "label" else 0)
    for name in ("negation", "EXACT", "guesses", "label", "concedes", "break", "lead")
)
_ANSWERS = ("answer", "答案")  # one of which a label contains
_BRACKETS = {"(": ")", "（": "）"}
_OPENING = re.compile("[(（]")
_RUNS = re.compile(r"[.!?;\n]{4,}|[^\S\n]{2,}")  # long ones would cost the square of their length


@lru_cache(maxsize=65_536)
def abstains(answer: str) -> bool:
    """Return whether `answer` says only that the information is missing, or is empty.

    The text after the last "answer:" counts, without bracketed asides and polite openings. Its
    first clause has to refuse. A later clause that does not refuse revokes the refusal if it
    guesses ("likely"), or follows "but" where only the exact value was missing; so do more than
    `MAX_WORDS_AFTER` words in such clauses.
    """
    whole = _RUNS.sub(lambda run: run[0][:3], answer.replace("’", "'")).strip().lower()
    # Brackets around the whole answer are no aside.
    text = _without_asides(whole).strip() or whole.strip("()（）")
    if any(word in text for word in _ANSWERS):
        text = _LABEL.sub("", text)
    text = _LEAD.sub("", text).replace("i'm ", "i am ")
    if not text:
        return True
    if not _NEGATION.search(text) or _CONCEDES.match(text):
        return False
    clauses = _clauses(text)
    _, first = next(clauses, (False, text))
    if not _refuses(first):
        return False
    others = [(after_but, clause) for after_but, clause in clauses if not _refuses(clause)]
    if any(_GUESSES.search(clause) for _, clause in others):
        return False
    if _EXACT.search(first) and any(after_but for after_but, _ in others):
        return False
    return sum(len(clause.split()) for _, clause in others) <= MAX_WORDS_AFTER


def _without_asides(text: str) -> str:
    """Return `text` without brackets and the text in them, up to the first closing bracket."""
    parts: list[str] = []
    start = 0
    unclosed: set[str] = set()  # looking for them again would cost the square of the length
    for opening in _OPENING.finditer(text):
        if opening.start() < start or opening[0] in unclosed:
            continue
        end = text.find(_BRACKETS[opening[0]], opening.end())
        if end < 0:
            unclosed.add(opening[0])
        else:
            parts.append(text[start : opening.start()])
            start = end + 1
    return "".join([*parts, text[start:]])


def _clauses(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the clauses of `text` in order, each with whether a "but" precedes it."""
    start, after_but = 0, False
    for gap in _BREAK.finditer(text):
        if clause := text[start : gap.start()].strip():
            yield after_but, clause
        start, after_but = gap.end(), bool(gap[1] or gap[2])
    if clause := text[start:].strip():
        yield after_but, clause


def _refuses(clause: str) -> bool:
    """Return whether the clause's beginning refuses; lookaheads cost the square of its length."""
    return _REFUSAL.search(clause[:_LONGEST]) is not None
