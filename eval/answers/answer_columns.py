"""The column of answers, and those of a judge's verdicts on them: one a row, or one a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean

from eval.answers.column_names import (
    ANSWER_HINT,
    NAMES,
    OTHER_TEXT,
    is_key,
    named,
    rank_of,
    snake,
)
from eval.answers.contents import Contents
from eval.answers.values import blank, mean_verdict, runs

_MOST = 0.5  # share of values that are texts, gold answers or numbers
_ALL = 0.95
_CLOSE = 0.03  # overlap of words with the gold answer that an unlisted column of answers has
_CONTEXT = 3_000  # mean characters of a text that is too long for an answer
_REPEATED = 10  # rows for each different text, from which a column is a label
_PATTERN = len(NAMES["answer"]) - 1  # of names such as gpt-4o_prediction
_APART = 0.65  # chance that a passing verdict goes with the better answer
_DEVIATIONS = 2  # beyond which verdicts are not by chance against the answers
_PAIRS = 99  # answers of each verdict that are compared
_PASS = 0.5
_SOME = 0.5
_OWN = 0  # position of the names under which this project writes verdicts
_NUMBER = re.compile(r"(?:[-_. ](?:run|judg[a-z]+))?[-_. ]?\d+$")
_VERDICT = re.compile(  # a word of the name of a verdict
    r"judge|judge?ments?|verdicts?|correct|correctness|grades?|grading|labels?|pass|passed"
    r"|accuracy|acc|scores?|right|success|results?|autoeval|autograde"
)
_NO_VERDICT = re.compile(  # a word of the name of a negation or of another measure
    r"not?|non|never|in(correct|accurate|complete|valid)\w*|wrong\w*|false|bad|mis\w+|dis\w+|un\w+"
    r"|hallucinat\w*|reject\w*|flaw\w*|problems?|issues?|doubt\w*|correct(ion|ed)\w*|copyright\w*"
    r"|needs?|abst\w*|adversarial\w*|evidence\w*|recall\w*|hits?|errors?|fail\w*|retr\w+|refus\w*"
    r"|empty|valid\w*|f1\w*|bleu\w*|rouge\w*|em|exact\w*|contain\w*|substr\w*|overlap\w*"
)
_STATE = re.compile(  # the last word of a name that says whether something was done
    r"judged|graded|evaluated|scored|label+ed|tested|checked|timeout|timed|cached|skipped|found"
    r"|applied|used|changed|truncated|flagged"
)

Columns = dict[str, tuple[str, ...]]  # by field


def answer_columns(contents: Contents, free: Sequence[str]) -> Columns:
    """Return the column of `answer`; several if it is not clear which, none if there is none.

    `free`: columns without a meaning.
    """
    several = _answers(contents, free)
    return {"answer": tuple(several)} if several else {}


def _answers(contents: Contents, free: Sequence[str]) -> list[str]:
    """Return the columns that may be the answer.

    A column of gold answers is the answer only if no other column may be. Of listed names, the
    first is read, unless another column has other texts, such as a chain of thought, that are known
    not to be the gold answers. An unlisted column is the answer if it is the only remaining
    text, or the only one whose words are close to the gold answers.
    """
    by_name = [
        column
        for column in named("answer", free)
        if contents.texts(column) >= _MOST or len(contents.filled(column)) * 2 < contents.rows
    ]
    filled = [column for column in by_name if contents.filled(column)]
    right = [column for column in filled if (contents.gold(column) or 0.0) < _ALL]
    if right:
        rank = rank_of("answer", right[0])
        if rank == _PATTERN:
            return [one for one in right if rank_of("answer", one) == rank]
        others = (one for one in right[1:] if contents.gold(one) is not None)
        listed = (one for one in others if rank_of("answer", one) < _PATTERN)
        return [right[0], *(one for one in listed if _differ(contents, right[0], one))]
    certain = [column for column in filled if not named("gold", [column])]
    if not certain:
        unlisted = _texts(contents, free)
        if len(unlisted) == 1 or (unlisted and not filled):
            return unlisted
    return [*certain, *filled, *by_name][:1]


def _differ(contents: Contents, one: str, other: str) -> bool:
    """Return whether most rows have different texts in both columns."""
    cells = zip(contents.columns[one], contents.columns[other], strict=True)
    texts = [(str(a).strip(), str(b).strip()) for a, b in cells if not (blank(a) or blank(b))]
    return sum(a != b for a, b in texts) > _MOST * contents.rows


def _texts(contents: Contents, free: Sequence[str]) -> list[str]:
    """Return the unlisted columns that may be the answer."""
    found = [column for column in free if _may_answer(contents, column)]
    narrower: list[Callable[[str], bool]] = [
        lambda column: not OTHER_TEXT.search(snake(column)),
        lambda column: contents.closeness(column) >= _CLOSE,
        lambda column: bool(ANSWER_HINT.search(snake(column))),
    ]
    for fits_better in narrower:
        if len(found) > 1:
            found = [column for column in found if fits_better(column)] or found
    return found


def _may_answer(contents: Contents, column: str) -> bool:
    """Return whether an unlisted column contains different texts that are no other field."""
    if is_key(column) or named("gold", [column]) or named("category", [column]):
        return False
    filled = contents.filled(column)
    return (
        all(isinstance(one, str) for one in filled)
        and contents.distinct(column) > max(1, len(filled) // _REPEATED)
        and contents.length(column) < _CONTEXT
        and contents.verdicts(column, fractions=True) < _MOST
        and contents.amounts(column) < _MOST
        and (contents.gold(column) or 0.0) < _ALL
    )


def verdict_columns(contents: Contents, free: Sequence[str], answer: str | None) -> Columns:
    """Return the columns of `judge`, whose mean is the score, and of `judge_runs` beside it.

    `free`: columns without a meaning; `answer`: the column of answers.
    """
    groups = _groups(contents, free)
    grouped = {column for columns in groups for column in columns}
    single = [
        column for column in free if column not in grouped and _fits(contents, column, answer)
    ]
    by_name = named("judge", single)
    others = sorted((c for c in single if c not in by_name), key=lambda c: not _hinted(c))
    chosen = [*((c,) for c in by_name), *groups, *((c,) for c in others)]
    if not chosen:
        empty = [c for c in named("judge", free) if not contents.filled(c)]
        return {"judge": (empty[0],)} if empty and rank_of("judge", empty[0]) == _OWN else {}
    found = {"judge": chosen[0]}
    several = [
        one
        for one in chosen[1:]
        if len(one) > 1 or (named("judge_runs", one) and _listed(contents, one[0]))
    ]
    if several and len(chosen[0]) == 1 and not _listed(contents, chosen[0][0]):
        found["judge_runs"] = several[0]
    return found


def _groups(contents: Contents, free: Sequence[str]) -> list[tuple[str, ...]]:
    """Return sets of columns that are runs of a judge: `judge_1`, `judge_2`, or `judges.1`."""
    by_stem: dict[str, list[str]] = {}
    for column in free:
        for stem in {column.rpartition(".")[0], _NUMBER.sub("", column)}:
            if stem and stem != column and _hinted(stem):
                by_stem.setdefault(stem, []).append(column)
    found: list[tuple[str, ...]] = []
    for columns in sorted(by_stem.values(), key=len, reverse=True):
        left = [one for one in columns if not any(one in group for group in found)]
        if len(left) > 1 and all(contents.verdicts(one, fractions=False) >= _ALL for one in left):
            found.append(tuple(left))
    return found


def _words(column: str) -> list[str]:
    return re.split("[^a-z0-9]+", snake(column))


def _excluded(column: str) -> bool:
    words = _words(column)
    return bool(_STATE.fullmatch(words[-1])) or any(map(_NO_VERDICT.fullmatch, words))


def _hinted(column: str) -> bool:
    return any(map(_VERDICT.fullmatch, _words(column))) and not _excluded(column)


def _listed(contents: Contents, column: str) -> bool:
    return any(isinstance(runs(value), list) for value in contents.filled(column))


def _fits(contents: Contents, column: str, answer: str | None) -> bool:
    """Return whether the values are verdicts.

    A column of an unlisted name needs both verdicts, and they have to agree with how close the
    answers are to the gold answers; where nothing tells, its name has to suggest a judge.
    """
    filled = contents.filled(column)
    if not filled or _excluded(column):
        return False
    if named("judge", [column]):
        if rank_of("judge", column) == _OWN and len(filled) * 2 < contents.rows:
            return True
        if contents.verdicts(column, fractions=True) < _SOME:
            return False
        return rank_of("judge", column) == _OWN or contents.verdicts(column, fractions=True) >= _ALL
    if contents.verdicts(column, fractions=False) < _ALL:
        return False
    if len({str(one).lower() for one in filled}) < 2:
        return False
    apart = None if answer is None else _separation(contents, [column], answer)
    return _hinted(column) if apart is None else apart >= _APART


def _separation(contents: Contents, columns: Sequence[str], answer: str) -> float | None:
    """Return the chance that an answer that the verdicts in `columns` pass, on average, is closer
    to the gold answer than one that they fail; None unless both occur.
    """
    passed, failed = _by_verdict(contents, columns, answer)
    if not passed or not failed:
        return None
    wins = sum((one > two) + 0.5 * (one == two) for one in passed for two in failed)
    return wins / (len(passed) * len(failed))


def against(contents: Contents, columns: Sequence[str], answer: str) -> str | None:
    """Return how the verdicts in `columns` go against the answers; None if they do not.

    A few verdicts may do so by chance: the standard deviation is that of the Mann-Whitney test.
    """
    apart = _separation(contents, columns, answer)
    if apart is None or apart > 1 - _APART:
        return None
    passed, failed = map(len, _by_verdict(contents, columns, answer))
    if 0.5 - apart <= _DEVIATIONS * sqrt((passed + failed + 1) / (12 * passed * failed)):
        return None
    return (
        f"the verdicts in {', '.join(columns):.120} go against the answers: one that passes is "
        f"closer to its gold answer than one that fails in {apart:.0%} of the pairs"
    )


def _by_verdict(
    contents: Contents, columns: Sequence[str], answer: str
) -> tuple[list[float], list[float]]:
    """Return how close some of the answers that pass are to the gold, and some that fail."""
    passed: list[float] = []
    failed: list[float] = []
    rows = zip(*(contents.columns[column] for column in columns), strict=True)
    for cells, close in zip(rows, contents.close(answer), strict=True):
        means = [mean for one in cells if (mean := mean_verdict(one)) is not None]
        if means and close is not None:
            (passed if fmean(means) > _PASS else failed).append(close)
    return passed[:_PAIRS], failed[:_PAIRS]
