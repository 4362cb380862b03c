"""The account of imported answers in sentences, for the terminal and the report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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
from eval.records.schema import Record
from memsys.core.files import shown

COPIED = 0.9  # share of answers equal to the gold answer that no reader reaches
_NOUN = "row"
_TIMES = re.compile(r"time|latency|duration|elapsed|(^|_)(ms|sec|secs|seconds)(_|$)")
_LISTED = 12  # columns, files or conversations that a sentence names
_LINE = 600  # characters of their names
Counts = Mapping[str, Any]


class Reported(NamedTuple):
    """What a file may report: `words`, field of an answer, part of the names of its columns, and
    the value in a record.
    """

    words: str
    field: str
    hint: re.Pattern[str]
    value: Callable[[Record], Any]


REPORTED = {  # by name in the account
    "verdicts": Reported("judge verdicts", "judge", VERDICT_HINT, lambda r: r["scores"]["judge"]),
    "context_tokens": Reported(
        "context tokens", "context_tokens", re.compile("token"), lambda r: r["context_tokens"]
    ),
    "retrieve_ms": Reported(
        "retrieval latency", "search_seconds", _TIMES, lambda r: r["latency_ms"]["retrieve"]
    ),
    "answer_ms": Reported(
        "answering latency", "answer_seconds", _TIMES, lambda r: r["latency_ms"]["answer"]
    ),
    "total_ms": Reported(
        "total latency", "total_seconds", _TIMES, lambda r: r["latency_ms"]["total"]
    ),
}


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
    for name, one in REPORTED.items():
        column, count = columns.get(one.field), counts["told"][name]
        if count:
            other_name = "" if column in (None, one.field) else f", {column}"
            present.append(f"{one.words} ({count:,}{other_name})")
        elif column is not None:
            empty.append(f"{one.words} ({column})")
        elif hinted := [name for name in unread if one.hint.search(snake(name))]:
            maybe |= dict.fromkeys(hinted)
        else:
            missing.append(one.words)
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


def is_official(one: Mapping[str, Any]) -> bool:
    """Return whether a label is the official number or the official name."""
    return one["label"] in (str(one["official"]), one["type"])


def categories_sentence(categories: Sequence[Mapping[str, Any]]) -> str | None:
    """Describe how the labels differ from the official categories; None if they do not.

    `categories`: numbers of rows by label and official category. If these correspond one to one,
    the labels are a permutation or other names, and tables by them have exchanged rows.
    """
    others = [one for one in categories if not is_official(one)]
    if not others:
        return None
    labels, officials = ([one[name] for one in categories] for name in ("label", "official"))
    if len(set(labels)) < len(labels) or len(set(officials)) < len(officials):
        relabelled, rows = (sum(one["rows"] for one in each) for each in (others, categories))
        return (
            f"Another category than the official one: {relabelled:,} of {rows:,} rows. Scores go "
            "by the official types."
        )
    renamed = "; ".join(f"{one['label']} is {one['official']} {one['type']}" for one in others)
    same_names = set(labels) == set(map(str, officials))
    kind = "a permutation of the official categories" if same_names else "other names"
    return (
        f"The file's categories are {kind}: {renamed}. Scores go by the official types; tables "
        "by the file's own categories have these rows under other names."
    )


def labels_table(counts: Counts, draw: Callable[[list[str], list[list[str]]], str]) -> str | None:
    """Return the table of the file's category labels by official category; None if they agree.

    `draw`: writes a header and rows.
    """
    if not counts.get("categories_relabelled"):
        return None
    rows = {(one["label"], one["official"]): str(one["rows"]) for one in counts["categories"]}
    types = dict(sorted((one["official"], one["type"]) for one in counts["categories"]))
    header = ["label in the file", *(f"{number} {name}" for number, name in types.items())]
    labels = dict.fromkeys(label for label, _ in rows)
    return draw(header, [[one, *(rows.get((one, n), "0") for n in types)] for one in labels])
