"""Account of an imported ranking: what was matched, and what the rankings contain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval.datasets.pooled import POOLED
from eval.imports.account import (
    SHOWN,
    Account,
    Missing,
    counted,
    counts_from_1,
    lines,
    missing_by_type,
    not_in_the_means,
    partly_covered,
)
from eval.imports.rankings.imports import Import

_NOUN = "ranking"


def account(source: Import) -> Account:
    """Return counts, the first of each kind, and sentences on them."""
    matching, questions = source.matching, source.dataset.questions
    rankings = matching.rankings
    missing = missing_by_type(source.dataset, rankings)
    lengths = [len(one.ranked) for one in rankings.values() if one.ranked]
    counts: dict[str, Any] = {
        "rows": len(source.rows),
        "matched": len(rankings),
        "questions": len(questions),
        "dataset": source.dataset.name,
        "unit": matching.unit,
        "unknown": len(matching.unknown),
        "unknown_first": [
            {"place": row.place, "reason": reason, "question": f"{row.text or row.id:.80}"}
            for row, reason in matching.unknown[:SHOWN]
        ],
        "doubled": len(matching.doubled),
        "doubled_first": [
            {"place": row.place, "question": id_} for row, id_ in matching.doubled[:SHOWN]
        ],
        "without_ranking": len(questions) - len(rankings),
        "without_ranking_by_type": {
            name: {"without": without, "of": of} for name, (without, of) in missing.items()
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
    warnings = partly_covered(_NOUN, missing)
    if counts["unknown"]:
        warnings.append(f"{counted(counts['unknown'], _NOUN)} of unknown questions are not scored")
    return Account(counts, [*_sentences(counts, missing), _depth(source, counts)], warnings)


def _sentences(counts: Mapping[str, Any], missing: Missing) -> Iterator[str]:
    yield (
        f"Rankings of {counts['unit']}s for {counts['matched']:,} of {counts['questions']:,} "
        f"questions of {counts['dataset']}."
    )
    if counts["unknown"]:
        first = lines(_unknown(one) for one in counts["unknown_first"])
        yield f"Not scored: {counted(counts['unknown'], _NOUN)}, the first:{first}"
    if counts["doubled"]:
        first = lines(f"{one['place']}: {one['question']}" for one in counts["doubled_first"])
        yield (
            f"Ranked twice: {counted(counts['doubled'], _NOUN)} of a question that has one "
            f"already, which counts; the first:{first}"
        )
    if missing:
        yield not_in_the_means(_NOUN, missing, counts["questions"])
    if counts["empty"]:
        yield f"Empty, and scored as such: {_of_questions(counts['empty'])}."
    if counts["first_index"]:
        yield counts_from_1(_NOUN)
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
    first = ", ".join(ids[:SHOWN])
    return f"{counted(len(ids), _NOUN)} ({first}{', ...' if len(ids) > SHOWN else ''})"
