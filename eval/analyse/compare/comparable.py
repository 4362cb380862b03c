"""What a comparison computes and says: measures, order of the runs, contrasts, and warnings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from eval.metrics.registry import find
from eval.metrics.retrieval.registry import parse
from eval.metrics.stats.interval import FEWEST, scope
from eval.records.answer_key_views import evidence_name, key_name
from eval.records.head import differing
from eval.records.run import Run
from eval.summary import quantities
from eval.summary.contrast import Row, contrast
from eval.summary.measures import (
    ABSTAINED,
    ADVERSARIAL,
    F1,
    JUDGE,
    RECALL,
    Measure,
    Shared,
    choose,
    data_files,
    has_score,
    lower_is_better,
    same_data,
    share,
)
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

_R = TypeVar("_R", bound=Run)
_SHOWN = 3  # question ids in a message


@dataclass(frozen=True, slots=True)
class Compared:
    """Measures with the questions that count; `extra` of them, the last, are of the retrieval and
    were not asked for. `against`: objections to the comparison.
    """

    counted: list[tuple[Measure, Shared]]
    extra: int
    against: list[str]

    def tables(self, seed: int) -> list[list[Row]]:
        """Return the rows of each measure. p values are adjusted over all that was asked for, and
        apart from these over the `extra` ones.
        """
        asked = len(self.counted) - self.extra
        return contrast(self.counted[:asked], seed) + contrast(self.counted[asked:], seed)

    def pairs(self, runs: int, type_: str, seed: int) -> list[list[Row]]:
        """Return, for each measure that has questions of `type_`, a row with each of the `runs` but
        the last as reference of those after it; p values are adjusted over all.
        """
        suffixes = [
            (replace(measure, types=(type_,)), replace(shared, scores=shared.scores[i:]))
            for measure, shared in self.counted
            if type_ in measure.types and shared.of(type_).any()
            for i in range(runs - 1)
        ]
        rows = [row for (row,) in contrast(suffixes, seed)]
        return [rows[i : i + runs - 1] for i in range(0, len(rows), runs - 1)]


def compared(runs: Sequence[Run], names: Sequence[str], type_: str | None) -> Compared:
    """Choose the measures (see measures.choose; without `names` evidence recall as well, where the
    runs agree on the evidence) and find the questions that runs share. Raises InputError as choose.
    """
    measures = choose(runs, names, type_)
    against = objections(runs, measures, names)
    beside, first = [], measures[0]
    of_answers = first.ranking is None and first.key != ABSTAINED
    if not names and not against and of_answers and all(has_score(run, RECALL) for run in runs):
        beside = [Measure(RECALL, first.types)]
    if beside and objections(runs, beside, [RECALL]):
        beside = []
    counted = [(measure, share(runs, measure)) for measure in (*measures, *beside)]
    return Compared(counted, len(beside), against)


def best_first(runs: Sequence[_R], comparison: Compared, type_: str | None) -> list[_R]:
    """Return the runs in order of the first measure's mean on `type_` (None: overall, or the only
    type), the best first.
    """
    measure, shared = comparison.counted[0]
    scored_type = type_ or (OVERALL if OVERALL in measure.types else measure.types[-1])
    mask = shared.of(scored_type)
    if not mask.any():
        return list(runs)
    sign = 1 if lower_is_better(measure.key, scored_type) else -1
    total = np.mean if measure.quantity is None else measure.quantity.total
    means = [sign * total(scores) for scores in shared.scores[:, mask]]
    return [run for _, run in sorted(zip(means, runs, strict=True), key=lambda pair: pair[0])]


def objections(runs: Sequence[Run], measures: Sequence[Measure], names: Sequence[str]) -> list[str]:
    """Return the reasons against a comparison with the first run, one sentence each, with remedy.

    `names`: scores as the user requested them. Gold answers are compared as well, since two answer
    keys may have the same name.
    """
    first, reasons = runs[0], []
    for run in runs[1:]:
        pair = f"{first.label} and {run.label}"
        if not same_data(first, run):
            files = " and ".join(data_files(side) for side in (first, run))
            reasons.append(f"{pair} answered different data ({files}); run both on the same files")
        keys = [key_name(side.manifest) for side in (first, run)]
        golds = [
            id_
            for id_, record in first.records.items()
            if (other := run.records.get(id_)) is not None
            and record["question"] == other["question"]
            and record.get("gold") != other.get("gold")
        ]
        if keys[0] != keys[1]:
            reasons.append(
                f"{pair} were scored by different answer keys ({keys[0]}, {keys[1]}); rescore one "
                f"by python -m eval rescore {run.folder} --key {keys[0]}"
            )
        elif golds:
            reasons.append(
                f"{pair} were scored by different gold answers to {len(golds)} questions "
                f"({listed(golds)})"
            )
        cited = [evidence_name(side.manifest) for side in (first, run)]
        metrics = [find(measure.key) for measure in measures]
        of_retrieval = any(measure.ranking is not None for measure in measures) or any(
            score.applies_to in ("retrieval", "sessions", "ranking") for score in metrics if score
        )
        if cited[0] != cited[1] and of_retrieval:
            reasons.append(
                f"{pair} were scored by different evidence ({cited[0]}, {cited[1]}); rescore one "
                f"by python -m eval rescore {run.folder} --evidence {cited[0]}"
            )
        by_f1 = not names and any(measure.key == first.own_f1 for measure in measures)
        if (by_f1 or F1 in names) and first.own_f1 != run.own_f1:
            reasons.append(
                f"f1 is {first.own_f1} in {first.label} and {run.own_f1} in {run.label}; "
                f"name one by --score, as --score {first.own_f1}"
            )
        reasons += _depths(first, run, measures)
        for quantity in (measure.quantity for measure in measures):
            reasons += [] if quantity is None else quantities.objections(first, run, quantity)
        judges = [_judge(side) for side in (first, run)]
        if any(measure.key == JUDGE for measure in measures) and judges[0] != judges[1]:
            reasons.append(
                f"{pair} have different judges ({_name_of(judges[0])}; {_name_of(judges[1])}); "
                f"exclude the verdicts by --score {first.own_f1}"
            )
    return reasons


def listed(ids: Sequence[str]) -> str:
    """Return the first question ids for a message, `a/1, a/2, a/3, ...`."""
    return ", ".join([*ids[:_SHOWN], *["..."] * (len(ids) > _SHOWN)])


def _depths(first: Run, run: Run, measures: Sequence[Measure]) -> list[str]:
    """Return an objection to each measure of whole rankings, if these have different depths."""
    used = [side.manifest["retrieval"] for side in (first, run)]
    depths = [retrieval["depth"] for retrieval in used if retrieval is not None]
    if len(depths) < len(used) or depths[0] == depths[1]:
        return []
    shown = [depth or "all" for depth in depths]
    least = min(depth for depth in depths if depth)
    return [
        f"{measure.key} is of the whole ranking, which is {shown[0]} deep in {first.label} and "
        f"{shown[1]} in {run.label}; use {measure.key}@{least} or less"
        for measure in measures
        if _whole(measure)
    ]


def _whole(measure: Measure) -> bool:
    try:
        return (measure.ranking or parse(measure.key)).whole
    except InputError:
        return False


def _judge(run: Run) -> tuple[Any, ...]:
    """Return everything verdicts depend on: model, prompt, settings, and the verdicts' sources."""
    sources = {
        record.get("judge_source")
        for record in run.records.values()
        if record["scores"].get(JUDGE) is not None
    }
    manifest = run.manifest
    model, settings = manifest["models"].get(JUDGE), manifest["config"].get(JUDGE)
    return model, manifest["prompts"].get(JUDGE), settings, tuple(sorted(map(str, sources)))


