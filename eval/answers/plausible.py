"""Answers and times beyond belief: messages of errors, texts in place of answers, wrong units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from eval.answers.column_names import TABLE, names_unit
from eval.metrics.abstention import abstains

if TYPE_CHECKING:
    from eval.answers.files import AnswerRow

_ERROR = re.compile(rf"\W*(?:{'|'.join(TABLE['answers']['error'])})", re.IGNORECASE)
_LONGEST = 200  # characters of an answer that are looked at
_WRAPPED = re.compile("|".join(TABLE["answers"]["wrapped"]))
_SHARE = 0.1  # of answers that are placeholders, from which they are asked about
_ALIKE = 50  # rows with one answer, from which it is asked about
_MOST_SECONDS = 60.0  # median of a question, if the name of the column states no unit
_SCORES = 0.95  # share of answers that are numbers of 0 to 1
_TIMES = ("search_seconds", "answer_seconds", "total_seconds")


def is_error(answer: str) -> bool:
    """Return whether the text is the message of an error, in place of an answer."""
    return _ERROR.match(answer[:_LONGEST].strip()) is not None


def doubtful_answers(rows: Sequence[AnswerRow]) -> str | None:
    """Return why the answers may be none, in a line with a remedy; None if they may be."""
    answers = Counter(row.answer.strip() for row in rows if row.error is None)
    total = answers.total()
    none = {
        text: n for text, n in answers.items() if text.lower() in TABLE["words"]["placeholders"]
    }
    wrapped = {text: n for text, n in answers.items() if _WRAPPED.match(text)}
    if (held := sum(none.values())) >= _SHARE * total > 0:
        found = f"{held:,} of {total:,} answers are texts such as {next(iter(none))!r}"
    elif len(answers) == 1 and total >= _ALIKE and not abstains(text := next(iter(answers))):
        found = f"all {total:,} answers are {text!r:.60}"
    elif (held := sum(wrapped.values())) >= _SHARE * total > 0:
        return (
            f"{held:,} of {total:,} answers are whole replies, such as "
            f"{next(iter(wrapped))!r:.60}; write the answer in them alone, or add --as-written"
        )
    else:
        return None
    return (
        f"{found}; if these rows failed, say so in a column `error`; if they are answers, add "
        "--as-written"
    )


def are_scores(answers: Collection[str]) -> bool:
    """Return whether nearly all answers are numbers of 0 to 1, as scores are."""
    return bool(answers) and sum(map(_is_share, answers)) >= _SCORES * len(answers)


def doubtful_times(
    rows: Sequence[AnswerRow], columns: Mapping[str, Sequence[str]], said: Collection[str]
) -> str | None:
    """Return why a column of times may be in another unit than seconds; None if none may be.

    `said`: fields whose columns the user names.
    """
    for field in _TIMES:
        named = columns.get(field, ())
        known = [value for row in rows if (value := getattr(row, field)) is not None]
        if not known or field in said or any(map(names_unit, named)):
            continue
        if (middle := median(known)) > _MOST_SECONDS:
            return (
                f"{' + '.join(named):.60}, read as seconds, has a median of {middle:,.0f} s a "
                "question; write the unit into its name (latency_ms, latency_seconds), or give "
                f"--columns {field}={named[0]:.60} for seconds and {field}=none to leave it out"
            )
    return None


def _is_share(answer: str) -> bool:
    try:
        return 0 <= float(answer) <= 1
    except ValueError:
        return False
