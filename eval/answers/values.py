"""The values of answer files: texts, numbers, verdicts and category labels.

An InputError on a value says what the value must be, and the caller names the row and the column.
"""

import math
import re
from collections.abc import Collection
from typing import Any

from eval.answers.layout import TABLE
from memsys.core.errors import InputError

_WORDS = TABLE["words"]
_MOST = 1e9  # tokens, or seconds: beyond it, sums and tables lose digits
_WHOLE = re.compile(r"[0-9]{1,6}")


def blank(value: Any) -> bool:
    """Return True for null, an empty text and not-a-number."""
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or (isinstance(value, float) and math.isnan(value))


def text(value: Any) -> str | None:
    """Return a text or number as text, None if blank; raise InputError for anything else."""
    if blank(value):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"must be a text, not {value!r:.60}")
    return str(value)


def number(value: Any) -> float:
    """Return a number, also if written as text; not-a-number for anything else."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def amount(value: Any) -> float | None:
    """Return a number of 0 to _MOST, also if written as text; None if blank; else InputError."""
    if blank(value):
        return None
    if not is_amount(value):
        limits = f"of at most {_MOST:,.0f}" if number(value) > _MOST else "of 0 or more"
        raise InputError(f"must be a number {limits}, not {value!r:.60}")
    return number(value)


def whole(value: Any) -> int | None:
    """Return an integer of 0 or more, also if written as 3.0; None if blank; else InputError."""
    count = amount(value)
    if count is not None and count != int(count):
        raise InputError(f"must be a whole number, not {value!r:.60}")
    return None if count is None else int(count)


def runs(value: Any) -> Any:
    """Return `value`, or the list that it is the text of, as in CSV: `[True, False]`."""
    if isinstance(value, str) and value.strip().startswith("[") and value.strip().endswith("]"):
        inner = value.strip()[1:-1]
        return [part.strip().strip("'\"") for part in inner.split(",")] if inner.strip() else []
    return value


def verdict(value: Any) -> float | None:
    """Return a judge's verdict as 1.0 (correct) or 0.0 (wrong); None if blank or if judging failed.

    Accepts booleans, words in any case, numbers of 0 to 1, such as the mean over several runs of a
    judge, and a list of them, of which it returns the mean. Raises InputError for another word or
    number, and for a list in which some are blank.
    """
    value = runs(value)
    listed = value if isinstance(value, list) else [value]
    blanks = sum(map(blank, listed))
    if blanks == len(listed) or unjudged(value):
        return None
    if blanks:
        raise InputError("contains a blank; give a verdict for each run")
    mean = mean_verdict(value)
    if mean is None:
        raise InputError(
            f"{value!r:.60} is no verdict; use true and false, 1 and 0, or CORRECT and WRONG"
        )
    return mean


def verdicts(value: Any) -> tuple[bool, ...]:
    """Return the verdict of each run of a judge; none if `value` is blank or a mean of runs.

    Raises InputError as verdict does.
    """
    if verdict(value) is None:
        return ()
    listed = runs(value)
    means = [verdict(run) for run in (listed if isinstance(listed, list) else [listed])]
    return tuple(mean == 1 for mean in means) if {0.0, 1.0}.issuperset(means) else ()


def unjudged(value: Any) -> bool:
    """Return whether `value` says that there is no verdict, as ERROR does."""
    return isinstance(value, str) and value.strip().rstrip(".!").lower() in _WORDS["unjudged"]


def mean_verdict(value: Any) -> float | None:
    """Return a verdict, or the mean of a list of them; None if `value` is neither."""
    value = runs(value)
    if isinstance(value, list):
        means = [mean_verdict(run) for run in value if not isinstance(run, list)]
        scores = [mean for mean in means if mean is not None]
        return sum(scores) / len(scores) if scores and len(scores) == len(value) else None
    word = value.strip().rstrip(".!").lower() if isinstance(value, str) else ""
    if word in _WORDS["passed"] or value is True:
        return 1.0
    if word in _WORDS["failed"] or value is False:
        return 0.0
    mean = number(value)
    return mean if 0 <= mean <= 1 else None


def is_verdict(value: Any) -> bool:
    """Return whether `value` is one verdict or a list of them, and no mean of several."""
    value = runs(value)
    listed = [run for run in value if not blank(run)] if isinstance(value, list) else [value]
    return all(mean_verdict(run) in (0.0, 1.0) for run in listed)


def is_amount(value: Any) -> bool:
    """Return whether `value` is a number of 0 or more, also if written as text."""
    return 0 <= number(value) <= _MOST


def label(value: Any, types: Collection[str]) -> str | None:
    """Return a category as text: `4` for 4, "4", 4.0; names as in `types`; None if blank."""
    string = text(value)
    if string is None:
        return None
    plain = string.strip().removesuffix(".0")
    if _WHOLE.fullmatch(plain):
        return str(int(plain))
    name = re.sub(r"[\s_-]+", "_", plain.lower())
    return name if name in types else plain


def failure(value: Any) -> str | None:
    """Return the message of an error field, None if nothing failed."""
    if blank(value) or value in ({}, [], 0) or str(value).strip().lower() in _WORDS["no_failure"]:
        return None
    return "no message" if value in (True, "1") or str(value).lower() == "true" else str(value)
