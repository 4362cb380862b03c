"""Account of the rows of an imported file of answers, for the manifest, the report and the
terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from eval.answers.files import AnswerFile
from eval.answers.layout import PLUS
from eval.answers.match import Matching
from eval.answers.plausible import are_scores
from eval.answers.questions import normalise
from eval.datasets.types import Dataset
from eval.imports.account import SHOWN, Account, missing_by_type
from eval.imports.rescore.sentences import (
    REPORTED,
    categories_sentence,
    is_official,
    sentences,
    warnings,
)
from eval.records.answer_key_views import under_original
from eval.records.schema import Record

_QUESTION = 80  # characters of a question in a line
_SAME_SCORE = 1e-6


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
        "conversations": {name: one.conversation for name, one in matching.labels.items()},
        "conversations_moved": sorted(name for name, one in matching.labels.items() if one.moved),
        "questions": len(dataset.questions),
        "unanswered_by_type": {
            name: {"unanswered": without, "of": of} for name, (without, of) in missing.items()
        },
        "categories": categories,
        "categories_relabelled": sum(one["rows"] for one in categories if not is_official(one)),
        "categories_sentence": categories_sentence(categories),
        "gold_differs": len(other_golds),
        "gold_differs_first": other_golds[:SHOWN],
        "with_gold": len(with_gold),
        "same_as_gold": sum(
            normalise(one["answer"]) == normalise(one["gold"]) for one in with_gold
        ),
        "doubts": doubts,
        "empty_answers": sum(record["answer"] == "" for record in records),
        "errors": len(records) - len(ok),
        "told": {
            name: sum(one.value(record) is not None for record in ok)
            for name, one in REPORTED.items()
        },
        "runs_of_judge": sum(bool(record["judge"]) for record in ok),
        "columns": {name: PLUS.join(columns) for name, columns in file.columns.items()},
        "files_passed_over": list(file.passed_over),
        "not_read": [one.name for one in file.proposal.table if one.meaning is None],
        "reported_scores": _agreement(matching, records),
    }
    return Account(counts, list(sentences(counts, missing)), list(warnings(counts, missing)))


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
