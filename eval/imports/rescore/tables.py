"""The account of an import in sentences, for the terminal and the report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eval.answers.column_names import VERDICT_HINT, snake
from eval.answers.columns import Column, Proposal
from eval.datasets.types import TYPES
from eval.imports.rescore.account import COPIED, Labels
from eval.metrics.registry import reported
from memsys.core.files import shown

Account = Mapping[str, Any]
_TIMES = re.compile(r"time|latency|duration|elapsed|(^|_)(ms|sec|secs|seconds)(_|$)")
_OPTIONAL = {  # by field of the account: words, field of an answer, part of the names of columns
    "verdicts": ("judge verdicts", "judge", VERDICT_HINT),
    "context_tokens": ("context tokens", "context_tokens", re.compile("token")),
    "retrieve_ms": ("retrieval latency", "search_seconds", _TIMES),
    "answer_ms": ("answering latency", "answer_seconds", _TIMES),
    "total_ms": ("total latency", "total_seconds", _TIMES),
}
_EXAMPLE = 36  # characters of a value in the table of columns
_NAME = 30
_LISTED = 12  # columns, files or conversations that a sentence names
_LINE = 600  # characters of their names


def sentences(account: Account) -> list[str]:
    """Return a sentence for each fact about the import, such as unmatched rows, that applies.

    The account of imported rankings contains its sentences.
    """
    if "sentences" in account:
        return list(account["sentences"])
    first = "".join(
        f"\n  {row['place']}: {row['reason']}"
        + (f": {row['question']!r}" if row["question"] else "")
        for row in account["unmatched_first"]
    )
    placed, moved = account["conversations"], account["conversations_moved"]
    named = {
        label: id_
        for label, id_ in placed.items()
        if id_ not in (None, label) and not label.isdecimal()
    }
    cells = account["unanswered_by_type"]
    left = sum(cell["unanswered"] for cell in cells.values())
    columns = account.get("columns", {})
    optional = {name: _OPTIONAL[name] for name in account["told"]}
    present = [
        f"{words} ({account['told'][name]:,}"
        + (f", {columns[field]})" if columns.get(field, field) != field else ")")
        for name, (words, field, _) in optional.items()
        if account["told"][name]
    ]
    empty = [
        f"{words} ({columns[field]})"
        for name, (words, field, _) in optional.items()
        if not account["told"][name] and field in columns
    ]
    absent = {
        name: (words, hint)
        for name, (words, field, hint) in optional.items()
        if not account["told"][name] and field not in columns
    }
    unread, other = account.get("not_read", []), account.get("files_passed_over", [])
    maybe = {
        column: words
        for words, hint in absent.values()
        for column in unread
        if hint.search(snake(column))
    }
    missing = [
        words for words, hint in absent.values() if not any(hint.search(snake(c)) for c in unread)
    ]
    answered = account["matched"] - account["errors"]
    candidates = [  # whether a sentence applies, and the sentence
        (True, _matched(account)),
        (account.get("first_index"), "The file counts qa_index from 1, as no row has 0."),
        (account["unmatched"], f"{_not_scored(account)}, the first:{first}"),
        (
            account["ambiguous"],
            f"Paired in order: {_rows(account['ambiguous'])} whose question the data set asks "
            "twice, and neither gold nor category decides which is meant.",
        ),
        (
            moved,
            "Conversations at another position than in the data set, by their questions: "
            f"{_pairs({label: placed[label] for label in moved})}.",
        ),
        (named, f"Conversations identified by their questions: {_pairs(named)}."),
        (
            cells,
            f"Without a row, and in no mean: {left:,} of {account['questions']:,} questions "
            f"({_share(cells)}).",
        ),
        (account["categories_sentence"], account["categories_sentence"]),
        (
            account["gold_differs"],
            f"Another gold answer than the data set's: {_rows(account['gold_differs'])} "
            f"({', '.join(account['gold_differs_first'])} first); scores are against the data "
            "set's.",
        ),
        (_copied(account), f"Beware: {_copied(account)}."),
        *((True, f"Beware: {doubt}.") for doubt in account.get("doubts", ())),
        (
            account["empty_answers"],
            f"Empty answers, scored as such: {account['empty_answers']:,}.",
        ),
        *(
            (
                True,
                f"The file's {reported()[name]} equals the {name} computed here in "
                f"{count['equal']:,} of {count['rows']:,} rows.",
            )
            for name, count in account["reported_scores"].items()
        ),
        (present, f"As reported by the file: {', '.join(present)} of {answered:,}."),
        (
            account.get("runs_of_judge"),
            f"Verdicts of several runs or judges: {account.get('runs_of_judge', 0):,} answers; "
            "their score is the mean unless the file has one.",
        ),
        (empty, f"Empty in the rows that are scored: {', '.join(empty)}."),
        (maybe, f"Not read, though the names suggest more: {_listed(list(maybe))}."),
        (missing, f"Not in the file: {', '.join(missing)}."),
        (other, f"Files of the folder without rows: {_listed(other)}."),
        (unread, f"Columns that were not read: {_listed(unread)}."),
    ]
    return [sentence for applies, sentence in candidates if applies]


def warnings(account: Account) -> list[str]:
    """Return a sentence for each reason why this import's means may mislead."""
    cells = account["unanswered_by_type"]
    partly = {name: cell for name, cell in cells.items() if cell["unanswered"] < cell["of"]}
    judged = account["told"]["verdicts"]
    candidates = [
        (account["unmatched"], _not_scored(account)),
        (
            partly,
            f"{_share(partly)} have no row: the means cover only the questions in the file",
        ),
        (account["categories_relabelled"], account["categories_sentence"]),
        (_copied(account), _copied(account)),
        *((True, doubt) for doubt in account["doubts"]),
        (
            0 < judged < account["matched"] - account["errors"],
            f"only {judged:,} of {account['matched']:,} answers have a judge's verdict",
        ),
    ]
    return [sentence for applies, sentence in candidates if applies]


