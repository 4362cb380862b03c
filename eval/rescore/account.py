"""What became of a file's rows, for the manifest, the report and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from eval.answers.answers import AnswerFile
from eval.answers.labels import count_labels
from eval.answers.match import Matching
from eval.answers.words import normal
from eval.datasets.types import TYPES, Dataset
from eval.records.answer_key_views import under_original
from eval.records.schema import Record

_SHOWN = 5  # rows of those that match nothing
_QUESTION = 80  # characters of a question in a line
_SAME_SCORE = 1e-6
_OPTIONAL: dict[str, Callable[[Record], Any]] = {
    "verdicts": lambda r: r["scores"]["judge"],
    "context_tokens": lambda r: r["context_tokens"],
    "retrieve_ms": lambda r: r["latency_ms"]["retrieve"],
    "total_ms": lambda r: r["latency_ms"]["total"],
}


def account(
    file: AnswerFile, matching: Matching, dataset: Dataset, records: Sequence[Record]
) -> dict[str, Any]:
    """Plain JSON values: counts, the first unmatched rows, labels, and what the file tells.

    `records`: of the matched rows, in the data set's order. All is told under the data set's own
    answer key, which is the one that the file was made for.
    """
    records = list(map(under_original, records))
    questions = {question.id: question for question in dataset.questions}
    labels = count_labels(matching.answers, questions)
    asked = Counter(question.type for question in dataset.questions)
    answered = Counter(questions[identity].type for identity in matching.answers)
    golds = [
        identity
        for identity, row in matching.answers.items()
        if row.gold is not None
        and (gold := questions[identity].original_gold) is not None
        and normal(row.gold) != normal(gold)
    ]
    ok = [record for record in records if record["status"] == "ok"]
    with_gold = [record for record in ok if record["gold"] is not None]
    return {
        "rows": len(file.rows),
        "matched": len(matching.answers),
        "matched_by_index": matching.by_index,
        "not_checked_by_question": matching.unchecked,
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
            for row, reason in matching.unmatched[:_SHOWN]
        ],
        "conversations": {place.label: place.conversation for place in matching.places.values()},
        "conversations_moved": sorted(p.label for p in matching.places.values() if p.moved),
        "questions": len(dataset.questions),
        "unanswered_by_type": {
            name: {"unanswered": asked[name] - answered[name], "of": asked[name]}
            for name in TYPES.values()
            if asked[name] > answered[name]
        },
        "categories": [
            {"label": label, "official": official, "rows": count}
            for (label, official), count in sorted(labels.counts.items())
        ],
        "categories_relabelled": labels.relabelled,
        "categories_sentence": labels.sentence(),
        "gold_differs": len(golds),
        "gold_differs_first": golds[:_SHOWN],
        "with_gold": len(with_gold),
        "same_as_gold": sum(normal(one["answer"]) == normal(one["gold"]) for one in with_gold),
        "empty_answers": sum(record["answer"] == "" for record in records),
        "errors": sum(record["status"] == "error" for record in records),
        "told": {
            name: sum(value(record) is not None for record in ok)
            for name, value in _OPTIONAL.items()
        },
        "reported_scores": _agreement(matching, records),
    }


def _agreement(matching: Matching, records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """How many of the scores that stand in the file are those computed here, by metric."""
    found: dict[str, dict[str, int]] = {}
    for record in records:
        for name, reported in matching.answers[record["id"]].reported.items():
            ours = record["scores"][name]
            if ours is not None:
                count = found.setdefault(name, {"rows": 0, "equal": 0})
                count["rows"] += 1
                count["equal"] += abs(ours - reported) <= _SAME_SCORE
    return found
