"""Account of the rows of an imported file, for the manifest, the report and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.answers.files import AnswerFile
from eval.answers.layout import joined
from eval.answers.match import Matching
from eval.answers.plausible import are_scores
from eval.answers.questions import normalise
from eval.datasets.types import TYPES, Dataset
from eval.imports.account import SHOWN, Account, missing_by_type
from eval.imports.rescore.sentences import sentences, warnings
from eval.records.answer_key_views import under_original
from eval.records.schema import Record

_QUESTION = 80  # characters of a question in a line
_SAME_SCORE = 1e-6
_REPORTED: Mapping[str, Callable[[Record], Any]] = {
    "verdicts": lambda r: r["scores"]["judge"],
    "context_tokens": lambda r: r["context_tokens"],
    "retrieve_ms": lambda r: r["latency_ms"]["retrieve"],
    "answer_ms": lambda r: r["latency_ms"]["answer"],
    "total_ms": lambda r: r["latency_ms"]["total"],
}


def account(
    file: AnswerFile, matching: Matching, dataset: Dataset, records: Sequence[Record]
) -> Account:
    """Return counts, first unmatched rows, labels and agreement, and sentences on them.

    `records`: of the matched rows, in the data set's order. They are counted under the original
    answer key, which is the one the file was written for.
    """
    records = list(map(under_original, records))
    questions = {question.id: question for question in dataset.questions}
    categories = [
        (row.category, questions[identity].category)
        for identity, row in matching.answers.items()
        if row.category is not None
    ]
    labels = Labels(Counter(categories), dataset.types)
    missing = missing_by_type(dataset, matching.answers)
    golds = [
        identity
        for identity, row in matching.answers.items()
        if row.gold is not None
        and (gold := questions[identity].original_gold) is not None
        and normalise(row.gold) != normalise(gold)
    ]
    ok = [record for record in records if record["status"] == "ok"]
    with_gold = [record for record in ok if record["gold"] is not None]
    same = [normalise(one["answer"]) == normalise(one["gold"]) for one in with_gold]
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
        "conversations": {one.label: one.conversation for one in matching.labels.values()},
        "conversations_moved": sorted(one.label for one in matching.labels.values() if one.moved),
        "questions": len(dataset.questions),
        "unanswered_by_type": {
            name: {"unanswered": without, "of": of} for name, (without, of) in missing.items()
        },
        "categories": [
            {
                "label": label,
                "official": official,
                "type": dataset.types[official],
                "rows": count,
            }
            for (label, official), count in sorted(labels.counts.items())
        ],
        "categories_relabelled": labels.relabelled,
        "categories_sentence": labels.sentence(),
        "gold_differs": len(golds),
        "gold_differs_first": golds[:SHOWN],
        "with_gold": len(with_gold),
        "same_as_gold": sum(same),
        "doubts": _doubts(file, [record["answer"] or "" for record in ok]),
        "empty_answers": sum(record["answer"] == "" for record in records),
        "errors": sum(record["status"] == "error" for record in records),
        "told": {
            name: sum(value(record) is not None for record in ok)
            for name, value in _REPORTED.items()
        },
        "runs_of_judge": sum(bool(record["judge"]) for record in ok),
        "columns": {name: joined(columns) for name, columns in file.columns.items()},
        "files_passed_over": list(file.passed_over),
        "not_read": [one.name for one in file.proposal.table if one.meaning is None],
        "reported_scores": _agreement(matching, records),
    }
    return Account(counts, list(sentences(counts, missing)), list(warnings(counts, missing)))


def _doubts(file: AnswerFile, answers: Sequence[str]) -> list[str]:
    """Return why the column of verdicts or of answers may be another."""
    found = [] if file.proposal.doubt is None else [file.proposal.doubt]
    if are_scores(answers):
        found.append(
            "the answers are numbers of 0 to 1: the column read as the answer may be a score"
        )
    return found


def _agreement(matching: Matching, records: Sequence[Record]) -> dict[str, dict[str, int]]:
    """Count, by metric, the scores in the file and those equal to the ones computed here."""
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        for name, reported in matching.answers[record["id"]].reported.items():
            ours = record["scores"][name]
            if ours is not None:
                count = counts.setdefault(name, {"rows": 0, "equal": 0})
                count["rows"] += 1
                count["equal"] += abs(ours - reported) <= _SAME_SCORE
    return counts


@dataclass(frozen=True, slots=True)
class Labels:
    """Numbers of rows by the file's category label and the official category.

    `types`: official names by category.
    """

    counts: Mapping[tuple[str, int], int]
    types: Mapping[int, str] = field(default_factory=lambda: TYPES)

    @property
    def relabelled(self) -> int:
        """Number of rows whose label is neither the official number nor the official name."""
        return sum(
            n for (label, official), n in self.counts.items() if not self._same(label, official)
        )

    def sentence(self) -> str | None:
        """Describe how the labels differ from the official categories; None if they do not.

        If labels and types correspond one to one, the labels are a permutation or other names, and
        tables by the file's labels have exchanged rows.
        """
        if not self.relabelled:
            return None
        labels, officials = zip(*self.counts, strict=True)
        one_to_one = len(set(labels)) == len(labels) and len(set(officials)) == len(officials)
        if not one_to_one:
            return (
                f"Another category than the official one: {self.relabelled:,} of "
                f"{sum(self.counts.values()):,} rows. Scores go by the official types."
            )
        renamed = "; ".join(
            f"{label} is {official} {self.types[official]}"
            for label, official in sorted(self.counts)
            if not self._same(label, official)
        )
        same_names = set(labels) == set(map(str, officials))
        kind = "a permutation of the official categories" if same_names else "other names"
        return (
            f"The file's categories are {kind}: {renamed}. Scores go by the official types; tables "
            "by the file's own categories have these rows under other names."
        )

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of counts: a row per label, a column per official category."""
        officials = sorted({official for _, official in self.counts})
        header = ["label in the file", *(f"{number} {self.types[number]}" for number in officials)]
        rows = [
            [label, *(str(self.counts.get((label, official), 0)) for official in officials)]
            for label in sorted({label for label, _ in self.counts})
        ]
        return header, rows

    def _same(self, label: str, official: int) -> bool:
        return label in (str(official), self.types[official])


def labels_table(
    account: Mapping[str, Any], draw: Callable[[list[str], list[list[str]]], str]
) -> str | None:
    """Return the table of the file's category labels by official category; None if they agree."""
    if not account.get("categories_relabelled"):
        return None
    counts = {(row["label"], row["official"]): row["rows"] for row in account["categories"]}
    types = {row["official"]: row["type"] for row in account["categories"] if "type" in row}
    return draw(*Labels(counts, types or TYPES).table())