def _copied(account: Account) -> str | None:
    """Return a sentence if hardly any answer differs from the gold answer, else None."""
    same, golds = account["same_as_gold"], account["with_gold"]
    if same <= COPIED * golds:
        return None
    return (
        f"{same:,} of {golds:,} answers are the gold answer word for word: the column read as the "
        "answer may be the gold's"
    )


def labels_table(account: Account, draw: Callable[[list[str], list[list[str]]], str]) -> str | None:
    """Return the table of the file's category labels by official category; None if they agree."""
    if not account.get("categories_relabelled"):
        return None
    counts = {(row["label"], row["official"]): row["rows"] for row in account["categories"]}
    types = {row["official"]: row["type"] for row in account["categories"] if "type" in row}
    return draw(*Labels(counts, types or TYPES).table())


def columns_table(proposal: Proposal) -> str:
    """Return the table of the columns of a file, their meaning, the share of values that fit it,
    and an example.
    """
    rows = [
        (
            shown(column.name, _NAME - 3),
            (column.meaning or "-").replace("_", " "),
            "-" if column.share is None else f"{column.share:.0%}",
            shown(column.example, _EXAMPLE - 3),
        )
        for column in _shown(proposal)
    ]
    more = len(proposal.table) - len(rows)
    header = ("column", "read as", "share", "example")
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [header, tuple("-" * width for width in widths), *rows]
    text = "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return f"{text}\n... and {more} columns that are not read" if more else text


def _shown(proposal: Proposal) -> list[Column]:
    """Return the columns that are read, and the first of the others."""
    others = [column for column in proposal.table if column.meaning is None][:_LISTED]
    return [column for column in proposal.table if column.meaning is not None or column in others]


def _matched(account: Account) -> str:
    ways = {
        "by qa_index": account["matched_by_index"],
        "by question": account["matched"] - account["matched_by_index"],
    }
    line = f"Matched: {account['matched']:,} of {_rows(account['rows'])} " + " and ".join(
        f"{count:,} {way}" if count < account["matched"] else way
        for way, count in ways.items()
        if count
    )
    unchecked = account["not_checked_by_question"]
    if unchecked:
        return f"{line}; {unchecked:,} have no question, so the index is unchecked."
    return line + (", checked against the question." if account["matched_by_index"] else ".")


def _rows(count: int) -> str:
    return f"{count:,} row" + ("s" if count != 1 else "")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return shown(", ".join(names[:_LISTED]), _LINE) + more


def _pairs(conversations: Mapping[str, str]) -> str:
    return _listed([f"{label} is {id_}" for label, id_ in conversations.items()])


def _not_scored(account: Account) -> str:
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in account["unmatched_by_reason"].items())
    return f"Not scored: {account['unmatched']:,} of {_rows(account['rows'])} ({reasons})"


def _share(cells: Mapping[str, Mapping[str, int]]) -> str:
    return ", ".join(
        f"{cell['unanswered']:,} of {cell['of']:,} {name}" for name, cell in cells.items()
    )
