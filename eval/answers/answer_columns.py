"""The column of answers, and those of a judge's verdicts on them: one a row, or one a run."""

import re
from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean

from eval.answers.layout import NAMES, PATTERNS, is_key, named, rank_of, snake, unit_of
from eval.answers.sheet import MOST, Sheet
from eval.answers.values import blank, mean_verdict, runs

_ALL = 0.95
_CLOSE = 0.03  # overlap of words with the gold answer that an unlisted column of answers has
_CONTEXT = 3_000  # mean characters of a text that is too long for an answer
_REPEATED = 10  # rows for each different text, from which a column is a label
_PATTERN = len(NAMES["answer"]) - 1  # of names such as gpt-4o_prediction
_APART = 0.65  # chance that a passing verdict goes with the better answer
_DEVIATIONS = 2  # beyond which verdicts are not by chance against the answers
_PAIRS = 99  # answers of each verdict that are compared
_PASS = 0.5
_OWN = 0  # position of the names under which this project writes verdicts


def answer_columns(sheet: Sheet) -> list[str]:
    """Return the column of `answer`; several if it is not clear which, none if there is none.

    A column of gold answers is the answer only if no other column may be. Of listed names, the
    first is read, unless another column has other texts, such as a chain of thought, that are known
    not to be the gold answers. An unlisted column is the answer if it is the only remaining
    text, or the only one whose words are close to the gold answers.
    """
    by_name = [
        column
        for column in named("answer", sheet.free)
        if (sheet.texts(column) >= MOST or sheet.sparse(column))
        and (unit_of(column) is None or sheet.amounts(column) < MOST)  # no time to answer
    ]
    filled = [column for column in by_name if sheet.filled[column]]
    right = [column for column in filled if (sheet.gold(column) or 0.0) < _ALL]
    if right:
        rank = rank_of("answer", right[0])
        if rank == _PATTERN:
            return [column for column in right if rank_of("answer", column) == rank]
        others = (column for column in right[1:] if sheet.gold(column) is not None)
        listed = (column for column in others if rank_of("answer", column) < _PATTERN)
        return [right[0], *(column for column in listed if _differ(sheet, right[0], column))]
    certain = [column for column in filled if not named("gold", [column])]
    if not certain:
        unlisted = _texts(sheet)
        if len(unlisted) == 1 or (unlisted and not filled):
            return unlisted
    return [*certain, *filled, *by_name][:1]


def _differ(sheet: Sheet, column: str, other: str) -> bool:
    """Return whether most rows have different texts in both columns."""
    cells = zip(sheet.columns[column], sheet.columns[other], strict=True)
    texts = [(str(a).strip(), str(b).strip()) for a, b in cells if not (blank(a) or blank(b))]
    return sum(a != b for a, b in texts) > MOST * sheet.rows


def _texts(sheet: Sheet) -> list[str]:
    """Return the unlisted columns that may be the answer."""
    columns = [column for column in sheet.free if _may_answer(sheet, column)]
    narrower: list[Callable[[str], bool]] = [
        lambda column: not PATTERNS["other_text"].search(snake(column)),
        lambda column: sheet.closeness(column) >= _CLOSE,
        lambda column: bool(PATTERNS["answer_hint"].search(snake(column))),
    ]
    for fits_better in narrower:
        if len(columns) > 1:
            columns = [column for column in columns if fits_better(column)] or columns
    return columns


