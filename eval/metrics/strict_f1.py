"""The strict F1 of memsys: token F1 that neither depends on spelling nor favours the answer.

Terms are Porter stems, numbers in figures, dates in parts and single Chinese characters
(`eval.metrics.normalise`); articles are dropped, nothing else is, so "not married" is not
"married". The gold may list alternatives (`eval.metrics.alternatives`), the answer may not.

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

from __future__ import annotations

from collections.abc import Sequence

from eval.metrics import TextMetric, in_common, overlap_f1
from eval.metrics.abstention import abstains
from eval.metrics.alternatives import alternatives
from eval.metrics.normalise import terms
from eval.metrics.registry import register


def _bag_f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    return overlap_f1(in_common(found, wanted), len(found), len(wanted))


def strict_f1(answer: str, gold: str) -> float:
    """Return the best F1, 0 to 1, of the bag of terms of `answer` over the alternatives of `gold`.

    An answer that declines scores 0 unless the gold declines as well (whether
    declining was right is scored by `abstention`); so does an answer, or a gold, without a term.
    A date is one term each for year, month and day: "May 2023" for "7 May 2023" has P 1, R 2/3.
    Formula: F1 of bags of tokens (van Rijsbergen, 1979), as SQuAD's (Rajpurkar et al., 2016), which
    takes the best over several golds likewise.
    """
    found = terms(answer)
    best = max((_bag_f1(found, terms(text)) for text in alternatives(gold)), default=0.0)
    refused = best > 0 and abstains(answer) and not abstains(gold)
    return 0.0 if refused else best


register(
    TextMetric(
        name="strict_f1",
        title="F1 strict",
        column="f1_strict",
        compute=strict_f1,
        order=40,
        in_tables=False,
    )
)