def _name_of(judge: tuple[Any, ...]) -> str:
    name, prompt, _, sources = judge
    parts = [str(name), *(source for source in sources if source not in {"None", name})]
    return ", ".join([*parts, *([f"prompt {str(prompt)[:12]}"] if prompt else [])])


def title(measure: Measure) -> str:
    """Return the title of a measure's table."""
    if measure.key != ABSTAINED:
        return measure.key
    if ADVERSARIAL not in measure.types:
        return f"{ABSTAINED}: false refusals (lower is better)"
    elsewhere = ", a false refusal elsewhere" if len(measure.types) > 1 else ""
    return f"{ABSTAINED}: right on {ADVERSARIAL}{elsewhere}"


def notes(runs: Sequence[Run], measures: Sequence[tuple[Measure, Shared]]) -> list[str]:
    """Return warnings: settings in which runs differ, unfinished runs, questions left out."""
    first, warnings = runs[0], []
    for run in runs[1:]:
        imported = any(side.manifest.get("kind") == "imported" for side in (first, run))
        config, other = first.manifest["config"], run.manifest["config"]
        settings = [key for key in {**config, **other} if config.get(key) != other.get(key)]
        # Unless both strategies use vectors, the embedder explains no difference.
        vectors = first.has_vectors and run.has_vectors
        unused = {"embedder"} if "embedder" in settings and not vectors else set()
        shown = [name for name in settings if name not in unused]
        if shown and not imported:
            warnings.append(f"{run.label} differs from {first.label} in: {', '.join(shown)}")
        parts = differing(first.manifest, run.manifest, unused)
        warnings += [f"{run.label} against {first.label}: {part}" for part in parts]
    for run in runs:
        if run.manifest.get("kind") == "imported":
            warnings.append(f"{run.label}: imported answers, of unknown settings")
        if run.manifest["status"] != "complete":
            warnings.append(f"{run.label}: the run is {run.manifest['status']}, not complete")
    for measure, shared in measures:
        if shared.left_out:
            why = "; ".join(
                f"{label}: " + ", ".join(f"{count} {reason}" for reason, count in counts.items())
                for label, counts in shared.why.items()
            )
            warnings.append(
                f"{measure.key}: {len(shared.left_out)} questions do not count, {len(shared.ids)} "
                f"do ({why}): {listed(shared.left_out)}"
            )
    sources = (row.get("judge_source") for run in runs for row in run.records.values())
    if any(measure.key == JUDGE for measure, _ in measures) and any(sources):
        warnings.append("judge: verdicts as reported; that one judge gave them all is unverified")
    few = [count for _, shared in measures if (count := len(set(shared.conversations))) < FEWEST]
    if any(few):
        warnings.append(f"few conversations: intervals are {scope(few)}")
    return warnings
