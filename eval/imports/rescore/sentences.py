"""The account of imported answers in sentences, for the terminal and the report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.answers.column_names import VERDICT_HINT, snake
from eval.imports.account import (
    Missing,
    counted,
    counts_from_1,
    lines,
    not_in_the_means,
    partly_covered,
)
from eval.metrics.registry import reported
from memsys.core.files import shown

COPIED = 0.9  # share of answers equal to the gold answer that no reader reaches
_NOUN = "row"
_TIMES = re.compile(r"time|latency|duration|elapsed|(^|_)(ms|sec|secs|seconds)(_|$)")
_REPORTED = {  # by field of the account: words, field of an answer, part of the names of columns
    "verdicts": ("judge verdicts", "judge", VERDICT_HINT),
    "context_tokens": ("context tokens", "context_tokens", re.compile("token")),
    "retrieve_ms": ("retrieval latency", "search_seconds", _TIMES),
    "answer_ms": ("answering latency", "answer_seconds", _TIMES),
    "total_ms": ("total latency", "total_seconds", _TIMES),
}
_LISTED = 12  # columns, files or conversations that a sentence names
_LINE = 600  # characters of their names
Counts = Mapping[str, Any]


def sentences(counts: Counts, missing: Missing) -> Iterator[str]:
    """Yield a sentence for each fact about the import, such as unmatched rows, that applies."""
    yield _matched(counts)
    if counts["first_index"]:
        yield counts_from_1(_NOUN)
    if counts["unmatched"]:
        yield f"{_not_scored(counts)}, the first:{lines(map(_refused, counts['unmatched_first']))}"
    if counts["ambiguous"]:
        yield (
            f"Paired in order: {counted(counts['ambiguous'], _NOUN)} whose question the data set "
            "asks twice, and neither gold nor category decides which is meant."
        )
    yield from _conversations(counts)
    if missing:
        yield not_in_the_means(_NOUN, missing, counts["questions"])
    if counts["categories_sentence"]:
        yield counts["categories_sentence"]
    if counts["gold_differs"]:
        yield (
            f"Another gold answer than the data set's: {counted(counts['gold_differs'], _NOUN)} "
            f"({', '.join(counts['gold_differs_first'])} first); scores are against the data set's."
        )
    for doubt in (*_copied(counts), *counts["doubts"]):
        yield f"Beware: {doubt}."
    if counts["empty_answers"]:
        yield f"Empty answers, scored as such: {counts['empty_answers']:,}."
    for name, count in counts["reported_scores"].items():
        yield (
            f"The file's {reported()[name]} equals the {name} computed here in "
            f"{count['equal']:,} of {count['rows']:,} rows."
        )
    yield from _columns(counts)


def warnings(counts: Counts, missing: Missing) -> Iterator[str]:
    """Yield a sentence for each reason why this import's means may mislead."""
    if counts["unmatched"]:
        yield _not_scored(counts)
    yield from partly_covered(_NOUN, missing)
    if counts["categories_relabelled"]:
        yield counts["categories_sentence"]
    yield from (*_copied(counts), *counts["doubts"])
    judged = counts["told"]["verdicts"]
    if 0 < judged < counts["matched"] - counts["errors"]:
        yield f"only {judged:,} of {counts['matched']:,} answers have a judge's verdict"


def _matched(counts: Counts) -> str:
    by_index = counts["matched_by_index"]
    ways = {"by qa_index": by_index, "by question": counts["matched"] - by_index}
    line = f"Matched: {counts['matched']:,} of {counted(counts['rows'], _NOUN)} " + " and ".join(
        f"{count:,} {way}" if count < counts["matched"] else way
        for way, count in ways.items()
        if count
    )
    unchecked = counts["not_checked_by_question"]
    if unchecked:
        return f"{line}; {unchecked:,} have no question, so the index is unchecked."
    return line + (", checked against the question." if by_index else ".")


def _not_scored(counts: Counts) -> str:
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in counts["unmatched_by_reason"].items())
    rows = counted(counts["rows"], _NOUN)
    return f"Not scored: {counts['unmatched']:,} of {rows} ({reasons})"


def _refused(row: Mapping[str, Any]) -> str:
    question = f": {row['question']!r}" if row["question"] else ""
    return f"{row['place']}: {row['reason']}{question}"


def _conversations(counts: Counts) -> Iterator[str]:
    """Yield which conversations the file's labels mean, where that is not plain."""
    placed: Mapping[str, str | None] = counts["conversations"]
    moved = [f"{label} is {placed[label]}" for label in counts["conversations_moved"]]
    if moved:
        yield (
            "Conversations at another position than in the data set, by their questions: "
            f"{_listed(moved)}."
        )
    named = [
        f"{label} is {id_}"
        for label, id_ in placed.items()
        if id_ not in (None, label) and not label.isdecimal()
    ]
    if named:
        yield f"Conversations identified by their questions: {_listed(named)}."


def _copied(counts: Counts) -> list[str]:
    """Return a sentence if hardly any answer differs from the gold answer."""
    same, golds = counts["same_as_gold"], counts["with_gold"]
    if same <= COPIED * golds:
        return []
    return [
        f"{same:,} of {golds:,} answers are the gold answer word for word: the column read as the "
        "answer may be the gold's"
    ]


def _columns(counts: Counts) -> Iterator[str]:
    """Yield what the file reports beside the answers, and what was not read."""
    columns, unread = counts["columns"], counts["not_read"]
    present, empty, missing = [], [], []
    maybe: dict[str, None] = {}
    for name, (words, field, hint) in _REPORTED.items():
        column, count = columns.get(field), counts["told"][name]
        if count:
            present.append(f"{words} ({count:,}{f', {column}' * (column not in (None, field))})")
        elif column is not None:
            empty.append(f"{words} ({column})")
        elif hinted := [one for one in unread if hint.search(snake(one))]:
            maybe |= dict.fromkeys(hinted)
        else:
            missing.append(words)
    if present:
        answered = counts["matched"] - counts["errors"]
        yield f"As reported by the file: {', '.join(present)} of {answered:,}."
    if counts["runs_of_judge"]:
        yield (
            f"Verdicts of several runs or judges: {counts['runs_of_judge']:,} answers; "
            "their score is the mean unless the file has one."
        )
    if empty:
        yield f"Empty in the rows that are scored: {', '.join(empty)}."
    if maybe:
        yield f"Not read, though the names suggest more: {_listed(list(maybe))}."
    if missing:
        yield f"Not in the file: {', '.join(missing)}."
    if counts["files_passed_over"]:
        yield f"Files of the folder without rows: {_listed(counts['files_passed_over'])}."
    if unread:
        yield f"Columns that were not read: {_listed(unread)}."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return shown(", ".join(names[:_LISTED]), _LINE) + more
