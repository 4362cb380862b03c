"""Account of an imported ranking: what was matched, and what the rankings contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eval.datasets.pooled import POOLED
from eval.imports.rankings.imports import Import

_SHOWN = 5  # examples of each kind


def account(source: Import) -> dict[str, Any]:
    """Return the account as plain JSON values: counts, the first of each, and the sentences that
    say the same.
    """
    matching, questions = source.matching, source.dataset.questions
    rankings = matching.rankings
    asked = Counter(question.type for question in questions)
    without = [question for question in questions if question.id not in rankings]
    lengths = [len(one.ranked) for one in rankings.values() if one.ranked]
    counts: dict[str, Any] = {
        "rows": len(source.rows),
        "matched": len(rankings),
        "questions": len(questions),
        "dataset": source.dataset.name,
        "unit": matching.unit,
        "unknown": len(matching.unknown),
        "unknown_first": [
            {
                "place": row.place,
                "reason": reason,
                "question": f"{row.text or row.id:.80}",
            }
            for row, reason in matching.unknown[:_SHOWN]
        ],
        "doubled": len(matching.doubled),
        "doubled_first": [
            {"place": row.place, "question": id_} for row, id_ in matching.doubled[:_SHOWN]
        ],
        "without_ranking": len(without),
        "without_ranking_by_type": {
            name: {"without": count, "of": asked[name]}
            for name, count in Counter(question.type for question in without).items()
        },
        "empty": [id_ for id_, one in rankings.items() if not one.ranked],
        "first_index": matching.first,
        "of_other_conversations": matching.strangers,
        "ids": sum(len(one.ranked) for one in rankings.values()),
        "pooled_size": source.sizes[POOLED][f"{matching.unit}s"] if matching.pooled else None,
        "shortest": min(lengths),
        "longest": max(lengths),
        "depth": source.depth,
        "depth_given": source.given_depth is not None,
    }
    return {**counts, "sentences": [*_sentences(counts), _depth(source, counts)]}


def warnings(counts: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each reason why the means of this import may mislead."""
    cells = counts["without_ranking_by_type"]
    partly = [
        f"{cell['without']:,} of {cell['of']:,} {name}"
        for name, cell in cells.items()
        if cell["without"] < cell["of"]
    ]
    found = []
    if partly:
        found.append(f"{', '.join(partly)} have no ranking: the means cover only the others")
    if counts["unknown"]:
        found.append(f"{_count(counts['unknown'], 'ranking')} of unknown questions are not scored")
    return found


def _sentences(counts: Mapping[str, Any]) -> Iterable[str]:
    yield (
        f"Rankings of {counts['unit']}s for {counts['matched']:,} of {counts['questions']:,} "
        f"questions of {counts['dataset']}."
    )
    if counts["unknown"]:
        lines = (_unknown(one) for one in counts["unknown_first"])
        yield f"Not scored: {_count(counts['unknown'], 'ranking')}, the first:{_list(lines)}"
    if counts["doubled"]:
        lines = (f"{one['place']}: {one['question']}" for one in counts["doubled_first"])
        yield (
            f"Ranked twice: {_count(counts['doubled'], 'ranking')} of a question that has one "
            f"already, which counts; the first:{_list(lines)}"
        )
    if counts["without_ranking"]:
        types = ", ".join(
            f"{name} {cell['without']:,} of {cell['of']:,}"
            for name, cell in counts["without_ranking_by_type"].items()
        )
        yield (
            f"Without a ranking, and in no mean: {counts['without_ranking']:,} of "
            f"{counts['questions']:,} questions ({types})."
        )
    if counts["empty"]:
        yield f"Empty, and scored as such: {_of_questions(counts['empty'])}."
    if counts["first_index"]:
        yield "The file counts qa_index from 1, as no ranking has 0."
    if counts["pooled_size"] is not None:
        yield (
            f"Pooled: {counts['of_other_conversations']:,} of {counts['ids']:,} ids are of other "
            "conversations than their question, so the store contains all "
            f"{counts['pooled_size']:,} {counts['unit']}s."
        )


def _unknown(one: Mapping[str, str]) -> str:
    """Return place and reason, and the question unless the place is named by it."""
    place, question = one["place"], one["question"]
    named = place in (f"{question!r:.60}", f"query {question}")
    return f"{place}: {one['reason']}" + ("" if named else f": {question!r}")


def _depth(source: Import, counts: Mapping[str, Any]) -> str:
    """Return the sentence on the depth and on the cutoffs that it determines."""
    low, high, depth = (counts[name] for name in ("shortest", "longest", "depth"))
    if depth is None:
        return "Every ranking contains its whole store, so all cutoffs are known."
    lengths = (
        f"Rankings have {low:,} to {high:,} ids" if low < high else f"Rankings have {low:,} ids"
    )
    if source.given_depth is not None:
        return f"{lengths}. As --depth {depth} states, shorter ones than {depth:,} are complete."
    beyond = f"cutoffs beyond {depth:,} are unknown"
    if depth == high:
        return f"{lengths}: {beyond}."
    first = next(id_ for id_, one in source.cut if len(one.ranked) == depth)
    return (
        f"{lengths}. That of {first} ends at {depth:,}, so {beyond}; add --depth {high} if shorter "
        "rankings are complete."
    )


def _of_questions(ids: Sequence[str]) -> str:
    first = ", ".join(ids[:_SHOWN])
    return f"{_count(len(ids), 'ranking')} ({first}{', ...' if len(ids) > _SHOWN else ''})"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _list(lines: Iterable[str]) -> str:
    return "".join(f"\n  {one}" for one in lines)
