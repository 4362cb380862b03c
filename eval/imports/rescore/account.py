"""Account of the rows of an imported file of answers, for the manifest, the report and the
terminal.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from eval.answers.files import AnswerFile, are_scores
from eval.answers.layout import PLUS, snake
from eval.answers.match import Matching, normalise
from eval.datasets.types import Dataset
from eval.imports.account import (
    SHOWN,
    TABLE,
    Account,
    Missing,
    counted,
    lines,
    missing_by_type,
    missing_facts,
    sentences,
)
from eval.metrics.registry import reported
from eval.records.answer_key_views import under_original
from eval.records.schema import Record
from memsys.core.files import shown

COPIED = 0.9  # share of answers equal to the gold answer that no reader reaches
_LISTED = 12  # columns, files or conversations that a sentence names
_LINE = 600  # characters of their names
_QUESTION = 80  # characters of a question in a line
_SAME_SCORE = 1e-6
Counts = Mapping[str, Any]


class _Reported(NamedTuple):
    """What a file may report: `words`, field of an answer, place of the value in a record, and part
    of the names of its columns.
    """

    words: str
    field: str
    value: str
    hint: str

    def is_in(self, record: Record) -> bool:
        """Return whether the record has the value."""
        value: Any = record
        for name in self.value.split("."):
            value = value[name]
        return value is not None


_REPORTED = {name: _Reported(**row) for name, row in TABLE["reported"].items()}


def account(
    file: AnswerFile, matching: Matching, dataset: Dataset, records: Sequence[Record]
) -> Account:
    """Return counts, first unmatched rows, labels and agreement, and sentences on them.

    `records`: of the matched rows, in the data set's order. They are counted under the original
    answer key, which is the one the file was written for.
    """
    records = list(map(under_original, records))
    questions = {question.id: question for question in dataset.questions}
    pairs = [(questions[identity], row) for identity, row in matching.answers.items()]
    labels = Counter((row.category, q.category) for q, row in pairs if row.category is not None)
    categories = [
        {"label": label, "official": official, "type": dataset.types[official], "rows": count}
        for (label, official), count in sorted(labels.items())
    ]
    missing = missing_by_type(dataset, matching.answers)
    other_golds = [
        question.id
        for question, row in pairs
        if row.gold is not None and question.original_gold is not None
        if normalise(row.gold) != normalise(question.original_gold)
    ]
    ok = [record for record in records if record["status"] == "ok"]
    with_gold = [record for record in ok if record["gold"] is not None]
    doubts = [] if file.proposal.doubt is None else [file.proposal.doubt]
    if are_scores([record["answer"] or "" for record in ok]):
        doubts.append(
            "the answers are numbers of 0 to 1: the column read as the answer may be a score"
        )
    counts: dict[str, Any] = {
        "rows": len(file.rows),
        "matched": len(matching.answers),
        "matched_by_index": matching.by_index,
        "not_checked_by_question": matching.unchecked,
        "first_index": matching.first,
        "ambiguous": matching.ambiguous,
        "unmatched": len(matching.unmatched),
        "unmatched_by_reason": dict(Counter(reason for _, reason in matching.unmatched)),
        "unmatched_first": [
            {
                "place": row.place,
                "reason": reason,
                "conversation": row.conversation,
                "question": (row.question or "")[:_QUESTION],
            }
            for row, reason in matching.unmatched[:SHOWN]
        ],
        "conversations": {name: m.conversation for name, m in matching.labels.items()},
        "conversations_moved": sorted(name for name, m in matching.labels.items() if m.moved),
        "questions": len(dataset.questions),
        "unanswered_by_type": {
            name: {"unanswered": without, "of": of} for name, (without, of) in missing.items()
        },
        "categories": categories,
        "categories_relabelled": sum(row["rows"] for row in categories if not _is_official(row)),
        "categories_sentence": categories_sentence(categories),
        "gold_differs": len(other_golds),
        "gold_differs_first": other_golds[:SHOWN],
        "with_gold": len(with_gold),
        "same_as_gold": sum(
            normalise(record["answer"]) == normalise(record["gold"]) for record in with_gold
        ),
        "doubts": doubts,
        "empty_answers": sum(record["answer"] == "" for record in records),
        "errors": len(records) - len(ok),
        "told": {name: sum(map(report.is_in, ok)) for name, report in _REPORTED.items()},
        "runs_of_judge": sum(bool(record["judge"]) for record in ok),
        "columns": {name: PLUS.join(columns) for name, columns in file.proposal.columns.items()},
        "files_passed_over": list(file.passed_over),
        "not_read": [column.name for column in file.proposal.table if column.meaning is None],
        "reported_scores": _agreement(matching, records),
    }
    facts = _facts(counts, missing)
    kinds = ("answers", "warnings_of_answers")
    return Account(counts, *(list(sentences(kind, facts)) for kind in kinds))


def _agreement(matching: Matching, records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Count, by metric, the scores in the file and those equal to the ones computed here."""
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        for name, score in matching.answers[record["id"]].reported.items():
            if (ours := record["scores"][name]) is not None:
                count = counts.setdefault(name, {"rows": 0, "equal": 0})
                count["rows"] += 1
                count["equal"] += abs(ours - score) <= _SAME_SCORE
    return counts