def _may_answer(sheet: Sheet, column: str) -> bool:
    """Return whether an unlisted column contains different texts that are no other field."""
    if is_key(column) or named("gold", [column]) or named("category", [column]):
        return False
    filled = sheet.filled[column]
    return (
        all(isinstance(value, str) for value in filled)
        and sheet.distinct(column) > max(1, len(filled) // _REPEATED)
        and sheet.length(column) < _CONTEXT
        and sheet.verdicts(column) < MOST
        and sheet.amounts(column) < MOST
        and (sheet.gold(column) or 0.0) < _ALL
    )


def verdict_columns(sheet: Sheet) -> dict[str, tuple[str, ...]]:
    """Return the columns of `judge`, whose mean is the score, and of `judge_runs` beside it."""
    free = sheet.own
    groups = _groups(sheet, free)
    grouped = {column for group in groups for column in group}
    single = [column for column in free if column not in grouped and _fits(sheet, column)]
    by_name = named("judge", single)
    others = sorted((c for c in single if c not in by_name), key=lambda c: not _hinted(c))
    candidates = [*((c,) for c in by_name), *groups, *((c,) for c in others)]
    if not candidates:
        empty = [c for c in named("judge", free) if not sheet.filled[c]]
        return {"judge": (empty[0],)} if empty and rank_of("judge", empty[0]) == _OWN else {}
    judge = candidates[0]
    several = [
        group
        for group in candidates[1:]
        if len(group) > 1 or (named("judge_runs", group) and _listed(sheet, group[0]))
    ]
    columns = {"judge": judge}
    if several and len(judge) == 1 and not _listed(sheet, judge[0]):
        columns["judge_runs"] = several[0]
    return columns


def _groups(sheet: Sheet, free: Sequence[str]) -> list[tuple[str, ...]]:
    """Return sets of columns that are runs of a judge: `judge_1`, `judge_2`, or `judges.1`."""
    by_stem: dict[str, list[str]] = {}
    for column in free:
        for stem in {column.rpartition(".")[0], PATTERNS["number"].sub("", column)}:
            if stem and stem != column and _hinted(stem):
                by_stem.setdefault(stem, []).append(column)
    groups: list[tuple[str, ...]] = []
    for columns in sorted(by_stem.values(), key=len, reverse=True):
        left = [name for name in columns if not any(name in group for group in groups)]
        if len(left) > 1 and all(sheet.verdicts(name, fractions=False) >= _ALL for name in left):
            groups.append(tuple(left))
    return groups


def _words(column: str) -> list[str]:
    return re.split("[^a-z0-9]+", snake(column))


def _excluded(column: str) -> bool:
    *_, last = words = _words(column)
    return any([PATTERNS["state"].fullmatch(last), *map(PATTERNS["no_verdict"].fullmatch, words)])


def _hinted(column: str) -> bool:
    return any(map(PATTERNS["verdict"].fullmatch, _words(column))) and not _excluded(column)


def _listed(sheet: Sheet, column: str) -> bool:
    return any(isinstance(runs(value), list) for value in sheet.filled[column])


def _fits(sheet: Sheet, column: str) -> bool:
    """Return whether the values are verdicts.

    A column of an unlisted name needs both verdicts, and they have to agree with how close the
    answers are to the gold answers; where nothing tells, its name has to suggest a judge.
    """
    filled = sheet.filled[column]
    if not filled or _excluded(column):
        return False
    if named("judge", [column]):
        if rank_of("judge", column) == _OWN:
            return sheet.sparse(column) or sheet.verdicts(column) >= MOST
        return sheet.verdicts(column) >= _ALL
    if sheet.verdicts(column, fractions=False) < _ALL:
        return False
    if len({str(value).lower() for value in filled}) < 2:
        return False
    apart, _, _ = _separation(sheet, [column])
    return _hinted(column) if apart is None else apart >= _APART


def against(sheet: Sheet) -> str | None:
    """Return how the verdicts go against the answers; None if they do not.

    A few verdicts may do so by chance: the standard deviation is that of the Mann-Whitney test.
    """
    columns = sheet.fields.get("judge", ())
    apart, passed, failed = _separation(sheet, columns)
    if apart is None or apart > 1 - _APART:
        return None
    if 0.5 - apart <= _DEVIATIONS * sqrt((passed + failed + 1) / (12 * passed * failed)):
        return None
    return (
        f"the verdicts in {', '.join(columns):.120} go against the answers: one that "
        f"passes is closer to its gold answer than one that fails in {apart:.0%} of "
        "the pairs"
    )


def _separation(sheet: Sheet, columns: Sequence[str]) -> tuple[float | None, int, int]:
    """Return the chance that an answer that passes, by the mean verdict in `columns`, is closer to
    its gold answer than one that fails, and how many of either are compared; no chance unless both
    occur.
    """
    passed, failed = list[float](), list[float]()
    answer = sheet.first("answer")
    for number, overlap in enumerate(sheet.close(answer) if answer else ()):
        cells = (sheet.columns[column][number] for column in columns)
        means = [mean for cell in cells if (mean := mean_verdict(cell)) is not None]
        if means and overlap is not None:
            (passed if fmean(means) > _PASS else failed).append(overlap)
    passed, failed = passed[:_PAIRS], failed[:_PAIRS]
    counts = len(passed), len(failed)
    if not all(counts):
        return None, *counts
    wins = sum((high > low) + 0.5 * (high == low) for high in passed for low in failed)
    return wins / (counts[0] * counts[1]), *counts