def _facts(counts: Counts, missing: Missing) -> dict[str, Any]:
    """Return the facts that the sentences on the account are made of."""
    matched, by_index = counts["matched"], counts["matched_by_index"]
    ways = {"by qa_index": by_index, "by question": matched - by_index}
    if unchecked := counts["not_checked_by_question"]:
        checked = f"; {unchecked:,} have no question, so the index is unchecked"
    else:
        checked = ", checked against the question" * bool(by_index)
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in counts["unmatched_by_reason"].items())
    rows, answered = counted(counts["rows"], "row"), matched - counts["errors"]
    copied = counts["same_as_gold"] > COPIED * counts["with_gold"]
    judged = counts["told"]["verdicts"]
    placed: Mapping[str, str | None] = counts["conversations"]
    others = [name for name in placed if placed[name] not in (None, name) and not name.isdecimal()]
    return {
        **counts,
        **missing_facts(missing),
        **_columns(counts),
        "ways": " and ".join(
            f"{count:,} {way}" if count < matched else way for way, count in ways.items() if count
        ),
        "checked": checked,
        "not_scored": f"Not scored: {counts['unmatched']:,} of {rows} ({reasons})",
        "first_unmatched": lines(
            f"{row['place']}: {row['reason']}"
            + (f": {row['question']!r}" if row["question"] else "")
            for row in counts["unmatched_first"]
        ),
        "moved": _listed([f"{name} is {placed[name]}" for name in counts["conversations_moved"]]),
        "identified": _listed([f"{name} is {placed[name]}" for name in others]),
        "first_golds": ", ".join(counts["gold_differs_first"]),
        "doubts": [TABLE["copied"].format(**counts)] * copied + counts["doubts"],
        "equal_scores": [
            (reported()[name], name, score["equal"], score["rows"])
            for name, score in counts["reported_scores"].items()
        ],
        "answered": answered,
        "partly_judged": judged if judged < answered else 0,
    }


def _columns(counts: Counts) -> dict[str, str]:
    """Return what the file reports beside the answers, and what was not read."""
    columns, unread = counts["columns"], counts["not_read"]
    present, empty, absent = list[str](), list[str](), list[str]()
    maybe: dict[str, None] = {}
    for name, report in _REPORTED.items():
        column, count = columns.get(report.field), counts["told"][name]
        if count:
            other_name = "" if column in (None, report.field) else f", {column}"
            present.append(f"{report.words} ({count:,}{other_name})")
        elif column is not None:
            empty.append(f"{report.words} ({column})")
        elif hinted := [name for name in unread if re.search(report.hint, snake(name))]:
            maybe |= dict.fromkeys(hinted)
        else:
            absent.append(report.words)
    lists = {"present": present, "empty": empty, "absent": absent}
    long = {"maybe": [*maybe], "not_read": unread, "files_passed_over": counts["files_passed_over"]}
    return {name: ", ".join(names) for name, names in lists.items()} | {
        name: _listed(names) for name, names in long.items()
    }


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return shown(", ".join(names[:_LISTED]), _LINE) + more


def _is_official(row: Mapping[str, Any]) -> bool:
    """Return whether a label is the official number or the official name."""
    return row["label"] in (str(row["official"]), row["type"])


def categories_sentence(categories: Sequence[Mapping[str, Any]]) -> str | None:
    """Describe how the labels differ from the official categories; None if they do not.

    `categories`: numbers of rows by label and official category. If these correspond one to one,
    the labels are a permutation or other names, and tables by them have exchanged rows.
    """
    others = [row for row in categories if not _is_official(row)]
    if not others:
        return None
    labels, officials = ([row[name] for row in categories] for name in ("label", "official"))
    if len(set(labels)) < len(labels) or len(set(officials)) < len(officials):
        relabelled, rows = (sum(row["rows"] for row in each) for each in (others, categories))
        return str(TABLE["categories"]["mixed"]).format(relabelled=relabelled, rows=rows)
    renamed = "; ".join(f"{row['label']} is {row['official']} {row['type']}" for row in others)
    same_names = set(labels) == set(map(str, officials))
    kind = "a permutation of the official categories" if same_names else "other names"
    return str(TABLE["categories"]["renamed"]).format(kind=kind, renamed=renamed)


def labels_table(counts: Counts, draw: Callable[[list[str], list[list[str]]], str]) -> str | None:
    """Return the table of the file's category labels by official category; None if they agree.

    `draw`: writes a header and rows.
    """
    if not counts.get("categories_relabelled"):
        return None
    rows = {(row["label"], row["official"]): str(row["rows"]) for row in counts["categories"]}
    types = dict(sorted((row["official"], row["type"]) for row in counts["categories"]))
    header = ["label in the file", *(f"{number} {name}" for number, name in types.items())]
    labels = dict.fromkeys(label for label, _ in rows)
    return draw(header, [[label, *(rows.get((label, n), "0") for n in types)] for label in labels])
